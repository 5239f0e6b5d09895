//! Does an order of commits show that the level holds?
//!
//! Versions then have the order of their writers' commits, and each begin must find a place after some commits and before others:
//! begins are not ordered among themselves. Linear in the history, but for the sorting of times.

use super::problem::Problem;
use super::times::happens_before;
use crate::chains::NONE;

/// Whether each transaction finds a place to begin. `order` holds each transaction once.
pub(crate) fn holds(problem: &Problem, order: &[u32]) -> bool {
    let rules = problem.rules;
    let mut place = vec![0u32; order.len()];
    for (at, &txn) in order.iter().enumerate() {
        place[txn as usize] = at as u32;
    }
    if problem.listed.iter().any(|&(before, after)| {
        place[problem.writer[before as usize] as usize] > place[problem.writer[after as usize] as usize]
    }) {
        return false;
    }
    // The place after which each begins, counted from 1, and the place before which it begins.
    let mut after = vec![0u32; order.len()];
    let mut overwritten = vec![NONE; problem.written() as usize + problem.keys.len()];
    let mut current: Vec<u32> = (0..problem.keys.len() as u32).map(|key| problem.written() + key).collect();
    for (at, &txn) in order.iter().enumerate() {
        for version in problem.versions_by(txn) {
            let before = std::mem::replace(&mut current[problem.key[version as usize] as usize], version);
            overwritten[before as usize] = at as u32;
            if rules.conflict && before < problem.written() {
                let writer = problem.writer[before as usize];
                after[txn as usize] = after[txn as usize].max(place[writer as usize] + 1);
            }
        }
    }
    let mut until: Vec<u32> = place.clone();
    if rules.needs_times() && !real_time(problem, &place, &mut after, &mut until) {
        return false;
    }
    order.iter().enumerate().all(|(at, &txn)| {
        let mut after = after[txn as usize];
        let previous = problem.previous[txn as usize];
        if previous != NONE {
            after = after.max(place[previous as usize] + 1);
        }
        let mut until = until[txn as usize];
        for &version in problem.reads.of(txn) {
            if version < problem.written() {
                after = after.max(place[problem.writer[version as usize] as usize] + 1);
            }
            until = until.min(overwritten[version as usize]);
        }
        for &seen in problem.seen.of(txn) {
            after = after.max(place[seen as usize] + 1);
        }
        if rules.one_node { after <= at as u32 && until >= at as u32 } else { after <= until }
    })
}

/// What clocks say of begins; false if commits stand against it.
fn real_time(problem: &Problem, place: &[u32], after: &mut [u32], until: &mut [u32]) -> bool {
    let rules = problem.rules;
    let moments = &problem.moments;
    let mut by_latest: Vec<u32> = (0..problem.count()).collect();
    by_latest.sort_unstable_by_key(|&txn| moments[txn as usize].commit.1);
    let mut last_place = Vec::with_capacity(place.len());
    for &txn in &by_latest {
        let before = last_place.last().copied().unwrap_or(0);
        last_place.push((place[txn as usize] + 1).max(before));
    }
    // The last place of a commit that surely came before a moment, counted from 1.
    let committed_before = |moment: (i64, i64)| {
        let count =
            by_latest.partition_point(|&txn| happens_before(moments[txn as usize].commit, moment, rules.clock_drift));
        if count == 0 { 0 } else { last_place[count - 1] }
    };
    let mut by_earliest: Vec<u32> = (0..problem.count()).collect();
    by_earliest.sort_unstable_by_key(|&txn| std::cmp::Reverse(moments[txn as usize].commit.0));
    let mut first_place = Vec::with_capacity(place.len());
    for &txn in &by_earliest {
        let before = first_place.last().copied().unwrap_or(NONE);
        first_place.push(place[txn as usize].min(before));
    }
    (0..problem.count() as usize).all(|txn| {
        let mine = moments[txn];
        if rules.real_begins {
            after[txn] = after[txn].max(committed_before(mine.begin));
        }
        if rules.real_commits {
            let count = by_earliest.partition_point(|&other| {
                happens_before(mine.begin, moments[other as usize].commit, rules.clock_drift)
            });
            if count > 0 {
                until[txn] = until[txn].min(first_place[count - 1]);
            }
            return committed_before(mine.commit) <= place[txn];
        }
        true
    })
}
