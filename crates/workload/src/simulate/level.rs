//! What a simulated store promises.

use std::fmt;
use std::str::FromStr;

/// The isolation level of a simulated store. The names are those of the checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreLevel {
    /// Reads go forward within a transaction.
    ReadCommitted,
    /// A transaction sees all of another or nothing of it, and its session's past.
    ReadAtomic,
    /// What a transaction sees includes all that its sources saw.
    Causal,
    /// Snapshots are prefixes of the order of commits.
    Prefix,
    /// Prefix, and the first committer of a key wins.
    SnapshotIsolation,
    /// Snapshot isolation, and every snapshot is the latest one when the transaction begins.
    StrongSi,
    /// As if one at a time.
    Serializable,
    /// As if one at a time, at some moment between start and finish.
    StrictSerializable,
}

use StoreLevel as L;

impl StoreLevel {
    /// All levels, weaker ones first.
    pub const ALL: [StoreLevel; 8] = [
        L::ReadCommitted,
        L::ReadAtomic,
        L::Causal,
        L::Prefix,
        L::SnapshotIsolation,
        L::StrongSi,
        L::Serializable,
        L::StrictSerializable,
    ];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            L::ReadCommitted => "read-committed",
            L::ReadAtomic => "read-atomic",
            L::Causal => "causal",
            L::Prefix => "prefix",
            L::SnapshotIsolation => "snapshot-isolation",
            L::StrongSi => "strong-si",
            L::Serializable => "serializable",
            L::StrictSerializable => "strict-serializable",
        }
    }

    /// A shorter name that is understood.
    pub fn alias(self) -> Option<&'static str> {
        match self {
            L::ReadCommitted => Some("rc"),
            L::ReadAtomic => Some("ra"),
            L::Causal => Some("cc"),
            L::Prefix => Some("pc"),
            L::SnapshotIsolation => Some("si"),
            L::StrongSi => None,
            L::Serializable => Some("ser"),
            L::StrictSerializable => Some("sser"),
        }
    }

    /// Whether it speaks of real time. Histories of such a level always have times.
    pub fn needs_times(self) -> bool {
        matches!(self, L::StrongSi | L::StrictSerializable)
    }
}

impl fmt::Display for StoreLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for StoreLevel {
    type Err = UnknownStoreLevel;

    fn from_str(name: &str) -> Result<Self, UnknownStoreLevel> {
        let known = |level: &L| level.name() == name || level.alias() == Some(name);
        L::ALL.into_iter().find(known).ok_or_else(|| UnknownStoreLevel(name.into()))
    }
}

/// No simulated store has a level of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no simulated store has level `{0}`; known are {known}", known = L::ALL.map(L::name).join(", "))]
pub struct UnknownStoreLevel(pub Box<str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood() {
        for level in L::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            assert!(level.alias().is_none_or(|alias| alias.parse() == Ok(level)));
        }
        assert!("linearizable".parse::<L>().is_err());
    }
}
