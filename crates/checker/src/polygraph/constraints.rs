//! The papers' way, for comparisons: all constraints at once, pruned, and given to the solver.
//!
//! For each two writers of a key a constraint with two sides: the one's version precedes the other's, or the other way round, each with
//! the edges that follow (PolySI, §4). Variants, each of which can be switched off:
//! - *coalescing*: one constraint for each two transactions, whatever keys they share, and with all edges of a side. Without it the
//!   classic polygraph: one constraint for each read and other writer, and one for the order of each two writers.
//! - *read-modify-write inference*: whoever reads a version and writes the key comes right after it, so that versions form
//!   chains, and constraints are between chains (Cobra; Viper §6). Not at prefix.
//! - *pruning*: a side with an edge against what is known is dropped, the other becomes known, to the fixpoint (PolySI §4.3).
//!
//! This finds verdicts, and counts what the papers count. Evidence of a violation comes from the engine that is used otherwise.

use isonomy_solver::{Budget, Outcome, Solver};

use super::clocks::{Chains, Clocks, topological};
use super::graph;
use super::problem::Problem;
use super::replay;
use crate::chains::NONE;
use crate::check::{Ablation, Options, Stage};
use crate::lists::Lists;

/// How a problem came out.
pub(crate) enum Answer {
    /// An order of commits that shows that the level holds.
    Order(Vec<u32>),
    /// There is none.
    Violated,
    /// The caller stopped it.
    Stopped,
}

type Edges = Vec<(u32, u32)>;

/// Exactly one of two sets of edges is there.
struct Constraint {
    either: Edges,
    or: Edges,
}

/// Decides a problem, and tells what was counted.
pub(crate) fn decide(problem: &Problem, options: &Options<'_>) -> Answer {
    let Options { ablation, stop, stage, counted, .. } = *options;
    let known = graph::known(problem);
    let Some(mut facts) = read_modify_writes(problem, ablation) else { return Answer::Violated };
    let mut constraints = constraints(problem, &facts, ablation);
    let unknown = |constraints: &[Constraint]| -> u64 {
        constraints.iter().map(|constraint| (constraint.either.len() + constraint.or.len()) as u64).sum()
    };
    counted("constraints", constraints.len() as u64);
    counted("unknown_dependencies", unknown(&constraints));
    let mut edges: Edges = Vec::new();
    for (before, after) in facts.drain(..) {
        graph::ordered_edges(problem, before, after, &mut |from, to| edges.push((from, to)));
    }
    if ablation.prune {
        stage(Stage::Prune);
        match prune(problem, &known, &mut edges, &mut constraints, stop) {
            Some(true) => {}
            Some(false) => return Answer::Violated,
            None => return Answer::Stopped,
        }
        counted("constraints_after_pruning", constraints.len() as u64);
        counted("unknown_dependencies_after_pruning", unknown(&constraints));
    }
    stage(Stage::Solve);
    let learnt = lists(known.len(), &edges);
    let Some(order) = topological(&[&known, &learnt]) else { return Answer::Violated };
    let mut solver = Solver::with_order(&order);
    for node in 0..known.len() as u32 {
        for &next in known.of(node).iter().chain(learnt.of(node)) {
            solver.add_edge(node, next).expect("there is no cycle");
        }
    }
    for constraint in &constraints {
        solver.add_choice(&constraint.either, &constraint.or, true);
    }
    let outcome = solver.solve(&mut Budget::unlimited().with_stop(stop));
    let statistics = solver.statistics();
    counted("decisions", statistics.decisions);
    counted("conflicts", statistics.conflicts);
    match outcome {
        Outcome::Satisfiable => {
            let mut commits: Vec<u32> = (0..problem.count()).collect();
            commits.sort_unstable_by_key(|&txn| solver.position(problem.rules.commit(txn)));
            debug_assert!(replay::holds(problem, &commits), "all constraints are met");
            Answer::Order(commits)
        }
        Outcome::Unsatisfiable => Answer::Violated,
        Outcome::Stopped => Answer::Stopped,
    }
}

fn lists(nodes: usize, edges: &[(u32, u32)]) -> Lists {
    Lists::new(nodes, |add| edges.iter().for_each(|&(from, to)| add(from, to)))
}

/// Versions that come right after others: whoever wrote the former read the latter. `None` if two come right after one.
fn read_modify_writes(problem: &Problem, ablation: Ablation) -> Option<Vec<(u32, u32)>> {
    let mut next = vec![NONE; problem.written() as usize + problem.keys.len()];
    let mut pairs = Vec::new();
    if !ablation.rmw_inference || !problem.rules.conflict {
        return Some(pairs);
    }
    for &(version, own) in &problem.updates {
        match std::mem::replace(&mut next[version as usize], own) {
            NONE if version < problem.written() => pairs.push((version, own)),
            NONE => {}
            other if other == own => {}
            _ => return None,
        }
    }
    Some(pairs)
}

