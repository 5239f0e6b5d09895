//! Anomalies: names, aliases, the levels they rule out. One table; code and documents read it.

use std::fmt;
use std::str::FromStr;

use isonomy_history::FaultKind;

use crate::level::IsolationLevel;

/// A named pattern that some levels forbid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "`meaning` says what each is")]
pub enum Anomaly {
    ThinAirRead,
    AbortedRead,
    IntermediateRead,
    FutureRead,
    NotMyOwnWrite,
    NotMyLastWrite,
    DuplicateElement,
    IncompatibleOrder,
    DirtyWrite,
    CyclicInformationFlow,
    NonMonotonicRead,
    NonRepeatableRead,
    FracturedRead,
    SessionGuaranteeViolation,
    CausalityViolation,
    VersionOrderConflict,
    LongFork,
    LostUpdate,
    ReadSkew,
    GSib,
    WriteSkew,
    Phantom,
    SerializationCycle,
    CommitOrderInversion,
    StaleSnapshot,
    RealTimeViolation,
}

use Anomaly as A;
use IsolationLevel as L;

/// What is known of an anomaly.
#[derive(Debug)]
pub struct AnomalyInfo {
    /// The anomaly.
    pub anomaly: Anomaly,
    /// Its name in JSON, commands and corpus files.
    pub name: &'static str,
    /// What others call it: catalogue and name.
    pub aliases: &'static [(&'static str, &'static str)],
    /// The weakest levels that forbid it; so do all levels that imply one of them.
    pub rules_out: &'static [IsolationLevel],
    /// What happened, in one or two sentences.
    pub meaning: &'static str,
    /// What in a database usually causes it.
    pub cause: &'static str,
    /// Where it was first described, or described best.
    pub citation: &'static str,
}

const ADYA: &str = "Adya, Weak Consistency (PhD thesis, MIT, 1999)";
const BERENSON: &str = "Berenson et al., A Critique of ANSI SQL Isolation Levels (SIGMOD 1995)";
const C4: &str = "Liu, Gu, Wei, Basin, Plume/C4 (OOPSLA 2024)";
const MTC: &str = "Wei et al., MTC (ICDE 2025)";
const BISWAS: &str = "Biswas, Enea, On the Complexity of Checking Transactional Consistency (OOPSLA 2019)";
const CERONE: &str = "Cerone, Bernardi, Gotsman, A Framework for Transactional Consistency Models (CONCUR 2015)";
const ELLE: &str = "Kingsbury, Alvaro, Elle (VLDB 2020)";
const VIPER: &str = "Zhang et al., Viper (EuroSys 2023)";

