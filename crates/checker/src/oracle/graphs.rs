//! Levels as acyclic graphs of begins and commits.
//!
//! A level holds iff the versions of each key can be ordered, the initial one first, so that the edges of its row below form
//! no cycle. With `B → C` within each transaction (or one node for both), the edges are
//!
//! - `wr`: the commit of a writer to the begin of who reads from it;
//! - `so`: the commit of a transaction to the begin of the later ones of its session;
//! - `ww`: the commit of a writer to the begin (at `prefix`: the commit) of the writers of later versions;
//! - `rw`: the begin of a reader to the commit of the writers of versions later than the one it read;
//! - `rt`: between moments of which one surely happened before the other.
//!
//! Adya, *Weak Consistency*, 1999; Cerone and Gotsman, *Analysing Snapshot Isolation*, 2016; Zhang et al., *Viper*, 2023, §5.

use super::{MAX_TRANSACTIONS, Oracle, Read, Set, bit};
use crate::level::Terms;
use isonomy_history::Key;

/// What makes a level.
pub(super) struct Level {
    /// Begin and commit are one.
    atomic: bool,
    session_order: bool,
    /// Who overwrites a version saw it: `ww` ends at the begin.
    conflict: bool,
    /// Real-time edges to commits, from begins and from commits.
    fresh_commits: bool,
    /// Real-time edges from commits to begins.
    fresh_begins: bool,
    /// Each key is taken by itself: session order and real time only relate transactions of one key.
    pub(super) per_object: bool,
}

impl Level {
    pub(super) fn needs_times(&self) -> bool {
        self.fresh_commits || self.fresh_begins
    }
}

pub(super) const PREFIX: Level = Level {
    atomic: false,
    session_order: true,
    conflict: false,
    fresh_commits: false,
    fresh_begins: false,
    per_object: false,
};
pub(super) const SNAPSHOT_ISOLATION: Level = Level { conflict: true, ..PREFIX };
pub(super) const ADYA_SI: Level = Level { session_order: false, ..SNAPSHOT_ISOLATION };
pub(super) const GENERALIZED_SI: Level = Level { fresh_commits: true, ..ADYA_SI };
pub(super) const STRONG_SESSION_SI: Level = Level { session_order: true, ..GENERALIZED_SI };
pub(super) const STRONG_SI: Level = Level { fresh_begins: true, ..GENERALIZED_SI };
pub(super) const SERIALIZABLE: Level = Level { atomic: true, ..SNAPSHOT_ISOLATION };
pub(super) const STRICT_SERIALIZABLE: Level = Level { fresh_begins: true, ..SERIALIZABLE };
pub(super) const LINEARIZABLE: Level = Level { per_object: true, ..STRICT_SERIALIZABLE };

#[derive(Clone)]
struct Graph {
    nodes: usize,
    /// For each node those that it has an edge to.
    edges: [Set; 2 * MAX_TRANSACTIONS],
}

impl Graph {
    fn edge(&mut self, from: usize, to: usize) {
        self.edges[from] |= bit(to);
    }

    /// Takes away nodes without edges to what is left, until none is left or none can be taken.
    fn acyclic(&self) -> bool {
        let mut left: Set = (1 << self.nodes) - 1;
        loop {
            let has_no_edge = |&node: &usize| self.edges[node] & left == 0;
            let ends = (0..self.nodes).filter(has_no_edge).fold(0, |set, node| set | bit(node));
            if left & ends == 0 {
                return left == 0;
            }
            left &= !ends;
        }
    }
}

fn begin(txn: usize) -> usize {
    2 * txn
}

struct Search<'o> {
    oracle: &'o Oracle,
    level: &'o Level,
    /// All keys that are written, with their writers.
    keys: Vec<(Key, Vec<usize>)>,
    orders_left: u32,
}

