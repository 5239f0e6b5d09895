//! Anomalies to be planted, each as a small history on keys of its own.
//!
//! The transactions are put into sessions of the history, at a point where none is open; they touch keys that nothing else
//! touches, so they add no dependency between other transactions beyond session order. The history then fails at the levels
//! that the anomaly rules out, and at no other.
//!
//! Stale versions are written explicitly, because several tools do not treat the initial state as written before everything.
//!
//! | anomaly | history | ruled out from |
//! | --- | --- | --- |
//! | `thin-air-read` | `s1: [r(x,1)]` | read-committed |
//! | `aborted-read` | `s1: [w(x,1)]! / s2: [r(x,1)]` | read-committed |
//! | `intermediate-read` | `s1: [w(x,1) w(x,2)] / s2: [r(x,1)]` | read-committed |
//! | `future-read` | `s1: [r(x,1) w(x,1)]` | read-committed |
//! | `not-my-own-write` | `s1: [w(x,1)] / s2: [w(x,2) r(x,1)]` | read-committed |
//! | `not-my-last-write` | `s1: [w(x,1) w(x,2) r(x,1)]` | read-committed |
//! | `cyclic-information-flow` | `s1: [w(x,1) r(y,1)] / s2: [w(y,1) r(x,1)]` | read-committed |
//! | `non-monotonic-read` | `s1: [w(x,1)] [w(x,2) w(y,1)] / s2: [r(y,1) r(x,1)]` | read-committed |
//! | `non-repeatable-read` | `s1: [w(x,1)] [w(x,2)] / s2: [r(x,1) r(x,2)]` | read-atomic |
//! | `fractured-read` | `s1: [w(x,1) w(y,1)] [w(x,2) w(y,2)] / s2: [r(x,1) r(y,2)]` | read-atomic |
//! | `session-guarantee-violation` | `s1: [w(x,1)] / s2: [r(x,1) w(x,2)] [r(x,1)]` | read-atomic |
//! | `causality-violation` | `s1: [w(x,1)] / s2: [r(x,1) w(x,2)] / s3: [r(x,2) w(y,1)] / s4: [r(y,1) r(x,1)]` | causal |
//! | `long-fork` | `s1: [w(x,1) w(y,1)] / s2: [r(x,1) w(x,2)] / s3: [r(y,1) w(y,2)] / s4: [r(x,2) r(y,1)] / s5: [r(x,1) r(y,2)]` | prefix |
//! | `lost-update` | `s1: [w(x,1)] / s2: [r(x,1) w(x,2)] / s3: [r(x,1) w(x,3)]` | snapshot-isolation |
//! | `g-sib` | `s1: [w(x,1) w(y,1)] / s2: [r(x,1) w(y,2) w(z,1)] / s3: [r(y,1) w(x,2) w(z,2)]` | snapshot-isolation |
//! | `write-skew` | `s1: [w(x,1) w(y,1)] / s2: [r(x,1) r(y,1) w(x,2)] / s3: [r(x,1) r(y,1) w(y,2)]` | serializable |
//!
//! `session-guarantee-violation` needs session order, or the real time of its transactions, which run one after the other.
//! In `g-sib` whichever of the two writes `z` last missed a write of the other: a cycle with one anti-dependency, as Adya's
//! G-SIb, that is no lost update.

use std::fmt;
use std::str::FromStr;

use isonomy_history::{Datum, Name, NamedEvent, Outcome};

use crate::simulate::StoreLevel;

