//! The search for an order, from frontier to frontier.
//!
//! A *frontier* is a set of parts that is closed under what is known to precede. A part may be added if all that precedes it is in, and
//!
//! - a part that writes `x`, if nobody else who is not in reads the current version of `x`: the one written last (`pending` counts these);
//! - a part that reads, where of two writers of a key one sees the other (`conflict`), if no other writer of a key that the
//!   transaction writes has begun and not committed (`locks` says who has);
//! - any part, if in real time nothing that is not in happened before it.
//!
//! All of this depends on the set alone and not on how it was reached, so a frontier from which no way led to the end is never tried again.
//! This is checkSER of Biswas, 2021, Algorithm 6, with the splitting of §3.3.2 and §3.3.3 done on the fly.
//!
//! **Moves without choice.** A part that may be added and whose transaction comes, in every order from here on, before all other writers of
//! each of its keys, is added at once: in any such order it can be moved to the front, since it takes nothing away from anybody. This covers
//! transactions that only read, those that read all they write, the last writers of keys; parts that read at `prefix`, where
//! nothing depends on when a transaction begins but what it reads; and parts that write once they have begun, where `conflict` keeps all
//! others away.
//!
//! **Looking ahead.** After a move by choice the version of each key it writes is the next one, so all who read it come before all other
//! writers of the key. If one of these is known to precede such a reader, the move was wrong.

use super::memo::Memo;
use super::problem::{Lists, Problem};
use super::time::RealTime;
use super::{Budget, NONE};

/// How a search ended.
pub(super) enum Found {
    /// With an order of all parts.
    Order(Vec<u32>),
    /// With no way left.
    Nothing,
    /// Before its time: the budget was spent, or the caller stopped it.
    Stopped,
    /// After more dead ends than there was patience for.
    Stuck,
}

/// How hard to try.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// How many dead ends are met before the search is stuck.
    pub(super) patience: u64,
    /// How many parts are looked at to see whether a move was wrong.
    pub(super) look_ahead: usize,
}

/// The most bytes for frontiers, a gigabyte.
const MOST_MEMORY: usize = 1 << 30;

/// Tries all ways, the most likely ones first: `ranks` has a number for each transaction.
pub(super) fn search(
    problem: &Problem,
    ranks: &[u32],
    time: Option<RealTime>,
    budget: &mut Budget<'_>,
    effort: Effort,
) -> Found {
    Search::new(problem, ranks, time).run(budget, effort)
}

/// A frontier on the way, and what is left to try from there.
struct Choice {
    /// How many parts were placed.
    placed: usize,
    /// Where its candidates begin; the last is tried first.
    candidates: usize,
}

