//! Decides a problem exactly, by search. Made for the parts that guessing leaves over; any problem will do.
//!
//! The search is over orders of pairs of versions, but pairs are opened only when needed: an order of all nodes is
//! an order of all versions, and only where neighbours in it disagree with the order of the nodes does a pair become a choice.

use isonomy_solver::{Budget, Choice, Lemma, Outcome, Solver};
use rustc_hash::FxHashMap;

use super::graph;
use super::problem::Problem;
use crate::chains::NONE;
use crate::lists::Lists;

/// What came out.
pub(crate) enum Answer {
    /// An order of commits that shows the level holds.
    Order(Vec<u32>),
    /// No order of versions will do.
    Refuted(Refuted),
    /// The budget ended.
    Stopped,
}

/// Why no order of versions will do.
pub(crate) struct Refuted {
    /// For each choice the two versions: true if the first precedes the second.
    pub(crate) pairs: Vec<(u32, u32)>,
    /// What cannot all be, with the cycles that show it. The cycle of known edges alone is one without literals.
    pub(crate) lemmas: Vec<Lemma>,
}

/// Solves a problem. `facts` are versions that are known to precede others, `rank` is a guess at the order of the transactions.
pub(crate) fn solve(
    problem: &Problem,
    facts: &[(u32, u32)],
    rank: &dyn Fn(u32) -> u32,
    budget: &mut Budget<'_>,
) -> Answer {
    let known = graph::known(problem);
    let facts = graph::ordered(problem, known.len(), facts);
    let graphs = [&known, &facts];
    let order = match likely_order(problem, &graphs, rank) {
        Ok(order) => order,
        Err(cycle) => {
            let lemma = Lemma { literals: Vec::new(), cycle };
            return Answer::Refuted(Refuted { pairs: Vec::new(), lemmas: vec![lemma] });
        }
    };
    let mut solver = Solver::with_order(&order);
    for node in 0..known.len() as u32 {
        for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
            solver.add_edge(node, next).expect("known edges have no cycle");
        }
    }
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let mut opened: FxHashMap<(u32, u32), Choice> = FxHashMap::default();
    loop {
        match solver.solve(budget) {
            Outcome::Satisfiable => {}
            Outcome::Unsatisfiable => {
                return Answer::Refuted(Refuted { pairs, lemmas: solver.lemmas().to_vec() });
            }
            Outcome::Stopped => return Answer::Stopped,
        }
        let rules = problem.rules;
        let mut commits: Vec<u32> = (0..problem.count()).collect();
        commits.sort_unstable_by_key(|&txn| solver.position(rules.commit(txn)));
        let mut wrong = Vec::new();
        for (version, &next) in graph::next_versions(problem, &commits).iter().enumerate() {
            let version = version as u32;
            // Initial versions come first whatever is chosen.
            if next == NONE || version >= problem.written() {
                continue;
            }
            let mut agrees = true;
            graph::ordered_edges(problem, version, next, &mut |from, to| {
                agrees &= solver.position(from) < solver.position(to);
            });
            if !agrees {
                wrong.push((version, next));
            }
        }
        if wrong.is_empty() {
            return Answer::Order(commits);
        }
        for (version, next) in wrong {
            let pair = (version.min(next), version.max(next));
            // A choice that was made is in the order, so that each wrong pair is new.
            opened.entry(pair).or_insert_with(|| {
                pairs.push((version, next));
                let edges = |before, after| {
                    let mut edges = Vec::new();
                    graph::ordered_edges(problem, before, after, &mut |from, to| edges.push((from, to)));
                    edges
                };
                solver.add_choice(&edges(version, next), &edges(next, version), true)
            });
        }
    }
}

/// A topological order, by rank where there is freedom; or a cycle.
fn likely_order(problem: &Problem, graphs: &[&Lists], rank: &dyn Fn(u32) -> u32) -> Result<Vec<u32>, Vec<u32>> {
    use std::cmp::Reverse;
    let rules = problem.rules;
    let of_transactions = rules.nodes(problem.count());
    let key = |node: u32| if node < of_transactions { rank(rules.txn(node)) } else { 0 };
    let nodes = graphs[0].len();
    let mut missing = vec![0u32; nodes];
    graphs.iter().flat_map(|graph| graph.items()).for_each(|&next| missing[next as usize] += 1);
    let mut ready: std::collections::BinaryHeap<Reverse<(u32, u32)>> =
        (0..nodes as u32).filter(|&n| missing[n as usize] == 0).map(|n| Reverse((key(n), n))).collect();
    let mut order = Vec::with_capacity(nodes);
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for &next in graphs.iter().flat_map(|graph| graph.of(node)) {
            missing[next as usize] -= 1;
            if missing[next as usize] == 0 {
                ready.push(Reverse((key(next), next)));
            }
        }
    }
    if order.len() == nodes {
        return Ok(order);
    }
    Err(graph::short_cycle(graphs))
}
