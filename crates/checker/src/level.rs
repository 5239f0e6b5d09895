//! Isolation levels: their names, and which of them imply which.
//!
//! A history satisfies a level iff its reads are consistent by themselves and a suitable order of its transactions exists;
//! `docs/levels.md` has the definitions.

use std::fmt;
use std::str::FromStr;

/// A point in a *partial* order: ask [`a.implies(b)`](Self::implies), not `a > b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsolationLevel {
    /// Reads go forward: what a transaction reads never precedes what it has seen before.
    ReadCommitted,
    /// A transaction sees all of another or nothing of it.
    ReadAtomic,
    /// What a transaction sees includes all that its sources saw.
    Causal,
    /// All transactions see prefixes of one order of commits.
    Prefix,
    /// Prefix, and of two that write a key one sees the other; with session order.
    SnapshotIsolation,
    /// Snapshot isolation without session order.
    AdyaSi,
    /// Adya's, in an order of commits that agrees with real time.
    GeneralizedSi,
    /// Generalized, with session order.
    StrongSessionSi,
    /// Generalized, and every snapshot is fresh: it has all that was committed before it began.
    StrongSi,
    /// As if one at a time, with session order.
    Serializable,
    /// Serializable, in an order that agrees with real time.
    StrictSerializable,
    /// Strict serializability of each object by itself, for single-object histories.
    Linearizable,
}

use IsolationLevel as L;

/// What each level implies directly; the rest follows. A test compares it with the oracle.
const IMPLIES: [(L, L); 11] = [
    (L::ReadAtomic, L::ReadCommitted),
    (L::Causal, L::ReadAtomic),
    (L::Prefix, L::Causal),
    (L::SnapshotIsolation, L::Prefix),
    (L::SnapshotIsolation, L::AdyaSi),
    (L::Serializable, L::SnapshotIsolation),
    (L::StrictSerializable, L::Serializable),
    (L::GeneralizedSi, L::AdyaSi),
    (L::StrongSi, L::GeneralizedSi),
    (L::StrongSessionSi, L::GeneralizedSi),
    (L::StrongSessionSi, L::SnapshotIsolation),
];
impl IsolationLevel {
    /// All levels, weaker ones first.
    pub const ALL: [IsolationLevel; 12] = [
        L::ReadCommitted,
        L::ReadAtomic,
        L::Causal,
        L::Prefix,
        L::SnapshotIsolation,
        L::AdyaSi,
        L::GeneralizedSi,
        L::StrongSessionSi,
        L::StrongSi,
        L::Serializable,
        L::StrictSerializable,
        L::Linearizable,
    ];

    /// Its name in commands, JSON and corpus files.
    pub fn name(self) -> &'static str {
        match self {
            L::ReadCommitted => "read-committed",
            L::ReadAtomic => "read-atomic",
            L::Causal => "causal",
            L::Prefix => "prefix",
            L::SnapshotIsolation => "snapshot-isolation",
            L::AdyaSi => "adya-si",
            L::GeneralizedSi => "generalized-si",
            L::StrongSessionSi => "strong-session-si",
            L::StrongSi => "strong-si",
            L::Serializable => "serializable",
            L::StrictSerializable => "strict-serializable",
            L::Linearizable => "linearizable",
        }
    }

    /// Shorter names that are understood.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            L::ReadCommitted => &["rc"],
            L::ReadAtomic => &["ra"],
            L::Causal => &["cc", "tcc"],
            L::Prefix => &["pc"],
            L::SnapshotIsolation => &["si"],
            L::GeneralizedSi => &["gsi"],
            L::Serializable => &["ser"],
            L::StrictSerializable => &["sser"],
            L::Linearizable => &["lin"],
            L::AdyaSi | L::StrongSessionSi | L::StrongSi => &[],
        }
    }

    /// What it promises, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            L::ReadCommitted => "reads are of committed data and never go backwards within a transaction",
            L::ReadAtomic => "a transaction sees all of another's writes or none, and its own session's",
            L::Causal => "what a transaction sees includes all that its sources saw, in one order for all",
            L::Prefix => "all transactions see prefixes of one order of commits",
            L::SnapshotIsolation => "prefix, and concurrent transactions do not write the same key; with session order",
            L::AdyaSi => "snapshot isolation without session order",
            L::GeneralizedSi => "adya-si, in an order of commits that agrees with real time",
            L::StrongSessionSi => "generalized-si with session order",
            L::StrongSi => "generalized-si, and snapshots have all that was committed before they began",
            L::Serializable => "as if transactions ran one at a time; with session order",
            L::StrictSerializable => "serializable, in an order that agrees with real time",
            L::Linearizable => "strict-serializable for each object by itself",
        }
    }

    /// Whether it speaks of real time, and so can only be decided for histories that have times.
    pub fn needs_times(self) -> bool {
        matches!(self, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi | L::StrictSerializable | L::Linearizable)
    }

    /// Whether it respects session order.
    pub fn has_session_order(self) -> bool {
        !matches!(self, L::AdyaSi | L::GeneralizedSi | L::StrongSi)
    }

    /// Whether every history that satisfies this level satisfies `other`.
    pub fn implies(self, other: IsolationLevel) -> bool {
        self == other || IMPLIES.iter().any(|&(strong, weak)| strong == self && weak.implies(other))
    }
}

/// What a level is asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Whether levels that respect session order do so.
    pub session_order: bool,
    /// By how many nanoseconds clocks may differ: something happens before something else only if it is earlier by more than this.
    pub clock_drift: i64,
}

impl Default for Terms {
    fn default() -> Self {
        Terms { session_order: true, clock_drift: 0 }
    }
}

impl fmt::Display for IsolationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for IsolationLevel {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let known = |level: &L| level.name() == name || level.aliases().contains(&name);
        L::ALL.into_iter().find(known).ok_or_else(|| UnknownLevel(name.into()))
    }
}

/// There is no level of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown level `{0}`; known are {known}", known = L::ALL.map(L::name).join(", "))]
pub struct UnknownLevel(pub Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_are_understood_and_different() {
        let mut seen = std::collections::HashSet::new();
        for level in L::ALL {
            for name in [level.name()].iter().chain(level.aliases()) {
                assert_eq!(name.parse(), Ok(level));
                assert!(seen.insert(*name), "{name} is taken twice");
            }
        }
        assert!("no-such-level".parse::<L>().is_err());
    }

    #[test]
    fn the_order_is_partial() {
        assert!(L::StrictSerializable.implies(L::ReadCommitted));
        assert!(L::StrongSessionSi.implies(L::SnapshotIsolation));
        assert!(!L::AdyaSi.implies(L::ReadCommitted));
        assert!(!L::StrictSerializable.implies(L::StrongSi));
        for a in L::ALL {
            for b in L::ALL {
                assert!(a == b || !(a.implies(b) && b.implies(a)), "{a} and {b} imply each other");
            }
        }
    }
}
