//! The histories on which we compare, and what is known of them by construction.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use isonomy_workload::{Anomaly, HistorySpec, Preset, Shape, StoreLevel};

use crate::verdict::Verdict;

/// A level that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(StoreLevel);

impl Level {
    const READ_COMMITTED: Level = Level(StoreLevel::ReadCommitted);
    const READ_ATOMIC: Level = Level(StoreLevel::ReadAtomic);
    const CAUSAL: Level = Level(StoreLevel::Causal);
    const SNAPSHOT: Level = Level(StoreLevel::SnapshotIsolation);
    const SERIALIZABLE: Level = Level(StoreLevel::Serializable);

    pub(crate) const ALL: [Level; 5] =
        [Level::READ_COMMITTED, Level::READ_ATOMIC, Level::CAUSAL, Level::SNAPSHOT, Level::SERIALIZABLE];

    pub(crate) fn name(self) -> &'static str {
        self.0.name()
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let level = name.parse().ok().map(Level).filter(|level| Level::ALL.contains(level));
        level.ok_or_else(|| format!("unknown level `{name}`; compared are {}", Level::ALL.map(Level::name).join(", ")))
    }
}

/// What is to be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Study {
    /// How we and the peers do on the same histories.
    Comparison,
    /// How much longer it takes to find a planted violation than to accept the history without it; ours alone.
    Rejection,
    /// How time grows with contention at snapshot isolation: keys, reads, sessions; ours alone.
    Contention,
}

/// When a history is part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// With `--smoke` only.
    Smoke,
    /// Unless `--smoke` is given.
    Default,
    /// With `--full` only.
    Full,
}

/// How the transactions of a history follow each other in its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// As the store took them, which tells a checker a lot.
    Recorded,
    /// One session after the other, so that only the order within each is known: what one log for each client gives.
    BySession,
}

/// A history with a name.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) about: &'static str,
    pub(crate) study: Study,
    pub(crate) size: Size,
    pub(crate) spec: HistorySpec,
    pub(crate) order: Order,
    /// At which levels it is of interest.
    pub(crate) levels: &'static [Level],
    /// What all histories have in common that differ in their number of transactions, and in their order, which most peers do
    /// not look at. Whoever does not manage one of them is not asked to check larger ones.
    pub(crate) family: String,
    /// Where it stands on a curve: the parameter, and its value.
    pub(crate) point: Option<(&'static str, String)>,
}

const WEAK: &[Level] = &[Level::READ_COMMITTED, Level::READ_ATOMIC, Level::CAUSAL];
const SNAPSHOT: &[Level] = &[Level::SNAPSHOT];
const SERIALIZABLE: &[Level] = &[Level::SERIALIZABLE];

/// The workloads of the comparison.
const WORKLOADS: [(Preset, &str); 4] = [
    (Preset::A, "15 events, half reads, 10,000 zipfian keys"),
    (Preset::B, "as a, 95 % reads"),
    (Preset::C, "as a, 100 uniform keys"),
    (Preset::D, "mini-transactions, 1,000 zipfian keys"),
];

