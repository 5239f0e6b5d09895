//! The histories on which we compare, and what is known of them by construction.

use std::fmt;
use std::io;
use std::str::FromStr;

use clap::ValueEnum;
use isonomy_history::Sink;
use isonomy_history::formats::Format;
use isonomy_workload::{Anomaly, HistorySpec, Preset, Shape, StoreLevel};

use crate::lightweight::{Fault, Lightweight};
use crate::verdict::Verdict;

/// A level that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// One that a simulated store can have.
    Store(StoreLevel),
    /// That of single operations.
    Linearizable,
}

impl Level {
    const READ_COMMITTED: Level = Level::Store(StoreLevel::ReadCommitted);
    const READ_ATOMIC: Level = Level::Store(StoreLevel::ReadAtomic);
    const CAUSAL: Level = Level::Store(StoreLevel::Causal);
    const SNAPSHOT: Level = Level::Store(StoreLevel::SnapshotIsolation);
    const SERIALIZABLE: Level = Level::Store(StoreLevel::Serializable);
    const STRICT: Level = Level::Store(StoreLevel::StrictSerializable);

    pub(crate) const ALL: [Level; 7] = [
        Level::READ_COMMITTED,
        Level::READ_ATOMIC,
        Level::CAUSAL,
        Level::SNAPSHOT,
        Level::SERIALIZABLE,
        Level::STRICT,
        Level::Linearizable,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Store(level) => level.name(),
            Level::Linearizable => "linearizable",
        }
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
        let level = match name {
            "linearizable" | "lin" => Some(Level::Linearizable),
            _ => name.parse().ok().map(Level::Store).filter(|level| Level::ALL.contains(level)),
        };
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
    /// How we and the peers do on compare-and-sets of one register, at linearizability.
    Lightweight,
    /// How we do on mini-transactions, beside ourselves with the shortcuts left out.
    Mini,
    /// How long histories of replicated data types take; ours alone.
    Crdt,
}

impl Study {
    /// Whether peers take part.
    pub(crate) fn has_peers(self) -> bool {
        matches!(self, Study::Comparison | Study::Lightweight)
    }
}

/// What the keys of a history hold. Most peers read only one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Plain values, read and written.
    Values,
    /// Lists, read and appended to.
    Lists,
    /// One register; transactions are single operations, with times.
    Register,
}

/// Ourselves in another way, to see what the usual one is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) options: &'static [&'static str],
    /// The most transactions for which time and memory suffice.
    most: u64,
}

/// For mini-transactions: the search, the general engine, and the latter without the inference by which their order of versions
/// is known, so that it needs a constraint for each two writers of a key.
const VARIANTS: [Variant; 3] = [
    Variant { name: "frontier", options: &["--engine", "frontier"], most: 1_000_000 },
    Variant { name: "no-guess", options: &["--no-guess"], most: 1_000_000 },
    Variant { name: "no-inference", options: &["--no-guess", "--no-rmw-inference"], most: 10_000 },
];

/// What a history is made from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Origin {
    /// A simulated store.
    Store(HistorySpec),
    /// A register.
    Register(Lightweight),
}

impl Origin {
    /// Makes the history; how many transactions and events it has.
    pub(crate) fn generate(&self, sink: &mut dyn Sink) -> io::Result<(u64, u64)> {
        match self {
            Origin::Store(spec) => {
                let summary = spec.generate(sink).map_err(io::Error::other)?;
                Ok((summary.records, summary.events))
            }
            Origin::Register(spec) => spec.generate(sink).map(|made| (made, made)),
        }
    }

    /// What it is of, for comparison with what was made before.
    pub(crate) fn identity(&self) -> String {
        match self {
            Origin::Store(spec) => format!("{spec:?}"),
            Origin::Register(spec) => format!("{spec:?}"),
        }
    }
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
    pub(crate) origin: Origin,
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
const STRICT: &[Level] = &[Level::STRICT];
const LINEARIZABLE: &[Level] = &[Level::Linearizable];

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
        sets.extend(lightweight());
        sets.extend(mini());
        sets
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Set> {
        Set::all().into_iter().find(|set| set.name == name)
    }