struct Search<'p> {
    problem: &'p Problem,
    ranks: &'p [u32],
    time: Option<RealTime>,
    before: Lists<u32>,
    after: Lists<u32>,

    /// All that is placed, in order.
    order: Vec<u32>,
    placed: Vec<bool>,
    /// For each chain how many parts are placed.
    frontier: Vec<u32>,
    /// For each part how many that precede it are not placed.
    missing: Vec<u32>,
    /// Parts that are not placed although all that precedes them is.
    ready: Vec<u32>,
    /// Where each part stands there.
    ready_at: Vec<u32>,
    /// For each key the version written last.
    current: Vec<u32>,
    /// Versions that were current before, last first.
    replaced: Vec<u32>,
    /// For each key how many who are not placed read the current version.
    pending: Vec<u32>,
    /// For each key how many of its writers are not placed.
    unwritten: Vec<u32>,
    /// For each key the writer that has begun and not committed, where that keeps others away.
    locks: Vec<u32>,

    choices: Vec<Choice>,
    candidates: Vec<u32>,
    /// When each part was last looked at in looking ahead.
    seen: Vec<u32>,
    looks: u32,
    to_see: Vec<u32>,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem, ranks: &'p [u32], time: Option<RealTime>) -> Self {
        let parts = problem.part_count();
        let reversed: Vec<(u32, u32)> = problem.edges.iter().map(|&(tail, head)| (head, tail)).collect();
        let before = Lists::new(parts, &reversed);
        let keys = problem.key_count() as u32;
        let mut search = Search {
            problem,
            ranks,
            time,
            after: Lists::new(parts, &problem.edges),
            order: Vec::with_capacity(parts),
            placed: vec![false; parts],
            frontier: vec![0; problem.chains.len() - 1],
            missing: (0..parts as u32).map(|part| before.of(part).len() as u32).collect(),
            ready: Vec::new(),
            ready_at: vec![NONE; parts],
            current: (0..keys).collect(),
            replaced: Vec::new(),
            pending: (0..keys).map(|key| problem.readers.of(key).len() as u32).collect(),
            unwritten: (0..keys).map(|key| problem.writers.of(key).len() as u32).collect(),
            locks: vec![NONE; keys as usize],
            choices: Vec::new(),
            candidates: Vec::new(),
            seen: vec![0; parts],
            looks: 0,
            to_see: Vec::new(),
            before,
        };
        for part in (0..parts as u32).filter(|&part| search.missing[part as usize] == 0).collect::<Vec<_>>() {
            search.add_ready(part);
        }
        search
    }

    fn run(mut self, budget: &mut Budget<'_>, effort: Effort) -> Found {
        let mut dead_ends = 0;
        let mut memo = Memo::new(self.problem.chains.windows(2).map(|chain| chain[1] - chain[0]));
        loop {
            if !self.move_without_choice(budget) {
                return Found::Stopped;
            }
            if self.order.len() == self.placed.len() {
                return Found::Order(self.order);
            }
            if !budget.spend() || memo.size() > MOST_MEMORY {
                return Found::Stopped;
            }
            let is_new = memo.insert(&self.frontier);
            if is_new {
                self.collect_candidates();
            }
            let choices = self.choices.len();
            if !self.choose(effort.look_ahead) {
                return Found::Nothing;
            }
            dead_ends += u64::from(!is_new || self.choices.len() < choices);
            if dead_ends > effort.patience {
                return Found::Stuck;
            }
        }
    }

    /// Takes the next candidate of the last frontier that has one; false if none has.
    fn choose(&mut self, look_ahead: usize) -> bool {
        while let Some(&Choice { placed, candidates }) = self.choices.last() {
            while self.order.len() > placed {
                self.take_back();
            }
            if self.candidates.len() == candidates {
                self.choices.pop();
                continue;
            }
            let part = self.candidates.pop().expect("there are some beyond the first");
            self.place(part);
            if !self.is_wrong(part, look_ahead) {
                return true;
            }
        }
        false
    }

    fn collect_candidates(&mut self) {
        let first = self.candidates.len();
        self.choices.push(Choice { placed: self.order.len(), candidates: first });
        for at in 0..self.ready.len() {
            if self.may_be_placed(self.ready[at]) {
                self.candidates.push(self.ready[at]);
            }
        }
        let (problem, ranks) = (self.problem, self.ranks);
        self.candidates[first..].sort_unstable_by_key(|&part| std::cmp::Reverse(ranks[problem.role(part).0 as usize]));
    }

    /// Places what can be placed without choice; false if there is no time left.
    fn move_without_choice(&mut self, budget: &Budget<'_>) -> bool {
        let mut moved = true;
        while std::mem::take(&mut moved) {
            let mut at = 0;
            while at < self.ready.len() {
                let part = self.ready[at];
                if self.may_be_placed(part) && self.needs_no_choice(part) {
                    if self.order.len().is_multiple_of(1024) && (budget.settings.stop)() {
                        return false;
                    }
                    // Another one takes its place among the ready ones.
                    self.place(part);
                    moved = true;
                } else {
                    at += 1;
                }
            }
        }
        true
    }

    /// Whether a ready part may be placed now.
    fn may_be_placed(&self, part: u32) -> bool {
        let problem = self.problem;
        let (txn, reads, writes) = problem.role(part);
        let own = |reads_it: bool| u32::from(reads && reads_it);
        let free = problem.writes.of(txn).iter().all(|write| {
            if writes {
                self.pending[write.key as usize] == own(write.reads_it)
            } else {
                self.locks[write.key as usize] == NONE
            }
        });
        let placed = |other: u32, commit: bool| self.is_placed(other, commit);
        free && self.time.as_ref().is_none_or(|time| time.allows(txn, reads, writes, placed))
    }

    #[inline]
    fn is_placed(&self, txn: u32, commit: bool) -> bool {
        self.placed[if commit { self.problem.write_part(txn) } else { self.problem.read_part(txn) } as usize]
    }

    /// Whether a part that may be placed comes before all others that it could hinder.
    fn needs_no_choice(&self, part: u32) -> bool {
        let problem = self.problem;
        let rules = problem.rules;
        let (txn, reads, _) = problem.role(part);
        if !rules.atomic && rules.conflict != reads {
            return true;
        }
        problem.writes.of(txn).iter().all(|write| {
            let others = self.unwritten[write.key as usize] - 1;
            write.has_place || others == write.later_in_chain || rules.conflict && write.reads_it
        })
    }

    fn place(&mut self, part: u32) {
        let problem = self.problem;
        let (txn, reads, writes) = problem.role(part);
        debug_assert!(!self.placed[part as usize] && self.missing[part as usize] == 0);
        self.remove_ready(part);
        self.order.push(part);
        self.placed[part as usize] = true;
        self.frontier[problem.places[part as usize].0 as usize] += 1;
        if reads {
            for &version in problem.reads.of(txn) {
                self.pending[problem.versions[version as usize].0 as usize] -= 1;
            }
        }
        for write in problem.writes.of(txn) {
            let key = write.key as usize;
            if writes {
                debug_assert_eq!(self.pending[key], 0);
                self.replaced.push(self.current[key]);
                self.current[key] = write.version;
                self.pending[key] = problem.readers.of(write.version).len() as u32;
                self.unwritten[key] -= 1;
            }
            if problem.rules.locks() {
                self.locks[key] = if writes { NONE } else { txn };
            }
        }
        for at in 0..self.after.of(part).len() {
            let next = self.after.of(part)[at];
            self.missing[next as usize] -= 1;
            if self.missing[next as usize] == 0 {
                self.add_ready(next);
            }
        }
        if let Some(mut time) = self.time.take() {
            time.place(|txn, commit| self.is_placed(txn, commit));
            self.time = Some(time);
        }
    }

    /// Takes back what was placed last.
    fn take_back(&mut self) {
        let problem = self.problem;
        let part = self.order.pop().expect("there is something to take back");
        let (txn, reads, writes) = problem.role(part);
        for at in 0..self.after.of(part).len() {
            let next = self.after.of(part)[at];
            if self.missing[next as usize] == 0 {
                self.remove_ready(next);
            }
            self.missing[next as usize] += 1;
        }
        for write in problem.writes.of(txn).iter().rev() {
            let key = write.key as usize;
            if writes {
                self.current[key] = self.replaced.pop().expect("each version replaced another");
                self.pending[key] = 0;
                self.unwritten[key] += 1;
            }
            if problem.rules.locks() {
                self.locks[key] = if writes { txn } else { NONE };
            }
        }
        if reads {
            for &version in problem.reads.of(txn) {
                self.pending[problem.versions[version as usize].0 as usize] += 1;
            }
        }
        self.frontier[problem.places[part as usize].0 as usize] -= 1;
        self.placed[part as usize] = false;
        self.add_ready(part);
        if let Some(time) = &mut self.time {
            time.take_back(txn, reads, writes);
        }
    }

    fn add_ready(&mut self, part: u32) {
        self.ready_at[part as usize] = self.ready.len() as u32;
        self.ready.push(part);
    }

    fn remove_ready(&mut self, part: u32) {
        let at = std::mem::replace(&mut self.ready_at[part as usize], NONE) as usize;
        self.ready.swap_remove(at);
        if let Some(&moved) = self.ready.get(at) {
            self.ready_at[moved as usize] = at as u32;
        }
    }

    /// Whether no order can follow the move by choice that was just made, as far as looking ahead goes.
    fn is_wrong(&mut self, part: u32, look_ahead: usize) -> bool {
        let problem = self.problem;
        let (txn, _, writes) = problem.role(part);
        problem.writes.of(txn).iter().any(|write| {
            let others = self.unwritten[write.key as usize] - u32::from(!writes);
            if others == 0 {
                return false;
            }
            self.to_see.clear();
            self.to_see.extend(problem.readers.of(write.version).iter().map(|&reader| problem.read_part(reader)));
            if self.is_preceded(|other| problem.role(other).2, txn, write.key, look_ahead) {
                return true;
            }
            // It has begun, so it commits before the other writers begin.
            self.to_see.clear();
            self.to_see.extend((!writes).then_some(problem.write_part(txn)));
            self.is_preceded(|other| problem.role(other).1, txn, write.key, look_ahead)
        })
    }

    /// Whether some part that is not placed, is one of `wanted`, and is of another writer of `key` than `txn`, precedes one of the parts
    /// `to_see`.
    fn is_preceded(&mut self, wanted: impl Fn(u32) -> bool, txn: u32, key: u32, most: usize) -> bool {
        let problem = self.problem;
        self.looks += 1;
        for _ in 0..most {
            let Some(part) = self.to_see.pop() else { break };
            let first = self.to_see.len();
            self.push_preceding(part);
            for &before in &self.to_see[first..] {
                let other = problem.role(before).0;
                if other != txn && wanted(before) && problem.writes_key(other, key) {
                    return true;
                }
            }
            let (looks, seen) = (self.looks, &mut self.seen);
            let mut kept = first;
            for at in first..self.to_see.len() {
                let before = self.to_see[at];
                if std::mem::replace(&mut seen[before as usize], looks) != looks {
                    self.to_see[kept] = before;
                    kept += 1;
                }
            }
            self.to_see.truncate(kept);
        }
        false
    }

    /// Adds to `to_see` what is not placed and must be placed before a part, from here on.
    fn push_preceding(&mut self, part: u32) {
        let problem = self.problem;
        let (txn, reads, writes) = problem.role(part);
        let placed = &self.placed;
        let is_left = |other: &u32| !placed[*other as usize];
        self.to_see.extend(self.before.of(part).iter().copied().filter(is_left));
        for write in problem.writes.of(txn) {
            let key = write.key as usize;
            if writes && self.pending[key] > 0 {
                let readers = problem.readers.of(self.current[key]).iter().filter(|&&reader| reader != txn);
                self.to_see.extend(readers.map(|&reader| problem.read_part(reader)).filter(is_left));
            }
            if reads && self.locks[key] != NONE && self.locks[key] != txn {
                self.to_see.push(problem.write_part(self.locks[key]));
            }
        }
    }
}
