//! Which versions a read may return at read committed, read atomic and causal consistency.
//!
//! A read of `k` by `t` may return what `t1` wrote if some order of commits puts every transaction that `t` must have *seen* and
//! that writes `k` before `t1`. The three levels differ in what was seen: the sources of the reads so far; these and the session's
//! own past; or all that happened before any of these. What can be returned is therefore known per chain, where later
//! transactions come after earlier ones:
//!
//! - A version is too old if it comes before one that was seen. All before it are too old as well.
//! - A version is too new (causal consistency) if with it something would be seen that comes after what an earlier read of the transaction
//!   returned. All after it are too new as well. For each chain the first such transaction is kept up to date, read by read, as a *limit*.
//!
//! What remains of each chain is one [`Span`], found by bisection. Two things are not in the spans: edges that are harmless alone and close a
//! cycle together, and limits that have moved because an edge was added since. So whoever draws a version adds its edges to
//! the order, and draws again if that fails.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::allowed::{Allowed, Place, Span};
use crate::clock::Clock;
use crate::committed::Committed;
use crate::keys::{Key, KeyId, Version};
use crate::order::{Node, Order, Past, UNFROZEN};

/// What a transaction has seen if it read something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// The sources of its reads.
    ReadCommitted,
    /// The sources of its reads and its session's past.
    ReadAtomic,
    /// All that happened before these.
    Causal,
}

/// What an open transaction has seen.
#[derive(Debug)]
pub(crate) struct Weak {
    sight: Sight,
    /// Its session's chain, where sessions see what they did.
    chain: Option<u32>,
    /// All below this position was seen.
    settled: u32,
    /// Who wrote what it read, each once.
    sources: FxHashSet<Node>,
    /// What it read from whom; `None` is the initial state.
    reads: BTreeMap<KeyId, Option<Node>>,
    limits: Limits,
}

/// What must not be seen, because it writes something after what was read.
#[derive(Debug)]
struct Limits {
    /// In each chain the first such transaction.
    chains: FxHashMap<u32, Node>,
    /// The first such position.
    settled: u32,
}

impl Weak {
    pub(crate) fn new(sight: Sight, chain: Option<u32>, settled: u32) -> Self {
        Weak {
            sight,
            chain,
            settled,
            sources: FxHashSet::default(),
            reads: BTreeMap::new(),
            limits: Limits { chains: FxHashMap::default(), settled: UNFROZEN },
        }
    }

    /// Whether reading a key again returns the same.
    pub(crate) fn repeats(&self) -> bool {
        self.sight != Sight::ReadCommitted
    }

    /// The versions of a key that may be returned, but for what the module says.
    pub(crate) fn allowed(&self, id: KeyId, past: &Past, committed: &Committed) -> Allowed {
        let (key, order) = (committed.key(id), &committed.order);
        let seen = self.seen(key, past, order);
        let mut lowest = 0;
        let mut older = Clock::default();
        for version in &seen {
            match order.position(version.node) {
                UNFROZEN => {
                    lowest = UNFROZEN;
                    older.join(order.before(version.node));
                }
                position => lowest = lowest.max(position),
            }
        }
        let too_old = |version: &Version| match order.position(version.node) {
            UNFROZEN => older.get(order.chain(version.node)) > version.node,
            position => position < lowest,
        };
        let mut spans = Vec::new();
        for (place, (_, versions)) in key.chains().iter().enumerate() {
            let start = versions.partition_point(too_old);
            let end = match self.sight {
                Sight::Causal => {
                    start + versions[start..].partition_point(|version| self.limits.allow(version.node, order))
                }
                _ => versions.len(),
            };
            if start < end {
                spans.push(Span { place: Place::Chain(place as u32), start: start as u32, end: end as u32 });
            }
        }
        Allowed { initial: seen.is_empty(), spans }
    }

