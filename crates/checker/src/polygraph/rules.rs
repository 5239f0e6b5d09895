//! Where a level's edges attach.

use crate::level::{IsolationLevel, IsolationLevel as L};

/// A level, as a choice of nodes and edges.
///
/// | level | nodes | so | wr | ww | rw | rt |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | serializable | T | T→T | T→T | T→T | T→T | |
/// | strict-serializable | T | T→T | T→T | T→T | T→T | commit→begin |
/// | prefix | B, C | C→B | C→B | C→C | B→C | |
/// | snapshot isolation | B, C | C→B | C→B | C→B | B→C | as the variant has it |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Begin and commit are one node.
    pub(crate) one_node: bool,
    /// Of two that write a key, one commits before the other begins. (One node: they do anyway.)
    pub(crate) conflict: bool,
    /// Sessions are respected.
    pub(crate) session_order: bool,
    /// Begins and commits come before commits that happened after them.
    pub(crate) real_commits: bool,
    /// Commits come before begins that happened after them.
    pub(crate) real_begins: bool,
    /// By how much clocks may differ.
    pub(crate) clock_drift: i64,
}

impl Rules {
    pub(crate) fn of(level: IsolationLevel, session_order: bool, clock_drift: i64) -> Self {
        Rules {
            one_node: matches!(level, L::Serializable | L::StrictSerializable),
            conflict: level != L::Prefix,
            session_order,
            real_commits: matches!(level, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi),
            real_begins: matches!(level, L::StrongSi | L::StrictSerializable),
            clock_drift,
        }
    }

    /// The rules of weaker levels that respect sessions as these do, the weakest first.
    pub(crate) fn weaker(self) -> impl Iterator<Item = Rules> {
        let levels = [L::Prefix, L::SnapshotIsolation, L::Serializable, L::GeneralizedSi];
        let weaker = levels.map(|level| Rules::of(level, self.session_order, self.clock_drift));
        let [prefix, snapshot, serializable, generalized] = weaker;
        let strict = self.one_node && self.real_begins;
        let strong = !self.one_node && self.real_begins;
        [
            (prefix, self != prefix),
            (snapshot, self != prefix && self != snapshot),
            (serializable, strict),
            (generalized, strong),
        ]
        .into_iter()
        .filter_map(|(rules, is_weaker)| is_weaker.then_some(rules))
    }

    pub(crate) fn needs_times(self) -> bool {
        self.real_commits || self.real_begins
    }

    /// The node at which a transaction begins.
    #[inline]
    pub(crate) fn begin(self, txn: u32) -> u32 {
        if self.one_node { txn } else { 2 * txn }
    }

    /// The node at which a transaction commits.
    #[inline]
    pub(crate) fn commit(self, txn: u32) -> u32 {
        if self.one_node { txn } else { 2 * txn + 1 }
    }

    /// Where an edge from an earlier version's writer enters a later one's.
    #[inline]
    pub(crate) fn overwrite(self, txn: u32) -> u32 {
        if self.conflict { self.begin(txn) } else { self.commit(txn) }
    }

    /// The transaction of a node.
    #[inline]
    pub(crate) fn txn(self, node: u32) -> u32 {
        if self.one_node { node } else { node / 2 }
    }

    /// How many nodes so many transactions have.
    pub(crate) fn nodes(self, txns: u32) -> u32 {
        if self.one_node { txns } else { 2 * txns }
    }
}
