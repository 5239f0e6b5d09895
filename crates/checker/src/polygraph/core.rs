//! Which transactions does a violation need? From facts that contradict each other back to what shows them.
//!
//! Facts were found round by round: one of a round follows from what was known before that round. So the transactions
//! on the paths that exclude the contrary of a fact, and those that its paths' own facts need, are enough to show it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph;
use super::problem::Problem;
use super::region::Refuted;
use crate::lists::Lists;

/// Pairs of versions of which the first is known to precede the second, and in which round each was found.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) pairs: Vec<(u32, u32)>,
    pub(crate) rounds: Vec<u32>,
}

pub(crate) struct Trace<'a> {
    problem: &'a Problem,
    known: &'a Lists,
    facts: &'a Facts,
    /// For each version the facts by which it precedes another.
    by_version: Lists,
    /// The place of each node in a topological order of all that was known before the last round.
    place: Vec<u32>,
    needed: FxHashSet<u32>,
    open: Vec<u32>,
    transactions: Vec<u32>,
}

impl<'a> Trace<'a> {
    /// `order` is a topological order of what was known before the last round.
    pub(crate) fn new(problem: &'a Problem, known: &'a Lists, facts: &'a Facts, order: &[u32]) -> Self {
        let mut place = vec![0; order.len()];
        for (at, &node) in order.iter().enumerate() {
            place[node as usize] = at as u32;
        }
        let by_version = Lists::new(problem.written() as usize, |add| {
            facts.pairs.iter().enumerate().for_each(|(fact, &(before, _))| add(before, fact as u32));
        });
        Trace {
            problem,
            known,
            facts,
            by_version,
            place,
            needed: FxHashSet::default(),
            open: Vec::new(),
            transactions: Vec::new(),
        }
    }

    /// The transactions that show a cycle of known edges and facts.
    pub(crate) fn cycle(mut self, cycle: &[u32]) -> Vec<u32> {
        self.transactions.extend(graph::cycle_transactions(self.problem, cycle));
        for (at, &from) in cycle.iter().enumerate() {
            let to = cycle[(at + 1) % cycle.len()];
            self.take_edge(from, to);
        }
        self.finish()
    }

    /// The transactions that show that neither of two versions can precede the other.
    pub(crate) fn pair(mut self, one: u32, other: u32) -> Vec<u32> {
        self.take_node(self.problem.rules.begin(self.problem.writer[one as usize]));
        self.take_node(self.problem.rules.begin(self.problem.writer[other as usize]));
        self.exclude(one, other, u32::MAX);
        self.exclude(other, one, u32::MAX);
        self.finish()
    }

    /// The transactions that show that a part has no solution: those its lemmas speak of, and those that show the facts it used. `members`
    /// are the transactions of the part.
    pub(crate) fn refuted(mut self, part: &Problem, members: &[u32], refuted: &Refuted) -> Vec<u32> {
        let rules = part.rules;
        for lemma in &refuted.lemmas {
            let txns = graph::cycle_transactions(part, &lemma.cycle).into_iter();
            self.transactions.extend(txns.map(|txn| members[txn as usize]));
            for literal in &lemma.literals {
                let (one, other) = refuted.pairs[literal.choice.0 as usize];
                self.transactions.extend([one, other].map(|version| members[part.writer[version as usize] as usize]));
            }
            // The same nodes of the whole. What leads through helpers is known.
            let node = |local: u32| {
                let txn = members.get(rules.txn(local) as usize).filter(|_| local < rules.nodes(part.count()))?;
                Some(if local == rules.begin(rules.txn(local)) { rules.begin(*txn) } else { rules.commit(*txn) })
            };
            for (at, &from) in lemma.cycle.iter().enumerate() {
                let to = lemma.cycle[(at + 1) % lemma.cycle.len()];
                if let (Some(from), Some(to)) = (node(from), node(to)) {
                    self.take_edge(from, to);
                }
            }
        }
        self.finish()
    }

    /// Takes the fact that an edge follows from, if it does not hold anyway. There is none for what was only assumed.
    fn take_edge(&mut self, from: u32, to: u32) {
        if self.known.of(from).contains(&to) {
            return;
        }
        let mut through = None;
        self.successors(from, u32::MAX, &mut |next, fact| {
            if next == to && through.is_none() {
                through = fact;
            }
        });
        through.into_iter().for_each(|fact| self.take_fact(fact));
    }

