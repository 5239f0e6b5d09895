//! Histories whose order of versions is determined by what transactions read: no search, linear time.
//!
//! Whoever reads a version of a key and writes the key comes right after it, at every level that allows no lost update; so a
//! history in which every write follows a read of its key (mini-transactions: Wei et al., ICDE 2025) leaves no choice. Nor do list
//! reads, which show all elements between two. A version that two come right after is a lost update.

use super::clocks::topological;
use super::engine::{self, Decision};
use super::graph;
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
    // Where lost updates are allowed, a read says nothing of what comes next.
    if !problem.rules.conflict {
        return Versions::Open;
    }
    let mut next = vec![NONE; problem.written() as usize + problem.keys.len()];
    let mut follows = 0u32;
    let mut link = |before: u32, after: u32| {
        let other = std::mem::replace(&mut next[before as usize], after);
        follows += u32::from(other == NONE);
        if other == NONE || other == after { None } else { Some(other) }
    };
    let divergent = |before: u32, one: u32, other: u32| {
        let written = before < problem.written();
        let writers = [one, other].into_iter().chain(written.then_some(before));
        let mut txns: Vec<u32> = writers.map(|version| problem.writer[version as usize]).collect();
        txns.sort_unstable();
        Versions::Divergent(txns)
    };
    for txn in 0..problem.count() {
        for &version in problem.reads.of(txn) {
            if let Some(own) = problem.version_of(txn, problem.key_of(version))
                && let Some(other) = link(version, own)
            {
                return divergent(version, own, other);
            }
        }
    }
    // Two versions that follow one by lists are unread ones, whose order is open.
    for &(before, after) in &problem.listed {
        if next[before as usize] != NONE && next[before as usize] != after {
            return Versions::Open;
        }
        follows += u32::from(next[before as usize] == NONE);
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
            follows += 1;
            next[initial as usize] = version;
        }
    }
    if follows == problem.written() { Versions::Determined(next) } else { Versions::Open }
}

/// Decides a problem whose order of versions is determined; `None` if it is not.
pub(crate) fn decide(problem: &Problem) -> Option<Decision> {
    let next = match versions(problem) {
        Versions::Determined(next) => next,
        Versions::Divergent(txns) => return Some(Decision::Violated(txns)),
        Versions::Open => return None,
    };
    let rules = problem.rules;
    let graph = graph::full(problem, &next);
    if let Some(order) = topological(&[&graph]) {
        let commits = order.into_iter().filter(|&node| engine::is_commit(problem, node));
        return Some(Decision::Order(commits.map(|node| rules.txn(node)).collect()));
    }
    let cycle = graph::short_cycle(&[&graph]);
    let mut txns = graph::cycle_transactions(problem, &cycle);
    // Who missed a write shows nothing without whoever wrote what was read instead.
    for (at, &from) in cycle.iter().enumerate().filter(|(_, node)| **node < rules.nodes(problem.count())) {
        let to = cycle[(at + 1) % cycle.len()];
        let reader = rules.txn(from);
        for &version in problem.reads.of(reader).iter().filter(|&&version| version < problem.written()) {
            let after = next[version as usize];
            if after != NONE && rules.commit(problem.writer[after as usize]) == to {
                txns.push(problem.writer[version as usize]);
            }
        }
    }
    txns.sort_unstable();
    txns.dedup();
    Some(Decision::Violated(txns))
}
