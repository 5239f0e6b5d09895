//! What must precede what in every order, as far as it can be told before the search.
//!
//! Where `r` reads a version of `x` that `t` wrote and `u` writes `x` too,
//!
//! 1. if `u` commits before `r` begins, the version of `u` is older than that of `t`;
//! 2. if the version of `t` is older than that of `u`, then `r` begins before `u` commits;
//! 3. where of two writers of a key one sees the other: if `t` begins before `u` commits, then `t` commits before `u` begins.
//!
//! These are applied until nothing new follows. A cycle shows that no order exists. The search needs none of this; it would find
//! each contradiction only after all that may come before it, in every order.
//!
//! Invariant: `clocks[p * chains + c]` parts of chain `c` are known to precede part `p`.

use super::NONE;
use super::problem::{Lists, Problem};

/// Beyond this many numbers (64 MB) the clocks are left out, and only what is given is tested for cycles.
const MOST_NUMBERS: usize = 1 << 24;
/// Each round goes through the whole block; few find anything after the first three.
const MOST_ROUNDS: usize = 12;

/// No order exists.
pub(super) struct Contradiction;

/// Adds edges, and marks writes whose place among the writers of the key is known.
pub(super) fn infer(problem: &mut Problem, stop: &dyn Fn() -> bool) -> Result<(), Contradiction> {
    let chains = problem.chains.len() - 1;
    if problem.part_count().saturating_mul(chains) > MOST_NUMBERS {
        return topological(problem).map(|_| ());
    }
    let groups = Groups::of(problem);
    let mut inference = Inference { clocks: Vec::new(), chains, problem, groups, found: Vec::new(), stop };
    for _ in 0..MOST_ROUNDS {
        inference.wind()?;
        inference.apply()?;
        if inference.found.is_empty() {
            break;
        }
        inference.problem.edges.append(&mut inference.found);
    }
    // What was found last may be contradictory.
    inference.wind()?;
    inference.mark_places();
    Ok(())
}

/// The parts in an order that agrees with all edges.
fn topological(problem: &Problem) -> Result<(Vec<u32>, Lists<u32>), Contradiction> {
    let parts = problem.part_count();
    let after = Lists::new(parts, &problem.edges);
    let mut missing = vec![0u32; parts];
    for &(_, head) in &problem.edges {
        missing[head as usize] += 1;
    }
    let mut order: Vec<u32> = (0..parts as u32).filter(|&part| missing[part as usize] == 0).collect();
    let mut next = 0;
    while let Some(&part) = order.get(next) {
        next += 1;
        for &head in after.of(part) {
            missing[head as usize] -= 1;
            if missing[head as usize] == 0 {
                order.push(head);
            }
        }
    }
    if order.len() == parts { Ok((order, after)) } else { Err(Contradiction) }
}

/// The writers of each key, those of one chain together.
struct Groups {
    /// For each key, chain by chain, where the chain's writers begin among the key's, and where they end.
    of_key: Lists<(u32, u32)>,
}

impl Groups {
    fn of(problem: &Problem) -> Self {
        let mut groups = Vec::new();
        for key in 0..problem.key_count() as u32 {
            let writers = problem.writers.of(key);
            let mut first = 0;
            let chain = |txn: u32| problem.places[problem.read_part(txn) as usize].0;
            for group in writers.chunk_by(|&a, &b| chain(a) == chain(b)) {
                groups.push((key, (first, first + group.len() as u32)));
                first += group.len() as u32;
            }
        }
        Groups { of_key: Lists::new(problem.key_count(), &groups) }
    }
}

struct Inference<'p> {
    problem: &'p mut Problem,
    /// When it says true, less is found, and all of that is right.
    stop: &'p dyn Fn() -> bool,
    groups: Groups,
    chains: usize,
    clocks: Vec<u32>,
    found: Vec<(u32, u32)>,
}