    /// What keys hold.
    pub(crate) fn kind(&self) -> Kind {
        match &self.origin {
            Origin::Store(spec) if spec.workload.shape.has_lists() => Kind::Lists,
            Origin::Store(_) => Kind::Values,
            Origin::Register(_) => Kind::Register,
        }
    }

    /// The format of its file for people, if it has one: the largest histories have not.
    pub(crate) fn text_format(&self) -> Option<Format> {
        match self.kind() {
            _ if self.study == Study::Mini => None,
            Kind::Values => Some(Format::Text),
            Kind::Lists | Kind::Register => Some(Format::Jsonl),
        }
    }

    /// In which other ways we check it ourselves.
    pub(crate) fn variants(&self) -> impl Iterator<Item = Variant> {
        let transactions = match &self.origin {
            Origin::Store(spec) if self.study == Study::Mini => spec.transactions,
            _ => u64::MAX,
        };
        VARIANTS.into_iter().filter(move |variant| transactions <= variant.most)
    }

    /// The anomaly that is planted in it.
    pub(crate) fn plant(&self) -> Option<Anomaly> {
        match &self.origin {
            Origin::Store(spec) => spec.plant,
            Origin::Register(_) => None,
        }
    }

    /// Whether another history is the same but for a planted anomaly.
    pub(crate) fn is_like(&self, other: &Set) -> bool {
        let (Origin::Store(spec), Origin::Store(others)) = (&self.origin, &other.origin) else { return false };
        self.order == other.order && *spec == HistorySpec { plant: spec.plant, ..others.clone() }
    }

