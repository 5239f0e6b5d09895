//! Which committed transactions must come before which, in every order of commits that explains what was read so far.
//!
//! The thesis asks of each read whether *some* order of commits exists. Such an order exists as long as what must be ordered has
//! no cycle: session order, who read from whom, and what the axioms of a level demand of each read. Each transaction keeps all
//! that must come before it as a [`Clock`] over chains (a session is a chain), so that a question is a look-up; a new edge is
//! carried on to everything after it. Edges that would close a cycle are refused.
//!
//! The levels from prefix up need a total order. For them, and for what every session is to see, all that is committed is *frozen*: it
//! gets positions in some order that respects the edges, and whatever commits later comes after it. Long runs freeze their oldest
//! transactions from time to time, so that the cost of an edge does not grow with the run. The order is drawn at random, so
//! freezing takes away what one run can show, and nothing of what all runs together show.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isonomy_workload::Rng;
use rustc_hash::FxHashMap;

use crate::clock::Clock;

/// A committed transaction that wrote something; they are numbered as they commit.
pub(crate) type Node = u32;

/// The position of a transaction that has none.
pub(crate) const UNFROZEN: u32 = u32::MAX;

/// Beyond so many transactions without a position, the older half is frozen.
const WINDOW: usize = 2048;

/// How far from the order of commits the positions of two transactions can be drawn.
const SHUFFLE: u64 = 64;

/// What happens before a transaction: by chains, and all that has a position below `settled`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    pub(crate) clock: Clock,
    pub(crate) settled: u32,
}

impl Past {
    pub(crate) fn join(&mut self, other: &Past) {
        self.clock.join(&other.clock);
        self.settled = self.settled.max(other.settled);
    }
}

#[derive(Debug)]
struct Entry {
    chain: u32,
    position: u32,
    past: Past,
    /// All that must come before it; the number of a chain is one more than its last node.
    before: Clock,
    /// Nodes that come right after it, as long as it has no position.
    after: Vec<Node>,
}

/// Edges would close a cycle.
#[derive(Debug)]
pub(crate) struct Cycle;

/// Edges that were added, as long as they can be taken back.
#[derive(Debug, Default)]
pub(crate) struct Added {
    sources: Vec<Node>,
    /// What clocks were before.
    clocks: Vec<(Node, Clock)>,
}

impl Added {
    /// Whether there was anything new about them.
    pub(crate) fn is_news(&self) -> bool {
        !self.sources.is_empty()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Order {
    entries: Vec<Entry>,
    unfrozen: Vec<Node>,
    /// How many have a position.
    frozen: u32,
}

impl Order {
    pub(crate) fn chain(&self, node: Node) -> u32 {
        self.entries[node as usize].chain
    }

    pub(crate) fn past(&self, node: Node) -> &Past {
        &self.entries[node as usize].past
    }

    /// Its place among the frozen ones, or [`UNFROZEN`].
    pub(crate) fn position(&self, node: Node) -> u32 {
        self.entries[node as usize].position
    }

    /// How many are frozen.
    pub(crate) fn frozen(&self) -> u32 {
        self.frozen
    }

    pub(crate) fn before(&self, node: Node) -> &Clock {
        &self.entries[node as usize].before
    }

    /// Whether a transaction is part of a past.
    pub(crate) fn in_past(&self, node: Node, past: &Past) -> bool {
        let entry = &self.entries[node as usize];
        entry.position < past.settled || past.clock.get(entry.chain) > node
    }

    /// Whether `a` must come before `b`.
    pub(crate) fn is_before(&self, a: Node, b: Node) -> bool {
        let (first, second) = (&self.entries[a as usize], &self.entries[b as usize]);
        match (first.position, second.position) {
            (UNFROZEN, UNFROZEN) => a != b && second.before.get(first.chain) > a,
            (a, b) => a < b,
        }
    }

    /// Adds a transaction after the nodes that it and its session read and wrote.
    pub(crate) fn commit(&mut self, chain: u32, past: Past, predecessors: &[Node]) -> Node {
        let node = self.entries.len() as Node;
        let mut before = Clock::default();
        for &predecessor in predecessors {
            let entry = &mut self.entries[predecessor as usize];
            before.join(&entry.before);
            before.raise(entry.chain, predecessor + 1);
            if entry.position == UNFROZEN {
                entry.after.push(node);
            }
        }
        self.entries.push(Entry { chain, position: UNFROZEN, past, before, after: Vec::new() });
        self.unfrozen.push(node);
        node
    }

    /// Adds edges; if they would close a cycle, none of them.
    pub(crate) fn add(&mut self, edges: &[(Node, Node)]) -> Result<Added, Cycle> {
        let mut done = Added::default();
        for &(a, b) in edges {
            if a == b || self.is_before(a, b) {
                continue;
            }
            // Between two that are not both open, the positions decide.
            let open = self.position(a) == UNFROZEN && self.position(b) == UNFROZEN;
            if !open || self.is_before(b, a) {
                self.take_back(done);
                return Err(Cycle);
            }
            self.entries[a as usize].after.push(b);
            done.sources.push(a);
            let mut carried = self.entries[a as usize].before.clone();
            carried.raise(self.chain(a), a + 1);
            let mut stack = vec![b];
            while let Some(node) = stack.pop() {
                let entry = &mut self.entries[node as usize];
                let old = entry.before.clone();
                if entry.before.join(&carried) {
                    done.clocks.push((node, old));
                    stack.extend_from_slice(&entry.after);
                }
            }
        }
        Ok(done)
    }

    /// Takes edges back that were added last.
    pub(crate) fn take_back(&mut self, added: Added) {
        for (node, clock) in added.clocks.into_iter().rev() {
            self.entries[node as usize].before = clock;
        }
        for node in added.sources.into_iter().rev() {
            self.entries[node as usize].after.pop();
        }
    }

    /// Whether enough transactions are open that the older half should get positions.
    pub(crate) fn is_crowded(&self) -> bool {
        self.unfrozen.len() > WINDOW
    }

    /// Gives positions to the oldest half of the open transactions, or to all. In the order of the positions, what got one.
    pub(crate) fn freeze(&mut self, all: bool, rng: &mut Rng) -> Vec<Node> {
        let count = if all { self.unfrozen.len() } else { self.unfrozen.len() / 2 };
        let mut missing: FxHashMap<Node, u32> = self.unfrozen.iter().map(|&node| (node, 0)).collect();
        for &node in &self.unfrozen {
            for after in &self.entries[node as usize].after {
                *missing.get_mut(after).expect("what comes after an open one is open") += 1;
            }
        }
        let mut ready = BinaryHeap::new();
        let mut offer = |ready: &mut BinaryHeap<_>, node: Node| {
            ready.push(Reverse((u64::from(node) + rng.below(SHUFFLE), node)));
        };
        for &node in &self.unfrozen {
            if missing[&node] == 0 {
                offer(&mut ready, node);
            }
        }
        let mut placed = Vec::with_capacity(count);
        while placed.len() < count {
            let Reverse((_, node)) = ready.pop().expect("the open transactions have no cycle");
            let entry = &mut self.entries[node as usize];
            entry.position = self.frozen + placed.len() as u32;
            placed.push(node);
            for after in std::mem::take(&mut entry.after) {
                let missing = missing.get_mut(&after).expect("what comes after an open one is open");
                *missing -= 1;
                if *missing == 0 {
                    offer(&mut ready, after);
                }
            }
        }
        self.frozen += placed.len() as u32;
        self.unfrozen.retain(|&node| self.entries[node as usize].position == UNFROZEN);
        placed
    }
}
