//! An order of commits near one that may have happened, from the history alone.
//!
//! The thesis's frontier search (Algorithm 6) without backtracking: transactions commit one after the other, each as soon as
//! what it saw is there and nobody is left behind by what it overwrites. Among those that may, the first in a given order goes. Where
//! nobody may, the first that at least has what it saw goes all the same: the order is a guess, and whoever uses it repairs it.
//!
//! A version may be overwritten when none of its readers is *left behind*: at serializable levels when all have committed; at the others
//! when all can have taken their snapshot, since whoever did may commit later. From then on, nobody else may write what such a one is
//! going to write (but at prefix): it holds these keys.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::problem::Problem;
use crate::chains::NONE;

struct Simulation<'p> {
    problem: &'p Problem,
    rank: &'p [u32],
    /// How many each transaction still waits for: those it saw, and the one before it in its session.
    missing: Vec<u32>,
    /// For each version how many of its readers would be left behind, were it overwritten.
    behind: Vec<u32>,
    /// The current version of each key.
    current: Vec<u32>,
    /// For each key how many hold it.
    held: Vec<u32>,
    holds: Vec<bool>,
    placed: Vec<bool>,
    /// Ready, by rank: may be tried.
    ready: BinaryHeap<Reverse<(u32, u32)>>,
    /// Ready but held up, by rank; some may have gone since.
    stuck: BinaryHeap<Reverse<(u32, u32)>>,
    /// For each key those that are held up by it: a linked list through `next_waiting`.
    waiting: Vec<u32>,
    next_waiting: Vec<u32>,
    order: Vec<u32>,
}

/// An order of all transactions that contains session and write-read order, if these have no cycle.
pub(crate) fn simulate(problem: &Problem, rank: &[u32], facts: &[(u32, u32)]) -> Vec<u32> {
    let count = problem.txns.len();
    let versions = problem.written() as usize + problem.keys.len();
    let mut simulation = Simulation {
        problem,
        rank,
        missing: vec![0; count],
        behind: (0..versions as u32).map(|version| problem.readers.of(version).len() as u32).collect(),
        current: (0..problem.keys.len() as u32).map(|key| problem.written() + key).collect(),
        held: vec![0; if problem.rules.one_node || !problem.rules.conflict { 0 } else { problem.keys.len() }],
        holds: vec![false; count],
        placed: vec![false; count],
        ready: BinaryHeap::new(),
        stuck: BinaryHeap::new(),
        waiting: vec![NONE; problem.keys.len()],
        next_waiting: vec![NONE; count],
        order: Vec::with_capacity(count),
    };
    simulation.run(facts);
    simulation.order
}

impl Simulation<'_> {
    fn run(&mut self, facts: &[(u32, u32)]) {
        let problem = self.problem;
        for txn in 0..problem.count() {
            let sources = problem.reads.of(txn).iter().filter(|&&version| version < problem.written()).count();
            let missing = sources + problem.seen.of(txn).len() + usize::from(problem.previous[txn as usize] != NONE);
            self.missing[txn as usize] = missing as u32;
        }
        for &(_, after) in problem.listed.iter().chain(facts) {
            self.missing[problem.writer[after as usize] as usize] += 1;
        }
        for txn in 0..problem.count() {
            if self.missing[txn as usize] == 0 {
                self.becomes_ready(txn);
            }
        }
        let listed_after = crate::lists::Lists::new(problem.txns.len(), |add| {
            for &(before, after) in problem.listed.iter().chain(facts) {
                add(problem.writer[before as usize], problem.writer[after as usize]);
            }
        });
        loop {
            let txn = if let Some(Reverse((_, txn))) = self.ready.pop() {
                if let Some(key) = self.held_up_by(txn) {
                    self.next_waiting[txn as usize] = self.waiting[key as usize];
                    self.waiting[key as usize] = txn;
                    self.stuck.push(Reverse((self.rank[txn as usize], txn)));
                    continue;
                }
                txn
            } else if let Some(Reverse((_, txn))) = self.stuck.pop() {
                txn
            } else {
                break;
            };
            if !self.placed[txn as usize] {
                self.place(txn, &listed_after);
            }
        }
    }

    /// A key that a transaction may not write now.
    fn held_up_by(&self, txn: u32) -> Option<u32> {
        let problem = self.problem;
        problem.versions_by(txn).map(|version| problem.key[version as usize]).find(|&key| {
            let current = self.current[key as usize];
            let mut behind = self.behind[current as usize];
            if problem.rules.one_node && behind == 1 && problem.reads.of(txn).binary_search(&current).is_ok() {
                behind = 0;
            }
            let held = self.held.get(key as usize).is_some_and(|&held| held > u32::from(self.holds[txn as usize]));
            behind > 0 || held
        })
    }

    fn becomes_ready(&mut self, txn: u32) {
        if !self.problem.rules.one_node {
            self.no_longer_behind(txn);
        }
        self.ready.push(Reverse((self.rank[txn as usize], txn)));
    }

    fn no_longer_behind(&mut self, txn: u32) {
        let few = u32::from(self.problem.rules.one_node);
        for &version in self.problem.reads.of(txn) {
            let behind = &mut self.behind[version as usize];
            *behind -= 1;
            let key = self.problem.key_of(version);
            if *behind <= few && self.current[key as usize] == version {
                self.wake(key);
            }
        }
    }

    fn wake(&mut self, key: u32) {
        let mut txn = std::mem::replace(&mut self.waiting[key as usize], NONE);
        while txn != NONE {
            if !self.placed[txn as usize] {
                self.ready.push(Reverse((self.rank[txn as usize], txn)));
            }
            txn = std::mem::replace(&mut self.next_waiting[txn as usize], NONE);
        }
    }

    fn place(&mut self, txn: u32, listed_after: &crate::lists::Lists) {
        let problem = self.problem;
        let rules = problem.rules;
        self.placed[txn as usize] = true;
        self.order.push(txn);
        if rules.one_node {
            self.no_longer_behind(txn);
        }
        for version in problem.versions_by(txn) {
            let key = problem.key[version as usize];
            let before = std::mem::replace(&mut self.current[key as usize], version);
            if !self.held.is_empty() {
                // Whoever read the version before has its snapshot now, and holds what it will write.
                for &reader in problem.readers.of(before) {
                    if reader != txn && !self.placed[reader as usize] && !self.holds[reader as usize] {
                        self.holds[reader as usize] = true;
                        problem.versions_by(reader).for_each(|v| self.held[problem.key[v as usize] as usize] += 1);
                    }
                }
            }
            self.wake(key);
        }
        if self.holds[txn as usize] {
            for version in problem.versions_by(txn) {
                let key = problem.key[version as usize];
                self.held[key as usize] -= 1;
                self.wake(key);
            }
        }
        let following = problem.following[txn as usize];
        if following != NONE {
            self.one_less(following);
        }
        for version in problem.versions_by(txn) {
            problem.readers.of(version).iter().for_each(|&reader| self.one_less(reader));
        }
        problem.seen_by.of(txn).iter().for_each(|&reader| self.one_less(reader));
        listed_after.of(txn).iter().for_each(|&after| self.one_less(after));
    }

    fn one_less(&mut self, txn: u32) {
        let missing = &mut self.missing[txn as usize];
        *missing -= 1;
        if *missing == 0 {
            self.becomes_ready(txn);
        }
    }
}
