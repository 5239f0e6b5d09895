//! Histories whose order of versions is determined by what transactions read: no search, linear time.
//!
//! Whoever reads a version of a key and writes the key comes right after it, at every level that allows no lost update; so a
//! history in which every write follows a read of its key (mini-transactions: Wei et al., ICDE 2025) leaves no choice. Nor do list
//! reads, which show all elements between two. A version that two come right after is a lost update.
//!
//! Prefix allows lost updates. There whoever reads a version only comes *after* it, but if no version has two that do, the order of each
//! key is a path of reads, and determined all the same.

use super::engine::Decision;
use super::linear;
use super::problem::Problem;
use crate::chains::NONE;

/// What reads say of the order of versions.
pub(crate) enum Versions {
    /// They determine it: for each version, initial ones too, the next of its key, or [`NONE`].
    Determined(Vec<u32>),
    /// These two transactions cannot both come right after the version that a third one wrote, unless it is initial.
    Divergent(Vec<u32>),
    /// They leave something open.
    Open,
}

/// Asks reads for the order of versions.
pub(crate) fn versions(problem: &Problem) -> Versions {
    // More than one of a key follow nothing that was read: soon clear where writes are blind.
    if problem.listed.is_empty() && problem.updates.len() + problem.keys.len() < problem.written() as usize {
        return Versions::Open;
    }
    let mut next = vec![NONE; problem.written() as usize + problem.keys.len()];
    let divergent = |before: u32, one: u32, other: u32| {
        let written = before < problem.written();
        let writers = [one, other].into_iter().chain(written.then_some(before));
        let mut txns: Vec<u32> = writers.map(|version| problem.writer[version as usize]).collect();
        txns.sort_unstable();
        Versions::Divergent(txns)
    };
    for &(version, own) in &problem.updates {
        match std::mem::replace(&mut next[version as usize], own) {
            NONE => {}
            other if other == own => {}
            // Where lost updates are allowed, either may come first.
            _ if !problem.rules.conflict => return Versions::Open,
            other => return divergent(version, own, other),
        }
    }
    // Two versions that follow one by lists are unread ones, whose order is open.
    for &(before, after) in &problem.listed {
        if next[before as usize] != NONE && next[before as usize] != after {
            return Versions::Open;
        }
        next[before as usize] = after;
    }
    // The first version of a key follows nothing that is written; if only one does not, it is the first.
    let mut is_first = vec![true; problem.written() as usize];
    for &after in next.iter().filter(|&&after| after != NONE) {
        // What follows two may be a lost update of a list.
        if !std::mem::replace(&mut is_first[after as usize], false) {
            return Versions::Open;
        }
    }
    for version in 0..problem.written() {
        if is_first[version as usize] {
            let initial = problem.written() + problem.key[version as usize];
            if next[initial as usize] != NONE {
                return Versions::Open;
            }
            next[initial as usize] = version;
        }
    }
    Versions::Determined(next)
}

/// Decides a problem whose order of versions is determined; `None` if it is not.
pub(crate) fn decide(problem: &Problem) -> Option<Decision> {
    let next = match versions(problem) {
        Versions::Determined(next) => next,
        Versions::Divergent(txns) => return Some(Decision::Violated(txns)),
        Versions::Open => return None,
    };
    let rules = problem.rules;
    let mut overwriter = next;
    for after in overwriter.iter_mut().filter(|after| **after != NONE) {
        *after = problem.writer[*after as usize];
    }
    let cycle = match linear::order(problem, &overwriter) {
        Ok(order) => return Some(Decision::Order(order)),
        Err(cycle) => cycle,
    };
    let mut txns: Vec<u32> = cycle.iter().map(|&node| rules.txn(node)).collect();
    // Who missed a write shows nothing without whoever wrote what was read instead.
    for (at, &from) in cycle.iter().enumerate() {
        let to = cycle[(at + 1) % cycle.len()];
        for &version in problem.reads.of(rules.txn(from)).iter().filter(|&&version| version < problem.written()) {
            let later = overwriter[version as usize];
            if later != NONE && rules.commit(later) == to {
                txns.push(problem.writer[version as usize]);
            }
        }
    }
    txns.sort_unstable();
    txns.dedup();
    Some(Decision::Violated(txns))
}