macro_rules! anomalies {
    ($($(#[$doc:meta])* $variant:ident $name:literal $weakest:ident $waves:ident,)*) => {
        /// An anomaly that can be planted into a history. The module's table in the source has the history of each.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Anomaly {
            $($(#[$doc])* $variant,)*
        }

        impl Anomaly {
            /// All of them.
            pub const ALL: &'static [Anomaly] = &[$(Anomaly::$variant),*];

            /// Its name in commands and files.
            pub fn name(self) -> &'static str {
                match self { $(Anomaly::$variant => $name),* }
            }

            /// The weakest level that rules it out.
            pub fn weakest(self) -> StoreLevel {
                match self { $(Anomaly::$variant => StoreLevel::$weakest),* }
            }

            pub(crate) fn template(self) -> Template {
                Template(match self { $(Anomaly::$variant => $waves),* })
            }
        }
    };
}

anomalies! {
    /// A read of a value that nobody wrote.
    ThinAirRead "thin-air-read" ReadCommitted THIN_AIR_READ,
    /// A read of a value whose writer aborted (Adya's G1a).
    AbortedRead "aborted-read" ReadCommitted ABORTED_READ,
    /// A read of a value that its writer overwrote (Adya's G1b).
    IntermediateRead "intermediate-read" ReadCommitted INTERMEDIATE_READ,
    /// A read of a value that the reader writes later.
    FutureRead "future-read" ReadCommitted FUTURE_READ,
    /// A read of another's value, after an own write of the key.
    NotMyOwnWrite "not-my-own-write" ReadCommitted NOT_MY_OWN_WRITE,
    /// A read of an own value that was overwritten before.
    NotMyLastWrite "not-my-last-write" ReadCommitted NOT_MY_LAST_WRITE,
    /// Two transactions that read from each other (Adya's G1c).
    CyclicInformationFlow "cyclic-information-flow" ReadCommitted CYCLIC_INFORMATION_FLOW,
    /// A read from a transaction, then of what it had overwritten.
    NonMonotonicRead "non-monotonic-read" ReadCommitted NON_MONOTONIC_READ,
    /// Two reads of a key that differ.
    NonRepeatableRead "non-repeatable-read" ReadAtomic NON_REPEATABLE_READ,
    /// A transaction that is seen in part.
    FracturedRead "fractured-read" ReadAtomic FRACTURED_READ,
    /// A session that does not see what it wrote.
    SessionGuaranteeViolation "session-guarantee-violation" ReadAtomic SESSION_GUARANTEE_VIOLATION,
    /// An effect that is seen without its cause.
    CausalityViolation "causality-violation" Causal CAUSALITY_VIOLATION,
    /// Two writes that are seen in different orders.
    LongFork "long-fork" Prefix LONG_FORK,
    /// Two transactions that overwrite the same version.
    LostUpdate "lost-update" SnapshotIsolation LOST_UPDATE,
    /// A write conflict between transactions that miss each other's effects, without a lost update.
    GSib "g-sib" SnapshotIsolation G_SIB,
    /// Two transactions that each overwrite what the other read.
    WriteSkew "write-skew" Serializable WRITE_SKEW,
}

impl Anomaly {
    /// Whether a history with it fails at a level.
    pub fn rules_out(self, level: StoreLevel) -> bool {
        let strength = |level| StoreLevel::ALL.iter().position(|&l| l == level);
        // The levels are a chain but for `strong-si`, which allows what only `serializable` rules out.
        strength(self.weakest()) <= strength(level)
    }

    /// Its history, as in the table: `s1: [w(x,1)] / s2: [r(x,1)]`.
    pub fn notation(self) -> String {
        let template = self.template();
        let mut sessions = vec![String::new(); template.sessions()];
        for planted in template.waves().iter().copied().flatten() {
            let event = |e: &PlantedEvent| {
                let (kind, key) = (if e.is_write { 'w' } else { 'r' }, ["x", "y", "z"][e.key]);
                format!("{kind}({key},{})", e.value)
            };
            let events: Vec<String> = planted.events.iter().map(event).collect();
            let end = if planted.outcome == Outcome::Aborted { "!" } else { "" };
            sessions[planted.session] += &format!(" [{}]{end}", events.join(" "));
        }
        let lines: Vec<String> = sessions.iter().enumerate().map(|(i, line)| format!("s{}:{line}", i + 1)).collect();
        lines.join(" / ")
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Anomaly {
    type Err = UnknownAnomaly;

    fn from_str(name: &str) -> Result<Self, UnknownAnomaly> {
        Anomaly::ALL.iter().copied().find(|a| a.name() == name).ok_or_else(|| UnknownAnomaly(name.into()))
    }
}

/// There is no anomaly of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown anomaly `{0}`; known are {known}", known = known())]
pub struct UnknownAnomaly(pub Box<str>);

fn known() -> String {
    Anomaly::ALL.iter().map(|a| a.name()).collect::<Vec<_>>().join(", ")
}

/// The history of an anomaly, as waves of transactions: those of a wave overlap, and waves follow each other. The order of
/// the transactions is a commit order that shows that the levels which the anomaly does not rule out hold.
pub(crate) struct Template(&'static [Wave]);

type Wave = &'static [PlantedTransaction];

pub(crate) struct PlantedTransaction {
    pub(crate) session: usize,
    pub(crate) outcome: Outcome,
    pub(crate) events: &'static [PlantedEvent],
}

pub(crate) struct PlantedEvent {
    is_write: bool,
    key: usize,
    value: i64,
}

impl Template {
    /// More keys than any template has.
    pub(crate) const KEYS: usize = 3;
    /// More values of a key than any template has.
    pub(crate) const VALUES: i64 = 3;

    pub(crate) fn waves(&self) -> &'static [Wave] {
        self.0
    }

    pub(crate) fn sessions(&self) -> usize {
        self.0.iter().copied().flatten().map(|planted| planted.session + 1).max().unwrap_or(0)
    }
}

impl PlantedEvent {
    /// The event on these keys, with values from `first_value`.
    pub(crate) fn named(&self, keys: &[u64; Template::KEYS], first_value: i64) -> NamedEvent<'static> {
        let key = Name::Int(keys[self.key] as i64);
        let value = Datum::Int(first_value + self.key as i64 * Template::VALUES + self.value - 1);
        if self.is_write { NamedEvent::Write(key, value) } else { NamedEvent::Read(key, value) }
    }
}

const X: usize = 0;
const Y: usize = 1;
const Z: usize = 2;

const fn r(key: usize, value: i64) -> PlantedEvent {
    PlantedEvent { is_write: false, key, value }
}

const fn w(key: usize, value: i64) -> PlantedEvent {
    PlantedEvent { is_write: true, key, value }
}

const fn t(session: usize, events: &'static [PlantedEvent]) -> PlantedTransaction {
    PlantedTransaction { session: session - 1, outcome: Outcome::Committed, events }
}

const fn aborted(session: usize, events: &'static [PlantedEvent]) -> PlantedTransaction {
    PlantedTransaction { session: session - 1, outcome: Outcome::Aborted, events }
}

const THIN_AIR_READ: &[Wave] = &[&[t(1, &[r(X, 1)])]];
const ABORTED_READ: &[Wave] = &[&[aborted(1, &[w(X, 1)]), t(2, &[r(X, 1)])]];
const INTERMEDIATE_READ: &[Wave] = &[&[t(1, &[w(X, 1), w(X, 2)]), t(2, &[r(X, 1)])]];
const FUTURE_READ: &[Wave] = &[&[t(1, &[r(X, 1), w(X, 1)])]];
const NOT_MY_OWN_WRITE: &[Wave] = &[&[t(1, &[w(X, 1)])], &[t(2, &[w(X, 2), r(X, 1)])]];
const NOT_MY_LAST_WRITE: &[Wave] = &[&[t(1, &[w(X, 1), w(X, 2), r(X, 1)])]];
const CYCLIC_INFORMATION_FLOW: &[Wave] = &[&[t(1, &[w(X, 1), r(Y, 1)]), t(2, &[w(Y, 1), r(X, 1)])]];
const NON_MONOTONIC_READ: &[Wave] = &[&[t(1, &[w(X, 1)])], &[t(1, &[w(X, 2), w(Y, 1)]), t(2, &[r(Y, 1), r(X, 1)])]];
const NON_REPEATABLE_READ: &[Wave] = &[&[t(1, &[w(X, 1)])], &[t(1, &[w(X, 2)]), t(2, &[r(X, 1), r(X, 2)])]];
const FRACTURED_READ: &[Wave] =
    &[&[t(1, &[w(X, 1), w(Y, 1)])], &[t(1, &[w(X, 2), w(Y, 2)]), t(2, &[r(X, 1), r(Y, 2)])]];
const SESSION_GUARANTEE_VIOLATION: &[Wave] = &[&[t(1, &[w(X, 1)])], &[t(2, &[r(X, 1), w(X, 2)])], &[t(2, &[r(X, 1)])]];
const CAUSALITY_VIOLATION: &[Wave] =
    &[&[t(1, &[w(X, 1)])], &[t(2, &[r(X, 1), w(X, 2)])], &[t(3, &[r(X, 2), w(Y, 1)])], &[t(4, &[r(Y, 1), r(X, 1)])]];
const LONG_FORK: &[Wave] = &[
    &[t(1, &[w(X, 1), w(Y, 1)])],
    &[t(2, &[r(X, 1), w(X, 2)]), t(3, &[r(Y, 1), w(Y, 2)])],
    &[t(4, &[r(X, 2), r(Y, 1)]), t(5, &[r(X, 1), r(Y, 2)])],
];
const LOST_UPDATE: &[Wave] = &[&[t(1, &[w(X, 1)])], &[t(2, &[r(X, 1), w(X, 2)]), t(3, &[r(X, 1), w(X, 3)])]];
const G_SIB: &[Wave] =
    &[&[t(1, &[w(X, 1), w(Y, 1)])], &[t(2, &[r(X, 1), w(Y, 2), w(Z, 1)]), t(3, &[r(Y, 1), w(X, 2), w(Z, 2)])]];
const WRITE_SKEW: &[Wave] =
    &[&[t(1, &[w(X, 1), w(Y, 1)])], &[t(2, &[r(X, 1), r(Y, 1), w(X, 2)]), t(3, &[r(X, 1), r(Y, 1), w(Y, 2)])]];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_right() {
        let table = include_str!("plant.rs");
        for anomaly in Anomaly::ALL {
            assert_eq!(anomaly.name().parse(), Ok(*anomaly));
            let row = format!("//! | `{anomaly}` | `{}` | {} |", anomaly.notation(), anomaly.weakest());
            assert!(table.contains(&row), "the table lacks\n{row}");
            for planted in anomaly.template().waves().iter().copied().flatten() {
                assert!(planted.events.iter().all(|e| (1..=Template::VALUES).contains(&e.value)));
            }
        }
    }

    #[test]
    fn overlapping_transactions_are_in_different_sessions() {
        for anomaly in Anomaly::ALL {
            for wave in anomaly.template().waves() {
                let mut sessions: Vec<usize> = wave.iter().map(|planted| planted.session).collect();
                sessions.dedup();
                assert_eq!(sessions.len(), wave.len(), "{anomaly}");
            }
        }
    }

    #[test]
    fn write_skew_alone_is_possible_at_strong_si() {
        let possible = |level| Anomaly::ALL.iter().copied().filter(move |a| !a.rules_out(level)).collect::<Vec<_>>();
        assert_eq!(possible(StoreLevel::StrongSi), [Anomaly::WriteSkew]);
        assert_eq!(possible(StoreLevel::StrictSerializable), []);
        assert_eq!(possible(StoreLevel::ReadCommitted).len(), 8);
    }
}