/// All constraints between versions, or chains of versions, of one key.
fn constraints(problem: &Problem, chained: &[(u32, u32)], ablation: Ablation) -> Vec<Constraint> {
    // The last version of the chain that each first one begins; versions that are not first ones have none.
    let written = problem.written() as usize;
    let mut next = vec![NONE; written];
    let mut is_first = vec![true; written];
    for &(before, after) in chained {
        next[before as usize] = after;
        is_first[after as usize] = false;
    }
    let last = |first: u32| {
        let mut at = first;
        while next[at as usize] != NONE {
            at = next[at as usize];
        }
        at
    };
    // Both transactions of each constraint, and the pairs of versions of its sides.
    let mut pairs: Vec<[u32; 6]> = Vec::new();
    for key in 0..problem.keys.len() as u32 {
        let firsts: Vec<u32> =
            problem.versions().of(key).iter().copied().filter(|&version| is_first[version as usize]).collect();
        let lasts: Vec<u32> = firsts.iter().map(|&first| last(first)).collect();
        for one in 0..firsts.len() {
            for other in one + 1..firsts.len() {
                let sides = [lasts[one], firsts[other], lasts[other], firsts[one]];
                let by = |version: u32| problem.writer[version as usize];
                // Chains of several are constrained by themselves: their ends are of four transactions.
                let single = firsts[one] == lasts[one] && firsts[other] == lasts[other];
                let (a, b) = if single && ablation.coalesce {
                    (by(firsts[one]).min(by(firsts[other])), by(firsts[one]).max(by(firsts[other])))
                } else {
                    (NONE, pairs.len() as u32)
                };
                // The transaction of the smaller number comes first on the first side.
                let [p, q, r, s] = sides;
                let swap = single && by(p) > by(q);
                pairs.push(if swap { [a, b, r, s, p, q] } else { [a, b, p, q, r, s] });
            }
        }
    }
    pairs.sort_unstable();
    let edges = |before: u32, after: u32, into: &mut Edges| {
        graph::ordered_edges(problem, before, after, &mut |from, to| into.push((from, to)));
    };
    let mut constraints = Vec::new();
    for group in pairs.chunk_by(|one, other| (one[0], one[1]) == (other[0], other[1])) {
        let mut constraint = Constraint { either: Vec::new(), or: Vec::new() };
        for &[_, _, before, after, other_before, other_after] in group {
            edges(before, after, &mut constraint.either);
            edges(other_before, other_after, &mut constraint.or);
        }
        if ablation.coalesce {
            for side in [&mut constraint.either, &mut constraint.or] {
                side.sort_unstable();
                side.dedup();
            }
            constraints.push(constraint);
        } else {
            classic(&constraint, &mut constraints);
        }
    }
    constraints
}

/// A constraint as classic ones. Of each side the first edge is between the writers, the others are of readers: each reader of the one
/// version comes before the writer of the other, or that one's version is the earlier.
fn classic(constraint: &Constraint, constraints: &mut Vec<Constraint>) {
    let (either, or) = (&constraint.either, &constraint.or);
    constraints.push(Constraint { either: vec![either[0]], or: vec![or[0]] });
    for (side, other) in [(either, or), (or, either)] {
        for &edge in &side[1..] {
            constraints.push(Constraint { either: vec![edge], or: vec![other[0]] });
        }
    }
}

/// Drops sides that cannot be, until there are none. False if both sides of a constraint cannot be; `None` if stopped.
fn prune(
    problem: &Problem,
    known: &Lists,
    edges: &mut Edges,
    constraints: &mut Vec<Constraint>,
    stop: &dyn Fn() -> bool,
) -> Option<bool> {
    let rules = problem.rules;
    let chains = Chains::of(problem);
    let mut clocks = Clocks::new(known.len(), &chains);
    loop {
        if stop() {
            return None;
        }
        let learnt = lists(known.len(), edges);
        let graphs = [known, &learnt];
        let Some(order) = topological(&graphs) else { return Some(false) };
        let mut excluded = vec![(false, false); constraints.len()];
        clocks.visit(problem, &graphs, &order, &chains, |clocks| {
            let cannot_be = |&(from, to): &(u32, u32)| {
                let txn = rules.txn(to);
                clocks.keeps(&chains, txn)
                    && if to == rules.begin(txn) {
                        clocks.begins_before(&chains, txn, from)
                    } else {
                        clocks.commits_before(&chains, txn, from)
                    }
            };
            for (constraint, excluded) in constraints.iter().zip(&mut excluded) {
                excluded.0 = excluded.0 || constraint.either.iter().any(cannot_be);
                excluded.1 = excluded.1 || constraint.or.iter().any(cannot_be);
            }
        });
        let before = constraints.len();
        let mut excluded = excluded.into_iter();
        let mut possible = true;
        constraints.retain_mut(|constraint| {
            let side = match excluded.next().expect("there is one for each") {
                (true, true) => {
                    possible = false;
                    return true;
                }
                (true, false) => &mut constraint.or,
                (false, true) => &mut constraint.either,
                (false, false) => return true,
            };
            edges.append(side);
            false
        });
        if !possible {
            return Some(false);
        }
        if constraints.len() == before {
            return Some(true);
        }
    }
}
