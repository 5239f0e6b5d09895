//! The histories on which we compare, and what is known of them by construction.

use std::fmt;
use std::str::FromStr;

use isonomy_workload::{Anomaly, HistorySpec, Preset, StoreLevel};

use crate::verdict::Verdict;

/// A level that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(StoreLevel);

impl Level {
    pub(crate) const ALL: [Level; 3] =
        [Level(StoreLevel::ReadCommitted), Level(StoreLevel::ReadAtomic), Level(StoreLevel::Causal)];

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
        Level::ALL
            .into_iter()
            .find(|level| level.name() == name)
            .ok_or_else(|| format!("unknown level `{name}`; compared are {}", Level::ALL.map(Level::name).join(", ")))
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

/// A history with a name.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) about: &'static str,
    pub(crate) size: Size,
    pub(crate) spec: HistorySpec,
}

impl Set {
    /// All of them.
    pub(crate) fn all() -> Vec<Set> {
        use Preset as P;
        use Size::{Default, Full, Smoke};
        use StoreLevel as L;

        let mut sets = Vec::new();
        let mut add = |size, suffix: &str, about, spec: HistorySpec, preset: Preset| {
            let name = format!("{preset}-{}{suffix}", thousands(spec.transactions));
            sets.push(Set { name, about, size, spec });
        };
        let sized = |preset: Preset, transactions| HistorySpec { transactions, ..preset.spec() };

        for (preset, about) in [
            (P::A, "15 events, half reads, 10,000 zipfian keys"),
            (P::B, "as a, 95 % reads"),
            (P::C, "as a, 100 uniform keys"),
            (P::D, "mini-transactions, 1,000 zipfian keys"),
        ] {
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

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Set> {
        Set::all().into_iter().find(|set| set.name == name)
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
}

/// `10k`, `1M`.
fn thousands(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
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
        assert!(Set::named("a-3").is_none());
    }

    #[test]
    fn verdicts_are_known_where_construction_says_so() {
        let expected = |name| Level::ALL.map(|level| Set::named(name).unwrap().expected(level));
        let (holds, violated) = (Some(Verdict::Holds), Some(Verdict::Violated));
        assert_eq!(expected("a-10k"), [holds, holds, holds]);
        assert_eq!(expected("a-500-causal"), [holds, holds, holds]);
        assert_eq!(expected("a-500-ra"), [holds, holds, None]);
        assert_eq!(expected("a-500-rc"), [holds, None, None]);
        assert_eq!(expected("a-500-planted"), [holds, holds, violated]);
    }
}