impl Inference<'_> {
    /// Makes the clocks.
    fn wind(&mut self) -> Result<(), Contradiction> {
        let (order, after) = topological(self.problem)?;
        self.clocks.clear();
        self.clocks.resize(self.problem.part_count() * self.chains, 0);
        let mut own = vec![0; self.chains];
        for (done, part) in order.into_iter().enumerate() {
            if done.is_multiple_of(1024) && (self.stop)() {
                break;
            }
            let from = part as usize * self.chains;
            own.copy_from_slice(&self.clocks[from..from + self.chains]);
            let (chain, position) = self.problem.places[part as usize];
            own[chain as usize] = own[chain as usize].max(position + 1);
            for &head in after.of(part) {
                let from = head as usize * self.chains;
                for (known, &also) in self.clocks[from..from + self.chains].iter_mut().zip(&own) {
                    *known = (*known).max(also);
                }
            }
        }
        Ok(())
    }

    /// Whether a part is known to precede another.
    fn precedes(&self, part: u32, other: u32) -> bool {
        let (chain, position) = self.problem.places[part as usize];
        position < self.clocks[other as usize * self.chains + chain as usize]
    }

    fn add(&mut self, part: u32, other: u32) -> Result<(), Contradiction> {
        if part == other {
            return Err(Contradiction);
        }
        if !self.precedes(part, other) {
            let (chain, position) = self.problem.places[part as usize];
            self.clocks[other as usize * self.chains + chain as usize] = position + 1;
            self.found.push((part, other));
        }
        Ok(())
    }

    /// The part of a writer that comes after the commits of all who write older versions, and before those of all who write newer ones.
    fn version_part(&self, txn: u32) -> u32 {
        if self.problem.rules.conflict { self.problem.read_part(txn) } else { self.problem.write_part(txn) }
    }

    fn apply(&mut self) -> Result<(), Contradiction> {
        for version in 0..self.problem.versions.len() as u32 {
            if version.is_multiple_of(1024) && (self.stop)() {
                break;
            }
            let (key, writer) = self.problem.versions[version as usize];
            for group in 0..self.groups.of_key.of(key).len() {
                let (first, last) = self.groups.of_key.of(key)[group];
                self.older(version, key, writer, first, last)?;
                self.newer(version, key, writer, first, last)?;
            }
        }
        Ok(())
    }

    /// Rule 1, for the writers of one chain. The last of them that is older is enough.
    fn older(&mut self, version: u32, key: u32, writer: u32, first: u32, last: u32) -> Result<(), Contradiction> {
        for at in 0..self.problem.readers.of(version).len() {
            let reader = self.problem.read_part(self.problem.readers.of(version)[at]);
            let writers = &self.problem.writers.of(key)[first as usize..last as usize];
            let seen = writers.partition_point(|&other| self.precedes(self.problem.write_part(other), reader));
            let Some(&older) = writers[..seen].last() else { continue };
            if writer == NONE {
                return Err(Contradiction);
            }
            if older != writer {
                self.add(self.problem.write_part(older), self.version_part(writer))?;
            }
        }
        Ok(())
    }

    /// Rules 2 and 3, for the writers of one chain. The first of them that is newer is enough.
    fn newer(&mut self, version: u32, key: u32, writer: u32, first: u32, last: u32) -> Result<(), Contradiction> {
        let problem = &*self.problem;
        let writers = &problem.writers.of(key)[first as usize..last as usize];
        let is_newer = |&other: &u32| {
            let after = || self.precedes(self.version_part(writer), problem.write_part(other));
            writer == NONE || other != writer && after()
        };
        // What was found in this round may be known of a writer and not yet of those behind it in the chain.
        let at = writers.partition_point(|other| !is_newer(other));
        let Some(&newer) = writers.get(at).filter(|other| is_newer(other)) else { return Ok(()) };
        if writer != NONE && problem.rules.conflict {
            self.add(self.problem.write_part(writer), self.problem.read_part(newer))?;
        }
        for at in 0..self.problem.readers.of(version).len() {
            let reader = self.problem.readers.of(version)[at];
            if reader != newer {
                self.add(self.problem.read_part(reader), self.problem.write_part(newer))?;
            }
        }
        Ok(())
    }

    fn mark_places(&mut self) {
        for txn in 0..self.problem.txns.len() as u32 {
            for at in 0..self.problem.writes.of(txn).len() {
                let key = self.problem.writes.of(txn)[at].key;
                let has_place = self.groups.of_key.of(key).iter().all(|&(first, last)| {
                    let writers = &self.problem.writers.of(key)[first as usize..last as usize];
                    let (before, after) = (self.version_part(txn), self.problem.write_part(txn));
                    let older = writers.partition_point(|&other| self.precedes(self.problem.write_part(other), before));
                    writers[older..]
                        .iter()
                        .find(|&&other| other != txn)
                        .is_none_or(|&other| self.precedes(after, self.version_part(other)))
                });
                self.problem.writes.of_mut(txn)[at].has_place = has_place;
            }
        }
    }
}
