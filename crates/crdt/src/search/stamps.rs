//! An order of timestamps: every operation after those that it saw, and as the answers ask.

use super::bounds::{Bounds, Conflict, Literal};
use super::sort::sort;
use crate::problem::{Problem, Rule};

/// The first has a lower timestamp than the second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) reason: Reason,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Reason {
    /// The order of the replica.
    Order,
    /// What lists tell.
    Lists,
    /// The second saw the first.
    Seen,
    /// The read saw the first and chose the second.
    Chosen { read: u32, variable: u32 },
}

/// All operations in an order of timestamps, or a circle.
pub(super) fn arrange(problem: &Problem<'_>, bounds: &Bounds<'_>) -> Result<Vec<u32>, Vec<Edge>> {
    let mut edges = Vec::new();
    seen(problem, bounds, &mut edges);
    edges.extend(problem.before.iter().map(|&(from, to)| Edge { from, to, reason: Reason::Lists }));
    chosen(problem, bounds, &mut edges);
    let pairs = edges.iter().map(|edge| (edge.from, edge.to));
    sort(problem.len(), pairs).map_err(|waiting| circle(problem, &edges, &waiting))
}

fn seen(problem: &Problem<'_>, bounds: &Bounds<'_>, edges: &mut Vec<Edge>) {
    for op in 0..problem.len() as u32 {
        let home = problem.replica(op);
        let first = problem.position(op) == 0;
        if !first {
            edges.push(Edge { from: op - 1, to: op, reason: Reason::Order });
        }
        for replica in (0..problem.replicas).filter(|&replica| replica != home) {
            let count = bounds.least(op, replica);
            if count > if first { 0 } else { bounds.least(op - 1, replica) } {
                let from = problem.first[replica as usize] + count - 1;
                edges.push(Edge { from, to: op, reason: Reason::Seen });
            }
        }
    }
}

/// Of the writes that a read saw, the last is the one whose value it returned.
fn chosen(problem: &Problem<'_>, bounds: &Bounds<'_>, edges: &mut Vec<Edge>) {
    for query in &problem.queries {
        let Rule::Choice { variable, candidates, writes } = query.rule else { continue };
        let (choice, most) = bounds.choice(variable);
        if choice < most {
            continue;
        }
        let write = problem.members(candidates)[choice as usize];
        for replica in 0..problem.replicas {
            if let Some(other) = problem.last_of(writes, replica, bounds.least(query.op, replica))
                && other != write
            {
                edges.push(Edge { from: other, to: write, reason: Reason::Chosen { read: query.op, variable } });
            }
        }
    }
}

/// A circle among the operations that still wait: each has an edge from another that waits.
fn circle(problem: &Problem<'_>, edges: &[Edge], waiting: &[u32]) -> Vec<Edge> {
    let mut into = vec![u32::MAX; problem.len()];
    for (number, edge) in edges.iter().enumerate() {
        if waiting[edge.from as usize] > 0 && waiting[edge.to as usize] > 0 {
            into[edge.to as usize] = number as u32;
        }
    }
    let start = waiting.iter().position(|&count| count > 0).expect("some operation waits") as u32;
    let mut met = vec![false; problem.len()];
    let mut at = start;
    while !met[at as usize] {
        met[at as usize] = true;
        at = edges[into[at as usize] as usize].from;
    }
    let (first, mut circle) = (at, Vec::new());
    loop {
        let edge = edges[into[at as usize] as usize];
        circle.push(edge);
        at = edge.from;
        if at == first {
            circle.reverse();
            return circle;
        }
    }
}

/// The bounds that a circle follows from.
pub(super) fn literals(problem: &Problem<'_>, bounds: &Bounds<'_>, circle: &[Edge]) -> Conflict {
    let saw = |who: u32, what: u32| {
        Literal::at_least(bounds.variable(who, problem.replica(what)), problem.position(what) + 1)
    };
    let mut conflict = Vec::new();
    for edge in circle {
        match edge.reason {
            Reason::Order | Reason::Lists => {}
            Reason::Seen => conflict.push(saw(edge.to, edge.from)),
            Reason::Chosen { read, variable } => {
                let (choice, _) = bounds.choice(variable);
                conflict.push(saw(read, edge.from));
                conflict.extend([Literal::at_least(variable, choice), Literal::at_most(variable, choice)]);
            }
        }
    }
    conflict
}