impl Set {
    /// All of them.
    pub(crate) fn all() -> Vec<Set> {
        let mut sets = weak();
        sets.extend(strong());
        sets.extend(planted());
        sets.extend(contention());
        sets
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Set> {
        Set::all().into_iter().find(|set| set.name == name)
    }

    /// Whether keys hold lists.
    pub(crate) fn has_lists(&self) -> bool {
        self.spec.workload.shape.has_lists()
    }

    /// Whether another history is the same but for a planted anomaly.
    pub(crate) fn is_like(&self, other: &Set) -> bool {
        let plant = self.spec.plant;
        self.order == other.order && self.spec == HistorySpec { plant, ..other.spec.clone() }
    }

    /// What the verdict must be, if that is known by construction.
    pub(crate) fn expected(&self, level: Level) -> Option<Verdict> {
        let strength = |level| StoreLevel::ALL.iter().position(|&l| l == level);
        if self.spec.plant.is_some_and(|anomaly| anomaly.rules_out(level.0)) {
            Some(Verdict::Violated)
        } else if strength(level.0) <= strength(self.spec.level) {
            // The levels that are compared are a chain, and each store here gives its level and those before.
            Some(Verdict::Holds)
        } else {
            None
        }
    }

    /// `a-10k` for a history of this many transactions, to which callers add what is special.
    fn of(preset: Preset, suffix: &str, size: Size, about: &'static str, spec: HistorySpec) -> Set {
        Set {
            name: format!("{preset}-{}{suffix}", thousands(spec.transactions)),
            about,
            study: Study::Comparison,
            size,
            family: format!("{preset}{suffix}"),
            spec,
            order: Order::Recorded,
            levels: WEAK,
            point: None,
        }
    }

    fn at(self, levels: &'static [Level]) -> Set {
        Set { levels, ..self }
    }

    /// The same history, session by session.
    fn by_session(self) -> Set {
        Set { name: format!("{}-by-session", self.name), order: Order::BySession, ..self }
    }
}

fn sized(preset: Preset, transactions: u64) -> HistorySpec {
    HistorySpec { transactions, ..preset.spec() }
}

/// For the levels up to causal consistency.
fn weak() -> Vec<Set> {
    use Preset as P;
    use Size::{Default, Full, Smoke};
    use StoreLevel as L;

    let mut sets = Vec::new();
    let mut add = |size, suffix: &str, about, spec: HistorySpec, preset: Preset| {
        sets.push(Set::of(preset, suffix, size, about, spec));
    };

    for (preset, about) in WORKLOADS {
        add(Smoke, "", about, sized(preset, 500), preset);
        add(Default, "", about, sized(preset, 10_000), preset);
        add(Default, "", about, sized(preset, 100_000), preset);
        add(Full, "", about, sized(preset, 1_000_000), preset);
    }

    // With 10k, 100k and 1M of above, how time and memory grow.
    for (size, transactions) in [(Default, 20_000), (Default, 50_000), (Full, 200_000), (Full, 500_000)] {
        add(size, "", "growth", sized(P::A, transactions), P::A);
    }

    for (size, transactions, sessions, suffix) in [
        (Default, 10_000, 100, "-s100"),
        (Default, 100_000, 100, "-s100"),
        (Default, 10_000, 1_000, "-s1000"),
        (Full, 100_000, 1_000, "-s1000"),
    ] {
        let spec = HistorySpec { sessions, ..sized(P::A, transactions) };
        add(size, suffix, "more sessions", spec, P::A);
    }

    add(Default, "", "C4's default: 20 events, 25 sessions, keys read and written repeatedly", P::C4.spec(), P::C4);

    // Weaker stores, so that some histories violate some levels; and a violation like a needle in a haystack.
    for (suffix, level) in [("-causal", L::Causal), ("-ra", L::ReadAtomic), ("-rc", L::ReadCommitted)] {
        let about = match level {
            L::Causal => "causal store",
            L::ReadAtomic => "read-atomic store, violates causal",
            _ => "read-committed store, violates read-atomic and causal",
        };
        for (size, transactions) in [(Smoke, 500), (Default, 100_000)] {
            add(size, suffix, about, HistorySpec { level, ..sized(P::A, transactions) }, P::A);
        }
    }
    for (size, transactions) in [(Smoke, 500), (Default, 100_000)] {
        let spec = HistorySpec { plant: Some(Anomaly::CausalityViolation), ..sized(P::A, transactions) };
        add(size, "-planted", "one causality violation in a history of snapshot isolation", spec, P::A);
    }
    sets
}

/// For snapshot isolation and serializability. Peers need minutes for these, so little of it is there by default.
fn strong() -> Vec<Set> {
    use Preset as P;
    use Size::{Default, Full, Smoke};

    let mut sets = Vec::new();
    for (preset, about) in WORKLOADS {
        for (size, transactions) in [(Smoke, 500), (Default, 1_000), (Full, 10_000), (Full, 100_000), (Full, 1_000_000)]
        {
            if transactions == 1_000_000 && preset != P::A {
                continue;
            }
            for (suffix, level, levels) in
                [("-si", StoreLevel::SnapshotIsolation, SNAPSHOT), ("-ser", StoreLevel::Serializable, SERIALIZABLE)]
            {
                let spec = HistorySpec { level, ..sized(preset, transactions) };
                let set = Set::of(preset, suffix, size, about, spec).at(levels);
                sets.push(set.clone());
                sets.push(set.by_session());
            }
        }
    }

    for (size, transactions) in [(Smoke, 500), (Default, 2_000), (Full, 5_000), (Full, 10_000)] {
        for plant in [None, Some(Anomaly::GSib)] {
            let (suffix, about) = match plant {
                None => ("", "Viper's BlindW-RW: transactions that only read or only write, 2,000 keys"),
                Some(_) => ("-g-sib", "the same with one G-SIb"),
            };
            let spec = HistorySpec { plant, ..sized(P::BlindRw, transactions) };
            let set = Set::of(P::BlindRw, suffix, size, about, spec).at(SNAPSHOT);
            sets.push(set.clone());
            sets.push(set.by_session());
        }
    }
    for preset in [P::GeneralRh, P::GeneralRw, P::GeneralWh] {
        let about = "PolySI's general workloads: 8 events, 25 sessions, keys read and written repeatedly";
        let set = Set::of(preset, "", Full, about, preset.spec()).at(SNAPSHOT);
        sets.push(set.clone());
        sets.push(set.by_session());
    }
    for (size, transactions) in [(Smoke, 500), (Default, 6_500), (Full, 65_000)] {
        let about = "Elle's list-append: 1 to 4 events, ten lists at a time";
        let set = Set::of(P::ListAppend, "", size, about, sized(P::ListAppend, transactions)).at(SNAPSHOT);
        sets.push(set.clone());
        sets.push(set.by_session());
    }
    sets
}

/// Violations like needles in haystacks, and the haystacks.
fn planted() -> Vec<Set> {
    let mut sets = Vec::new();
    for (size, transactions) in
        [(Size::Smoke, 500), (Size::Default, 1_000), (Size::Default, 10_000), (Size::Full, 100_000)]
    {
        for (levels, level, anomalies) in [
            (
                SNAPSHOT,
                StoreLevel::SnapshotIsolation,
                &[Anomaly::LostUpdate, Anomaly::LongFork, Anomaly::GSib] as &[Anomaly],
            ),
            (SERIALIZABLE, StoreLevel::Serializable, &[Anomaly::WriteSkew]),
        ] {
            for plant in [None].into_iter().chain(anomalies.iter().copied().map(Some)) {
                let what = plant.map_or("plain", Anomaly::name);
                let spec = HistorySpec { plant, level, ..sized(Preset::A, transactions) };
                let suffix = format!("-{}-{what}", if level == StoreLevel::Serializable { "ser" } else { "si" });
                let about = "workload a with one violation, or without";
                let set = Set::of(Preset::A, &suffix, size, about, spec).at(levels);
                let set = Set { study: Study::Rejection, ..set };
                sets.push(set.clone());
                sets.push(set.by_session());
            }
        }
    }
    sets
}

/// Workload a, of which one parameter at a time changes.
fn contention() -> Vec<Set> {
    let mut sets = Vec::new();
    let mut add = |size, transactions, parameter, value: String, change: &dyn Fn(&mut HistorySpec)| {
        let mut spec = sized(Preset::A, transactions);
        change(&mut spec);
        let suffix = format!("-{parameter}-{value}");
        let set = Set::of(Preset::A, &suffix, size, "workload a with another number of keys, reads or sessions", spec);
        let set = set.at(SNAPSHOT).by_session();
        sets.push(Set { study: Study::Contention, point: Some((parameter, value)), ..set });
    };
    for (size, transactions) in [(Size::Smoke, 500), (Size::Default, 20_000)] {
        for keys in [100, 1_000, 10_000, 100_000, 1_000_000] {
            add(size, transactions, "keys", keys.to_string(), &|spec| spec.workload.keys = keys);
        }
        for percent in [0, 10, 25, 50, 75, 90, 100_u8] {
            let share = f64::from(percent) / 100.0;
            add(size, transactions, "reads", format!("{percent}%"), &|spec| {
                let Shape::General { read_share, .. } = &mut spec.workload.shape else {
                    unreachable!("workload a has reads and writes at random")
                };
                *read_share = share;
            });
        }
        for sessions in [2, 5, 10, 20, 50, 100, 200, 500, 1_000] {
            add(size, transactions, "sessions", sessions.to_string(), &|spec| spec.sessions = sessions);
        }
    }
    sets
}

/// `10k`, `1M`.
fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..1_000_000 if !number.is_multiple_of(1_000) => format!("{:.1}k", number as f64 / 1_000.0),
        1_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        let sets = Set::all();
        let names: BTreeSet<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names.len(), sets.len());
        assert_eq!(Set::named("a-100k-s100").map(|set| set.spec.sessions), Some(100));
        assert_eq!(Set::named("a-10k-ser-by-session").map(|set| set.order), Some(Order::BySession));
        assert!(Set::named("list-append-6.5k").is_some_and(|set| set.has_lists()));
        assert!(Set::named("a-3").is_none());
    }

    #[test]
    fn verdicts_are_known_where_construction_says_so() {
        let expected = |name| Level::ALL.map(|level| Set::named(name).unwrap().expected(level));
        let (holds, violated) = (Some(Verdict::Holds), Some(Verdict::Violated));
        assert_eq!(expected("a-10k"), [holds, holds, holds, holds, None]);
        assert_eq!(expected("a-10k-ser"), [holds; 5]);
        assert_eq!(expected("a-500-causal"), [holds, holds, holds, None, None]);
        assert_eq!(expected("a-500-ra"), [holds, holds, None, None, None]);
        assert_eq!(expected("a-500-rc"), [holds, None, None, None, None]);
        assert_eq!(expected("a-500-planted"), [holds, holds, violated, violated, violated]);
        assert_eq!(expected("blindw-rw-2k-g-sib")[3], violated);
        assert_eq!(expected("a-1k-ser-write-skew")[3..], [holds, violated]);
    }

    #[test]
    fn every_verdict_that_is_asked_for_is_known_at_strong_levels() {
        for set in Set::all() {
            for &level in set.levels.iter().filter(|level| !WEAK.contains(level)) {
                assert!(set.expected(level).is_some(), "{} at {level}", set.name);
            }
        }
    }

    #[test]
    fn levels_have_short_names() {
        assert_eq!("si".parse(), Ok(Level::SNAPSHOT));
        assert_eq!("serializable".parse(), Ok(Level::SERIALIZABLE));
        assert!("strict-serializable".parse::<Level>().is_err());
    }
}
