//! The kinds of arrows: how each is called, explained and drawn. One table; SVG, DOT and the legend read it.

use isonomy_checker::Why;
use isonomy_crdt::ArrowKind;

/// What an arrow stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Initial,
    Session,
    WriteRead,
    Version,
    Assumed,
    Overwritten,
    AntiDependency,
    RealTime,
    Saw,
    Missed,
    Later,
}

/// How a kind looks. No two differ by colour alone.
pub(crate) struct Look {
    /// Before the keys in a label.
    pub(crate) word: &'static str,
    pub(crate) meaning: &'static str,
    /// On white.
    pub(crate) light: &'static str,
    /// On black.
    pub(crate) dark: &'static str,
    /// Lengths of strokes and gaps.
    pub(crate) dashes: &'static str,
    /// What Graphviz has for it.
    pub(crate) dot_style: &'static str,
}

impl Kind {
    pub(crate) const ALL: [Kind; 11] = [
        Kind::Initial,
        Kind::Session,
        Kind::WriteRead,
        Kind::Version,
        Kind::Assumed,
        Kind::Overwritten,
        Kind::AntiDependency,
        Kind::RealTime,
        Kind::Saw,
        Kind::Missed,
        Kind::Later,
    ];

    pub(crate) fn of(why: &Why) -> Self {
        match why {
            Why::Initial => Kind::Initial,
            Why::Session => Kind::Session,
            Why::WriteRead(_) => Kind::WriteRead,
            Why::Version(_) => Kind::Version,
            Why::Assumed(_) => Kind::Assumed,
            Why::Overwritten { .. } => Kind::Overwritten,
            Why::AntiDependency { .. } => Kind::AntiDependency,
            Why::RealTime { .. } => Kind::RealTime,
        }
    }

    /// The kind between operations of replicas.
    pub(crate) fn between(arrow: ArrowKind) -> Self {
        match arrow {
            ArrowKind::Saw => Kind::Saw,
            ArrowKind::Missed => Kind::Missed,
            ArrowKind::Later => Kind::Later,
        }
    }

    /// Its name in style sheets, which is that of [`Why::kind`] and [`ArrowKind::name`].
    pub(crate) fn class(self) -> &'static str {
        match self {
            Kind::Initial => "initial",
            Kind::Session => "so",
            Kind::WriteRead => "wr",
            Kind::Version => "ww",
            Kind::Assumed => "assumed",
            Kind::Overwritten => "co",
            Kind::AntiDependency => "rw",
            Kind::RealTime => "rt",
            Kind::Saw => ArrowKind::Saw.name(),
            Kind::Missed => ArrowKind::Missed.name(),
            Kind::Later => ArrowKind::Later.name(),
        }
    }

    /// Whether the later end of the arrow is drawn further to the right where nothing else speaks against it. The others hold between
    /// transactions that often ran side by side.
    pub(crate) fn points_right(self) -> bool {
        matches!(self, Kind::Initial | Kind::Session | Kind::WriteRead | Kind::Version | Kind::RealTime | Kind::Saw)
    }

    /// Whether it ends in a bar instead of a head: what it comes from did not arrive.
    pub(crate) fn is_stopped(self) -> bool {
        self == Kind::Missed
    }

    pub(crate) fn look(self) -> Look {
        let look = |word, meaning, [light, dark]: [&'static str; 2], dashes, dot_style| Look {
            word,
            meaning,
            light,
            dark,
            dashes,
            dot_style,
        };
        match self {
            Kind::Initial => {
                look("first", "the initial state comes before everything", ["#57606a", "#a3adb8"], "1 6", "dotted")
            }
            Kind::Session => {
                look("so", "session order: earlier in the same session", ["#57606a", "#a3adb8"], "2 4", "dotted")
            }
            Kind::WriteRead => {
                look("wr", "write-read: the second read what the first wrote", ["#0b5cad", "#79b8ff"], "", "solid")
            }
            Kind::Version => look(
                "ww",
                "version order: lists show the first one's element earlier",
                ["#1a7f37", "#63d47c"],
                "9 3",
                "dashed",
            ),
            Kind::Assumed => look(
                "assume ww",
                "the case supposes that the first wrote the earlier version",
                ["#0f766e", "#4fd1c5"],
                "3 3",
                "dashed",
            ),
            Kind::Overwritten => look(
                "overwritten",
                "its version must be the earlier one: a reader saw it, and read the other",
                ["#a8206f", "#ff8ccb"],
                "9 3 2 3",
                "dashed",
            ),
            Kind::AntiDependency => look(
                "rw",
                "anti-dependency: the first missed what the second wrote",
                ["#b93a0a", "#ffa270"],
                "6 4",
                "dashed",
            ),
            Kind::RealTime => {
                look("rt", "real time: earlier by the clock", ["#6d28d9", "#c4a5ff"], "14 4 2 4", "dashed")
            }
            Kind::Saw => look("saw", "the second operation saw the first", ["#0b5cad", "#79b8ff"], "", "solid"),
            Kind::Missed => {
                look("missed", "the second operation did not see the first", ["#b93a0a", "#ffa270"], "6 4", "dashed")
            }
            Kind::Later => {
                look("later", "the second operation has the higher timestamp", ["#6d28d9", "#c4a5ff"], "2 3", "dotted")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use isonomy_checker::End;
    use isonomy_history::{Key, TxnId};

    use super::*;

    /// The others are between operations of replicas, in drawings of their own.
    const DEPENDENCIES: usize = 8;

    #[test]
    fn kinds_are_called_as_in_json() {
        let key = Key(0);
        let all = [
            Why::Initial,
            Why::Session,
            Why::WriteRead(key),
            Why::Version(key),
            Why::Assumed(key),
            Why::Overwritten { key, reader: TxnId(0), seen: Vec::new() },
            Why::AntiDependency { key, over: None },
            Why::RealTime { from: End::Commit, to: End::Begin },
        ];
        assert_eq!(all.each_ref().map(Kind::of), Kind::ALL[..DEPENDENCIES]);
        assert!(all.iter().all(|why| Kind::of(why).class() == why.kind()));
    }

    #[test]
    fn no_two_kinds_look_alike() {
        let (dependencies, between) = Kind::ALL.split_at(DEPENDENCIES);
        for kinds in [dependencies, between] {
            for (index, kind) in kinds.iter().enumerate() {
                assert!(kinds[..index].iter().all(|other| other.look().dashes != kind.look().dashes), "{kind:?}");
            }
        }
    }
}