    /// What the verdict must be, if that is known by construction.
    pub(crate) fn expected(&self, level: Level) -> Option<Verdict> {
        let strength = |level| StoreLevel::ALL.iter().position(|&l| l == level);
        match (&self.origin, level) {
            (Origin::Store(spec), Level::Store(level)) => {
                if spec.plant.is_some_and(|anomaly| anomaly.rules_out(level)) {
                    Some(Verdict::Violated)
                } else {
                    // The levels that are compared are a chain, and each store here gives its level and those before.
                    (strength(level) <= strength(spec.level)).then_some(Verdict::Holds)
                }
            }
            (Origin::Register(spec), Level::Linearizable) => {
                Some(if spec.fault.is_some() { Verdict::Violated } else { Verdict::Holds })
            }
            _ => None,
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
            origin: Origin::Store(spec),
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

/// As in MTC's Figure 9: how many ask at a time, how many transactions there are; and histories that are not linearizable.
fn lightweight() -> Vec<Set> {
    use Size::{Default, Full, Smoke};

    let mut sets = Vec::new();
    let mut add = |size, transactions, sessions, concurrent, fault| {
        let suffix = match fault {
            None => String::new(),
            Some(Fault::Missing { batch }) => format!("-missing-{batch}"),
            Some(Fault::Late { batch }) => format!("-late-{batch}"),
        };
        let family = format!("lwt-s{}-c{}{suffix}", thousands(sessions), thousands(concurrent));
        sets.push(Set {
            name: family.replacen("lwt", &format!("lwt-{}", thousands(transactions)), 1),
            about: "compare-and-sets of one register: sessions, how many ask at a time, and what is wrong in which batch",
            study: Study::Lightweight,
            size,
            origin: Origin::Register(Lightweight { sessions, concurrent, transactions, fault }),
            order: Order::Recorded,
            levels: LINEARIZABLE,
            family,
            point: None,
        });
    };
    for fault in [None, Some(Fault::Missing { batch: 1 }), Some(Fault::Late { batch: 0 })] {
        add(Smoke, 500, 200, 100, fault);
    }
    for concurrent in (2_000..=20_000).step_by(2_000) {
        let size = if [2_000, 10_000, 20_000].contains(&concurrent) { Default } else { Full };
        add(size, 20_000, concurrent, concurrent, None);
    }
    for (size, transactions) in [2_000, 10_000, 20_000].map(|n| (Default, n)).into_iter().chain([
        (Full, 100_000),
        (Full, 1_000_000),
        (Full, 10_000_000),
    ]) {
        add(size, transactions, 2_000, 1_000, None);
    }
    for batch in 0..5 {
        let size = if [0, 3].contains(&batch) { Default } else { Full };
        add(size, 40_000, 20_000, 8_000, Some(Fault::Missing { batch }));
        if batch < 4 {
            add(size, 40_000, 20_000, 8_000, Some(Fault::Late { batch }));
        }
    }
    sets
}

/// Mini-transactions session by session, so that their order is not given away; strict serializability needs times, which tell some.
fn mini() -> Vec<Set> {
    use Size::{Default, Full, Smoke};

    let mut sets = Vec::new();
    for (preset, about) in [
        (Preset::Mini, "mini-transactions of all shapes, 1,000 uniform keys"),
        (Preset::D, "mini-transactions, 1,000 zipfian keys"),
    ] {
        for (size, transactions) in [
            (Smoke, 500),
            (Default, 10_000),
            (Default, 50_000),
            (Default, 100_000),
            (Full, 1_000_000),
            (Full, 10_000_000),
        ] {
            for (suffix, level, levels) in [
                ("-si", StoreLevel::SnapshotIsolation, SNAPSHOT),
                ("-ser", StoreLevel::Serializable, SERIALIZABLE),
                ("-sser", StoreLevel::StrictSerializable, STRICT),
            ] {
                let spec = HistorySpec { level, ..sized(preset, transactions) };
                let set = Set::of(preset, suffix, size, about, spec).at(levels).by_session();
                // Workload d has such histories for the comparison, too.
                let name = if preset == Preset::D { format!("mini-{}", set.name) } else { set.name };
                sets.push(Set { name, study: Study::Mini, ..set });
            }
        }
    }
    sets
}

/// `10k`, `1M`.
pub(crate) fn thousands(number: u64) -> String {
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
        let sessions = |set: Set| match set.origin {
            Origin::Store(spec) => u64::from(spec.sessions),
            Origin::Register(spec) => spec.sessions,
        };
        assert_eq!(Set::named("a-100k-s100").map(sessions), Some(100));
        assert_eq!(Set::named("lwt-10k-s2k-c1k").map(sessions), Some(2_000));
        assert_eq!(Set::named("a-10k-ser-by-session").map(|set| set.order), Some(Order::BySession));
        assert_eq!(Set::named("list-append-6.5k").map(|set| set.kind()), Some(Kind::Lists));
        assert!(Set::named("a-3").is_none());
    }

    #[test]
    fn verdicts_are_known_where_construction_says_so() {
        let expected = |name| Level::ALL.map(|level| Set::named(name).unwrap().expected(level));
        let (holds, violated) = (Some(Verdict::Holds), Some(Verdict::Violated));
        assert_eq!(expected("a-10k"), [holds, holds, holds, holds, None, None, None]);
        assert_eq!(expected("a-10k-ser")[..5], [holds; 5]);
        assert_eq!(expected("a-500-causal")[..5], [holds, holds, holds, None, None]);
        assert_eq!(expected("a-500-ra")[..5], [holds, holds, None, None, None]);
        assert_eq!(expected("a-500-rc")[..5], [holds, None, None, None, None]);
        assert_eq!(expected("a-500-planted")[..5], [holds, holds, violated, violated, violated]);
        assert_eq!(expected("blindw-rw-2k-g-sib")[3], violated);
        assert_eq!(expected("a-1k-ser-write-skew")[3..5], [holds, violated]);
        assert_eq!(expected("mini-10k-sser-by-session"), [holds, holds, holds, holds, holds, holds, None]);
        assert_eq!(expected("lwt-20k-s2k-c2k"), [None, None, None, None, None, None, holds]);
        assert_eq!(expected("lwt-40k-s20k-c8k-late-3")[6], violated);
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
        assert_eq!("lin".parse(), Ok(Level::Linearizable));
        assert!("prefix".parse::<Level>().is_err());
    }

    #[test]
    fn we_are_beside_ourselves_where_that_is_feasible() {
        let variants = |name| Set::named(name).unwrap().variants().map(|variant| variant.name).collect::<Vec<_>>();
        assert_eq!(variants("mini-10k-si-by-session"), ["frontier", "no-guess", "no-inference"]);
        assert_eq!(variants("mini-d-1M-ser-by-session"), ["frontier", "no-guess"]);
        assert!(variants("mini-10M-sser-by-session").is_empty() && variants("d-10k-si").is_empty());
    }
}