/// All anomalies, those that every level forbids first. Letters differ between the two catalogues of C4's authors, so
/// each alias names its own: `C4` is the twelve patterns of the paper, `Plume` the fourteen of its successor.
pub const ANOMALIES: [AnomalyInfo; 26] = [
    AnomalyInfo {
        anomaly: A::ThinAirRead,
        name: "thin-air-read",
        aliases: &[("C4", "TAP-a"), ("Plume", "TAP-a"), ("MTC", "ThinAirRead"), ("Bouajjani et al.", "ThinAirRead")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A transaction read a value that nobody wrote.",
        cause: "corruption, a write that was not recorded, or data left from an earlier run",
        citation: C4,
    },
    AnomalyInfo {
        anomaly: A::AbortedRead,
        name: "aborted-read",
        aliases: &[("Adya", "G1a"), ("C4", "TAP-b"), ("Plume", "TAP-b"), ("MTC", "AbortedRead"), ("Berenson", "A1")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A committed transaction read what an aborted transaction wrote.",
        cause: "reads of uncommitted data, or an abort that was reported but not carried out",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::IntermediateRead,
        name: "intermediate-read",
        aliases: &[
            ("Adya", "G1b"),
            ("C4", "TAP-e"),
            ("Plume", "TAP-f"),
            ("MTC", "IntermediateRead"),
            ("Berenson", "P1"),
        ],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A transaction read a value that its writer overwrote before it committed.",
        cause: "reads of uncommitted data",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::FutureRead,
        name: "future-read",
        aliases: &[
            ("C4", "TAP-c"),
            ("Plume", "TAP-c"),
            ("MTC", "FutureRead"),
            ("Elle", "internal"),
            ("Jepsen", "read your future writes"),
        ],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A transaction read a value that it wrote itself only later.",
        cause: "a retry inside the database that replays a transaction without undoing its first attempt",
        citation: C4,
    },
    AnomalyInfo {
        anomaly: A::NotMyOwnWrite,
        name: "not-my-own-write",
        aliases: &[("C4", "TAP-d"), ("Plume", "TAP-d"), ("MTC", "NotMyOwnWrite"), ("Elle", "internal")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A transaction wrote a key and then read what another transaction wrote to it.",
        cause: "statements of one transaction served by different nodes or connections",
        citation: C4,
    },
    AnomalyInfo {
        anomaly: A::NotMyLastWrite,
        name: "not-my-last-write",
        aliases: &[("Plume", "TAP-e"), ("MTC", "NotMyLastWrite"), ("Elle", "internal")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A transaction wrote a key twice and then read the earlier of its own values.",
        cause: "a write buffer that keeps the first write of a key instead of the last",
        citation: MTC,
    },
    AnomalyInfo {
        anomaly: A::DuplicateElement,
        name: "duplicate-element",
        aliases: &[("Elle", "duplicate-elements")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "A list holds an element twice that was appended once.",
        cause: "an append that was retried after it had taken effect",
        citation: ELLE,
    },
    AnomalyInfo {
        anomaly: A::IncompatibleOrder,
        name: "incompatible-order",
        aliases: &[("Elle", "incompatible-order")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "Two reads of a list disagree on the order of its elements: neither is a prefix of the other.",
        cause: "replicas that diverged, or a lost append",
        citation: ELLE,
    },
    AnomalyInfo {
        anomaly: A::DirtyWrite,
        name: "dirty-write",
        aliases: &[("Adya", "G0"), ("Berenson", "P0")],
        rules_out: &[L::ReadCommitted, L::AdyaSi],
        meaning: "Transactions overwrote each other's writes in a circle: the versions of their keys have no common order of commits.",
        cause: "writes that are not held back until the writer of the current version commits",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::CyclicInformationFlow,
        name: "cyclic-information-flow",
        aliases: &[("Adya", "G1c"), ("C4", "TAP-g"), ("Plume", "TAP-g"), ("Bouajjani et al.", "CyclicCO")],
        rules_out: &[L::ReadCommitted],
        meaning: "Transactions read from each other, or from their session's future, in a circle: each must have come before the others.",
        cause: "reads of uncommitted data, or broken session handling in a client",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::NonMonotonicRead,
        name: "non-monotonic-read",
        aliases: &[
            ("C4", "TAP-h, TAP-i"),
            ("Plume", "TAP-h, TAP-i"),
            ("MTC", "NonMonotonicRead"),
            ("Adya", "PL-2+ violation"),
        ],
        rules_out: &[L::ReadCommitted],
        meaning: "A transaction saw one write of another transaction and then read a version that this other had already replaced.",
        cause: "statements of one transaction served by replicas of different age",
        citation: BISWAS,
    },
    AnomalyInfo {
        anomaly: A::NonRepeatableRead,
        name: "non-repeatable-read",
        aliases: &[
            ("C4", "TAP-f"),
            ("Plume", "TAP-j"),
            ("MTC", "NonRepeatableReads"),
            ("Berenson", "P2"),
            ("Jepsen", "fuzzy read"),
        ],
        rules_out: &[L::ReadAtomic, L::AdyaSi],
        meaning: "A transaction read a key twice and got two values, which no write of its own explains.",
        cause: "a new snapshot for each statement: read committed instead of repeatable read",
        citation: BERENSON,
    },
    AnomalyInfo {
        anomaly: A::FracturedRead,
        name: "fractured-read",
        aliases: &[
            ("C4", "TAP-h, TAP-i, TAP-j"),
            ("Plume", "TAP-k, TAP-l"),
            ("MTC", "FracturedRead"),
            ("Berenson", "A5A"),
            ("Bailis et al.", "fractured reads"),
        ],
        rules_out: &[L::ReadAtomic],
        meaning: "A transaction saw some of the writes of another transaction and missed others.",
        cause: "writes of one transaction that become visible one by one, on one node or across shards",
        citation: "Bailis et al., Scalable Atomic Visibility with RAMP Transactions (SIGMOD 2014)",
    },
    AnomalyInfo {
        anomaly: A::SessionGuaranteeViolation,
        name: "session-guarantee-violation",
        aliases: &[
            ("C4", "TAP-k, TAP-j"),
            ("Plume", "TAP-k"),
            ("MTC", "SessionGuaranteeViolation"),
            ("Terry et al.", "read your writes, monotonic writes"),
        ],
        rules_out: &[L::ReadAtomic],
        meaning: "A transaction missed a write that an earlier transaction of its own session made.",
        cause: "a session that moved to a replica which had not caught up",
        citation: "Terry et al., Session Guarantees for Weakly Consistent Replicated Data (PDIS 1994)",
    },
    AnomalyInfo {
        anomaly: A::CausalityViolation,
        name: "causality-violation",
        aliases: &[
            ("C4", "TAP-k, TAP-j"),
            ("Plume", "TAP-m"),
            ("MTC", "CausalityViolation"),
            ("Bouajjani et al.", "WriteCORead, WriteCOInitRead"),
        ],
        rules_out: &[L::Causal],
        meaning: "A transaction saw an effect and missed its cause: it read a version that a transaction in its causal past had replaced.",
        cause: "replication that delivers a write before the writes it depends on",
        citation: C4,
    },
    AnomalyInfo {
        anomaly: A::VersionOrderConflict,
        name: "version-order-conflict",
        aliases: &[("C4", "TAP-i, TAP-l"), ("Plume", "TAP-i, TAP-l, TAP-n"), ("Bouajjani et al.", "CyclicCF")],
        rules_out: &[L::Causal],
        meaning: "Transactions saw the versions of keys in orders that contradict each other: no single order of commits explains all reads.",
        cause: "replicas that resolve conflicting writes differently",
        citation: C4,
    },
    AnomalyInfo {
        anomaly: A::LongFork,
        name: "long-fork",
        aliases: &[("MTC", "LongFork"), ("Jepsen", "long-fork")],
        rules_out: &[L::Prefix, L::AdyaSi],
        meaning: "Two transactions saw two independent writes in opposite orders: each saw one and missed the other.",
        cause: "snapshots taken on different replicas that apply commits in different orders",
        citation: CERONE,
    },
    AnomalyInfo {
        anomaly: A::LostUpdate,
        name: "lost-update",
        aliases: &[("MTC", "LostUpdate"), ("Berenson", "P4"), ("Jepsen", "lost-update"), ("MTC", "DIVERGENCE")],
        rules_out: &[L::SnapshotIsolation, L::AdyaSi, L::Linearizable],
        meaning: "Two transactions read the same version of a key and both replaced it: one update was lost.",
        cause: "writes without a check that the version read is still the current one",
        citation: BERENSON,
    },
    AnomalyInfo {
        anomaly: A::ReadSkew,
        name: "read-skew",
        aliases: &[("Adya", "G-single"), ("Jepsen", "G-single"), ("Berenson", "A5A")],
        rules_out: &[L::SnapshotIsolation, L::AdyaSi],
        meaning: "A transaction missed a write whose consequences it saw: a circle of dependencies with a single anti-dependency.",
        cause: "reads that do not come from one snapshot",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::GSib,
        name: "g-sib",
        aliases: &[("Adya", "G-SIb"), ("Viper", "G-SIb"), ("Jepsen", "G-nonadjacent")],
        rules_out: &[L::SnapshotIsolation, L::AdyaSi],
        meaning: "A circle of dependencies without two neighbouring anti-dependencies: no order of snapshots and commits allows it.",
        cause: "concurrent transactions that write the same key, or snapshots that are not taken at one moment",
        citation: VIPER,
    },
    AnomalyInfo {
        anomaly: A::WriteSkew,
        name: "write-skew",
        aliases: &[("Adya", "G2-item"), ("MTC", "WriteSkew"), ("Berenson", "A5B"), ("Jepsen", "G2-item")],
        rules_out: &[L::Serializable],
        meaning: "Transactions each read what another one wrote, before it was written, and wrote different keys.",
        cause: "snapshot isolation sold as serializable",
        citation: BERENSON,
    },
    AnomalyInfo {
        anomaly: A::Phantom,
        name: "phantom",
        aliases: &[("Adya", "G2"), ("Berenson", "P3")],
        rules_out: &[L::Serializable],
        meaning: "A range of keys was read, and a key that another transaction inserted or deleted in it was missed, in a circle of dependencies.",
        cause: "locks or conflict checks on rows that do not cover ranges",
        citation: BERENSON,
    },
    AnomalyInfo {
        anomaly: A::SerializationCycle,
        name: "serialization-cycle",
        aliases: &[("Adya", "G2"), ("Cobra", "unserializable")],
        rules_out: &[L::Serializable],
        meaning: "Every order of the writes leaves a circle of dependencies: the transactions cannot have run one at a time.",
        cause: "missing conflict checks between reads and later writes",
        citation: ADYA,
    },
    AnomalyInfo {
        anomaly: A::CommitOrderInversion,
        name: "commit-order-inversion",
        aliases: &[("Viper", "GSI violation")],
        rules_out: &[L::GeneralizedSi],
        meaning: "The order of commits that the reads demand contradicts real time.",
        cause: "clocks that differ between nodes, or commits that become visible out of order",
        citation: VIPER,
    },
    AnomalyInfo {
        anomaly: A::StaleSnapshot,
        name: "stale-snapshot",
        aliases: &[("Viper", "strong SI violation")],
        rules_out: &[L::StrongSi],
        meaning: "A transaction missed a write that had been committed before it began.",
        cause: "snapshots from a replica or cache that lags",
        citation: VIPER,
    },
    AnomalyInfo {
        anomaly: A::RealTimeViolation,
        name: "real-time-violation",
        aliases: &[("Jepsen", "realtime cycle"), ("Herlihy, Wing", "non-linearizable")],
        rules_out: &[L::StrictSerializable, L::Linearizable],
        meaning: "The order that the reads demand contradicts real time: one transaction ended before the other began.",
        cause: "stale reads, or writes that take effect after they were acknowledged",
        citation: "Herlihy, Wing, Linearizability (TOPLAS 1990)",
    },
];

impl Anomaly {
    /// What is known of it.
    pub fn info(self) -> &'static AnomalyInfo {
        &ANOMALIES[self as usize]
    }

    /// Its name in JSON, commands and corpus files.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Whether a history that shows it violates a level.
    pub fn rules_out(self, level: IsolationLevel) -> bool {
        self.info().rules_out.iter().any(|&weakest| level.implies(weakest))
    }

    /// The anomaly that a faulty read is.
    pub fn of_fault(kind: FaultKind) -> Anomaly {
        match kind {
            FaultKind::ThinAir => A::ThinAirRead,
            FaultKind::Aborted => A::AbortedRead,
            FaultKind::Intermediate => A::IntermediateRead,
            FaultKind::Future => A::FutureRead,
            FaultKind::NotMyOwnWrite => A::NotMyOwnWrite,
            FaultKind::NotMyLastWrite => A::NotMyLastWrite,
            FaultKind::NonRepeatable => A::NonRepeatableRead,
            FaultKind::DuplicateElement => A::DuplicateElement,
            FaultKind::IncompatibleOrder(_) => A::IncompatibleOrder,
        }
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
        let found = ANOMALIES.iter().find(|info| info.name == name).map(|info| info.anomaly);
        found.ok_or_else(|| UnknownAnomaly(name.into()))
    }
}

/// There is no anomaly of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown anomaly `{0}`; `isonomy anomalies` lists them")]
pub struct UnknownAnomaly(pub Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (index, info) in ANOMALIES.iter().enumerate() {
            assert_eq!(info.anomaly as usize, index, "{}", info.name);
            assert_eq!(info.name.parse(), Ok(info.anomaly));
            assert!(!info.rules_out.is_empty() && info.meaning.ends_with('.'));
        }
    }

    #[test]
    fn both_catalogues_map_into_the_table() {
        let letters = |catalogue: &str| {
            let aliases = ANOMALIES.iter().flat_map(|info| info.aliases);
            let mut letters: Vec<char> = aliases
                .filter(|(which, _)| *which == catalogue)
                .flat_map(|(_, names)| names.split(", "))
                .map(|name| name.strip_prefix("TAP-").and_then(|l| l.chars().next()).expect("a TAP letter"))
                .collect();
            letters.sort_unstable();
            letters.dedup();
            letters.into_iter().collect::<String>()
        };
        assert_eq!(letters("C4"), "abcdefghijkl");
        assert_eq!(letters("Plume"), "abcdefghijklmn");
    }
}