    /// The edges that follow if a read returns this version; `None` if it cannot.
    pub(crate) fn demands(
        &self,
        id: KeyId,
        chosen: Option<Node>,
        past: &Past,
        committed: &Committed,
    ) -> Option<Vec<(Node, Node)>> {
        let order = &committed.order;
        let seen = self.seen(committed.key(id), past, order);
        let Some(chosen) = chosen else { return seen.is_empty().then(Vec::new) };
        let mut edges: Vec<_> = seen.iter().map(|version| (version.node, chosen)).collect();
        // What is seen with it must come before what was read so far.
        match self.sight {
            Sight::ReadCommitted => {}
            Sight::ReadAtomic => {
                if !self.sources.contains(&chosen) {
                    let sources = committed.written(chosen).iter().filter_map(|written| self.reads.get(written));
                    for source in sources {
                        edges.push((chosen, (*source)?));
                    }
                }
            }
            Sight::Causal => {
                if !order.in_past(chosen, past) {
                    let mut next = past.clone();
                    next.join(order.past(chosen));
                    next.clock.raise(order.chain(chosen), chosen + 1);
                    for (&read, source) in &self.reads {
                        for news in last_in_past(committed.key(read), &next, order) {
                            if !order.in_past(news, past) {
                                edges.push((news, (*source)?));
                            }
                        }
                    }
                }
            }
        }
        Some(edges)
    }

    /// Notes what a read has returned.
    pub(crate) fn read(&mut self, id: KeyId, chosen: Option<Node>, committed: &Committed) {
        self.sources.extend(chosen);
        if self.repeats() {
            self.reads.insert(id, chosen);
        }
        if self.sight == Sight::Causal {
            self.limits.note(committed.key(id), chosen, &committed.order);
        }
    }

    /// Finds the limits anew, after edges were added.
    pub(crate) fn find_limits(&mut self, committed: &Committed) {
        if self.sight == Sight::Causal {
            for (&id, &source) in &self.reads {
                self.limits.note(committed.key(id), source, &committed.order);
            }
        }
    }

    /// Versions of a key that were seen; those that another of them comes after may be missing.
    fn seen(&self, key: &Key, past: &Past, order: &Order) -> Vec<Version> {
        if self.sight == Sight::Causal {
            let nodes = last_in_past(key, past, order);
            return nodes.filter_map(|node| key.written_by(node, order)).collect();
        }
        let mut seen: Vec<Version> = key.frozen_below(self.settled, order).into_iter().collect();
        if self.sight == Sight::ReadAtomic {
            seen.extend(self.chain.and_then(|chain| key.of_chain(chain).last()));
        }
        let count: usize = key.chains().iter().map(|(_, versions)| versions.len()).sum();
        if count < self.sources.len() {
            let versions = key.chains().iter().flat_map(|(_, versions)| versions);
            seen.extend(versions.filter(|version| self.sources.contains(&version.node)));
        } else {
            let mut sources: Vec<Node> = self.sources.iter().copied().collect();
            sources.sort_unstable();
            seen.extend(sources.into_iter().filter_map(|source| key.written_by(source, order)));
        }
        seen
    }
}

impl Limits {
    /// Notes that a read of a key has returned what this transaction wrote.
    fn note(&mut self, key: &Key, source: Option<Node>, order: &Order) {
        let is_after = |version: &Version| source.is_none_or(|source| order.is_before(source, version.node));
        for (chain, versions) in key.chains() {
            let first = versions.partition_point(|version| !is_after(version));
            if let Some(version) = versions.get(first) {
                let limit = self.chains.entry(*chain).or_insert(version.node);
                *limit = version.node.min(*limit);
            }
        }
        let frozen = key.frozen();
        if let Some(version) = frozen.get(frozen.partition_point(|version| !is_after(version))) {
            self.settled = self.settled.min(order.position(version.node));
        }
    }

    /// Whether a transaction can be seen, with all that happened before it.
    fn allow(&self, node: Node, order: &Order) -> bool {
        let past = order.past(node);
        past.settled <= self.settled
            && self.chains.get(&order.chain(node)).is_none_or(|&limit| node < limit)
            && self.chains.iter().all(|(&chain, &limit)| past.clock.get(chain) <= limit)
    }
}

/// The last writer of a key in each chain that a past has, and the last one that is settled there.
fn last_in_past<'k>(key: &'k Key, past: &'k Past, order: &'k Order) -> impl Iterator<Item = Node> + use<'k> {
    let settled = key.frozen_below(past.settled, order).map(|version| version.node);
    let chains = key.chains().iter().filter_map(move |(chain, versions)| {
        let until = past.clock.get(*chain);
        let end = versions.partition_point(|version| version.node < until);
        end.checked_sub(1).map(|last| versions[last].node)
    });
    settled.into_iter().chain(chains)
}
