//! What holds in every visibility that explains the answers, as far as one sweep in each direction tells.
//!
//! The rest follows change by change, in `bounds`. Doing all of it so would carry each fact along its whole replica.

use super::sort::sort;
use crate::problem::Problem;

pub(super) struct Root {
    pub(super) lower: Vec<u32>,
    pub(super) upper: Vec<u32>,
    /// All operations, each after those that it surely saw.
    pub(super) order: Vec<u32>,
}

/// Bounds from what is known at once; `None` if some operation would have seen itself.
pub(super) fn sweep(problem: &Problem<'_>) -> Option<Root> {
    let replicas = problem.replicas as usize;
    let mut lower = known(problem);
    let order = topological(problem, &lower)?;
    for &op in &order {
        see(problem, &mut lower, op);
    }
    let mut upper = widest(problem);
    for &(what, who) in &problem.unseen {
        let limit = &mut upper[who as usize * replicas + problem.replica(what) as usize];
        *limit = (*limit).min(problem.position(what));
    }
    for &op in order.iter().rev() {
        limit(problem, &lower, &mut upper, op);
    }
    let possible = lower.iter().zip(&upper).all(|(lower, upper)| lower <= upper);
    possible.then_some(Root { lower, upper, order })
}

/// Upper bounds that say nothing: an operation may see all of the other replicas.
pub(super) fn widest(problem: &Problem<'_>) -> Vec<u32> {
    let mut upper = Vec::with_capacity(problem.len() * problem.replicas as usize + problem.choices.len());
    for op in 0..problem.len() as u32 {
        for replica in 0..problem.replicas {
            let all = problem.first[replica as usize + 1] - problem.first[replica as usize];
            upper.push(if replica == problem.replica(op) { problem.position(op) } else { all });
        }
    }
    upper.extend(problem.choices.iter().map(|candidates| candidates - 1));
    upper
}

/// All operations, each after those that it surely saw; `None` if some operation would have seen itself.
pub(super) fn order(problem: &Problem<'_>) -> Option<Vec<u32>> {
    topological(problem, &known(problem))
}

/// What answers alone tell, nothing carried on.
fn known(problem: &Problem<'_>) -> Vec<u32> {
    let replicas = problem.replicas as usize;
    let mut lower = vec![0; problem.len() * replicas + problem.choices.len()];
    for &(what, who) in &problem.seen {
        let known = &mut lower[who as usize * replicas + problem.replica(what) as usize];
        *known = (*known).max(problem.position(what) + 1);
    }
    lower
}

/// The last operation of a replica among so many.
fn last(problem: &Problem<'_>, replica: usize, count: u32) -> usize {
    (problem.first[replica] + count - 1) as usize
}

fn topological(problem: &Problem<'_>, lower: &[u32]) -> Option<Vec<u32>> {
    let replicas = problem.replicas as usize;
    let sources = |op: usize| {
        let cross = (0..replicas).filter(move |&replica| lower[op * replicas + replica] > 0);
        let cross = cross.map(move |replica| last(problem, replica, lower[op * replicas + replica]));
        cross.chain((problem.position(op as u32) > 0).then(|| op - 1))
    };
    let edges = (0..problem.len()).flat_map(|op| sources(op).map(move |source| (source as u32, op as u32)));
    sort(problem.len(), edges).ok()
}

/// An operation saw what those saw that it saw.
fn see(problem: &Problem<'_>, lower: &mut [u32], op: u32) {
    let (op, replicas) = (op as usize, problem.replicas as usize);
    let home = problem.replica(op as u32) as usize;
    for replica in 0..replicas {
        let count = lower[op * replicas + replica];
        if count > 0 && replica != home {
            merge(lower, last(problem, replica, count), op, replicas);
        }
    }
    if problem.position(op as u32) > 0 {
        merge(lower, op - 1, op, replicas);
    }
    lower[op * replicas + home] = problem.position(op as u32);
}

fn merge(lower: &mut [u32], from: usize, into: usize, replicas: usize) {
    for replica in 0..replicas {
        lower[into * replicas + replica] = lower[into * replicas + replica].max(lower[from * replicas + replica]);
    }
}

/// What an operation did not see, those did not see that it saw.
fn limit(problem: &Problem<'_>, lower: &[u32], upper: &mut [u32], op: u32) {
    let (op, replicas) = (op as usize, problem.replicas as usize);
    for replica in 0..replicas {
        let count = lower[op * replicas + replica];
        if count > 0 {
            let seen = last(problem, replica, count);
            for other in 0..replicas {
                upper[seen * replicas + other] = upper[seen * replicas + other].min(upper[op * replicas + other]);
            }
        }
    }
}