/// Whether the level holds; `None` if there are too many orders of versions to try.
pub(super) fn version_order_exists(oracle: &Oracle, level: &Level, terms: Terms) -> Option<bool> {
    let transactions = oracle.transactions();
    let mut keys: Vec<Key> = transactions.iter().flat_map(|txn| txn.writes.iter().copied()).collect();
    keys.sort_unstable();
    keys.dedup();
    let writers = |key: Key| (0..transactions.len()).filter(|&txn| transactions[txn].writes.contains(&key)).collect();
    let keys = keys.into_iter().map(|key| (key, writers(key))).collect();
    let mut search = Search { oracle, level, keys, orders_left: 2_000_000 };

    let mut graph = Graph { nodes: 2 * transactions.len(), edges: [0; 2 * MAX_TRANSACTIONS] };
    for (txn, transaction) in transactions.iter().enumerate() {
        if !level.atomic {
            graph.edge(begin(txn), search.commit(txn));
        }
        for source in transaction.reads.iter().flat_map(Read::sources) {
            graph.edge(search.commit(source), begin(txn));
        }
    }
    for earlier in 0..transactions.len() {
        for later in 0..transactions.len() {
            search.relate(earlier, later, terms, &mut graph);
        }
    }
    if !graph.acyclic() {
        return Some(false);
    }
    search.order_versions(0, &mut Vec::new(), &graph)
}

impl Search<'_> {
    fn commit(&self, txn: usize) -> usize {
        if self.level.atomic { begin(txn) } else { 2 * txn + 1 }
    }

    /// The edges between two transactions that do not depend on what they read and wrote.
    fn relate(&self, earlier: usize, later: usize, terms: Terms, graph: &mut Graph) {
        let (level, transactions) = (self.level, self.oracle.transactions());
        let apart = self.oracle.objects.as_ref().is_some_and(|objects| objects[earlier] != objects[later]);
        if earlier == later || level.per_object && apart {
            return;
        }
        let same_session = transactions[earlier].session == transactions[later].session;
        if level.session_order && terms.session_order && same_session && earlier < later {
            graph.edge(self.commit(earlier), begin(later));
        }
        if !level.needs_times() {
            return;
        }
        let moments = self.oracle.moments.as_ref().expect("a level that needs times is asked where there are times");
        let (before, after) = (moments[earlier], moments[later]);
        // The commit of an indeterminate transaction may lie in the future: its latest moment, being the largest number,
        // is before nothing.
        let happens_before = |e: (i64, i64), f: (i64, i64)| e.1.saturating_add(terms.clock_drift) < f.0;
        if level.fresh_commits && happens_before(before.begin, after.commit) {
            graph.edge(begin(earlier), self.commit(later));
        }
        if level.fresh_commits && happens_before(before.commit, after.commit) {
            graph.edge(self.commit(earlier), self.commit(later));
        }
        if level.fresh_begins && happens_before(before.commit, after.begin) {
            graph.edge(self.commit(earlier), begin(later));
        }
    }

    /// Tries all orders of the keys from `key` on, where `order` is the beginning of that of `key` itself. A cycle stays
    /// one whatever comes after, so that nothing is tried behind it.
    fn order_versions(&mut self, key: usize, order: &mut Vec<usize>, graph: &Graph) -> Option<bool> {
        let Some((name, writers)) = self.keys.get(key) else { return Some(true) };
        if order.len() == writers.len() {
            if !self.oracle.lists_allow(*name, order) {
                return Some(false);
            }
            return self.order_versions(key + 1, &mut Vec::new(), graph);
        }
        for next in writers.clone() {
            if order.contains(&next) {
                continue;
            }
            self.orders_left = self.orders_left.checked_sub(1)?;
            let graph = self.with_version(key, order, next, graph);
            if graph.acyclic() {
                order.push(next);
                if self.order_versions(key, order, &graph)? {
                    return Some(true);
                }
                order.pop();
            }
        }
        Some(false)
    }

    /// The graph with the edges to the writer of the next version: from the writers of all earlier versions and from the
    /// readers of those and of the initial version.
    fn with_version(&self, key: usize, order: &[usize], next: usize, graph: &Graph) -> Graph {
        let mut graph = graph.clone();
        for &earlier in order {
            graph.edge(self.commit(earlier), if self.level.conflict { begin(next) } else { self.commit(next) });
        }
        for (reader, transaction) in self.oracle.transactions().iter().enumerate() {
            let reads = transaction.reads.iter().filter(|read| read.key == self.keys[key].0);
            let missed = |read: &Read| read.from.is_none_or(|from| order.contains(&from));
            if reader != next && reads.into_iter().any(missed) {
                graph.edge(begin(reader), self.commit(next));
            }
        }
        graph
    }
}