    fn finish(mut self) -> Vec<u32> {
        while let Some(fact) = self.open.pop() {
            let (before, after) = self.facts.pairs[fact as usize];
            self.take_node(self.problem.rules.begin(self.problem.writer[before as usize]));
            self.take_node(self.problem.rules.begin(self.problem.writer[after as usize]));
            self.exclude(after, before, self.facts.rounds[fact as usize]);
        }
        self.transactions.sort_unstable();
        self.transactions.dedup();
        self.transactions
    }

    fn take_node(&mut self, node: u32) {
        if node < self.problem.rules.nodes(self.problem.count()) {
            self.transactions.push(self.problem.rules.txn(node));
        }
    }

    fn take_fact(&mut self, fact: u32) {
        if self.needed.insert(fact) {
            self.open.push(fact);
        }
    }

    /// Takes what shows that one version cannot precede another, by facts of earlier rounds than `round`.
    fn exclude(&mut self, before: u32, after: u32, round: u32) {
        let mut against = Vec::new();
        graph::ordered_edges(self.problem, before, after, &mut |from, to| against.push((from, to)));
        // The shortest window first: its path is likely short too.
        against.retain(|&(from, to)| from == to || self.place[to as usize] < self.place[from as usize]);
        against.sort_by_key(|&(from, to)| self.place[from as usize] - self.place[to as usize]);
        for (from, to) in against {
            if let Some(path) = self.path(to, from, round) {
                // With the edge that it excludes, a path is a cycle; it runs from its end here.
                let cycle: Vec<u32> = path.iter().rev().map(|&(node, _)| node).collect();
                self.transactions.extend(graph::cycle_transactions(self.problem, &cycle));
                for (_, fact) in path {
                    fact.into_iter().for_each(|fact| self.take_fact(fact));
                }
                return;
            }
        }
        unreachable!("what excludes a pair can be found again");
    }

    /// The nodes of a shortest path, each with the fact by which it is entered.
    fn path(&self, from: u32, to: u32, round: u32) -> Option<Vec<(u32, Option<u32>)>> {
        let mut entered: FxHashMap<u32, (u32, Option<u32>)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        let mut found = from == to;
        while let Some(node) = queue.pop_front() {
            if found {
                break;
            }
            self.successors(node, round, &mut |next, fact| {
                if next != from && self.place[next as usize] <= self.place[to as usize] && !entered.contains_key(&next)
                {
                    entered.insert(next, (node, fact));
                    queue.push_back(next);
                    found |= next == to;
                }
            });
        }
        found.then(|| {
            let mut path = Vec::new();
            let mut at = to;
            while at != from {
                let (parent, fact) = entered[&at];
                path.push((at, fact));
                at = parent;
            }
            path.push((from, None));
            path
        })
    }

    /// The successors of a node, known ones first, then those by facts of earlier rounds than `round`.
    fn successors(&self, node: u32, round: u32, visit: &mut dyn FnMut(u32, Option<u32>)) {
        let problem = self.problem;
        let rules = problem.rules;
        self.known.of(node).iter().for_each(|&next| visit(next, None));
        if node >= rules.nodes(problem.count()) {
            return;
        }
        let txn = rules.txn(node);
        let by_facts = |version: u32, enter: &dyn Fn(u32) -> u32, visit: &mut dyn FnMut(u32, Option<u32>)| {
            for &fact in self.by_version.of(version) {
                let later = problem.writer[self.facts.pairs[fact as usize].1 as usize];
                if self.facts.rounds[fact as usize] < round && later != txn {
                    visit(enter(later), Some(fact));
                }
            }
        };
        if node == rules.commit(txn) {
            problem.versions_by(txn).for_each(|version| by_facts(version, &|later| rules.overwrite(later), visit));
        }
        if node == rules.begin(txn) {
            for &version in problem.reads.of(txn).iter().filter(|&&version| version < problem.written()) {
                by_facts(version, &|later| rules.commit(later), visit);
            }
        }
    }
}
