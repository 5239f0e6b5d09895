//! What a caller relies on besides the answer: limits, repetition, and going on after an answer.

mod support;

use std::cell::Cell;

use isonomy_solver::{Budget, Outcome, Solver, minimal_lemmas, refute};
use support::polygraph::{Polygraph, Rng, Shape, order, polygraph};

/// Choices between single random edges, which are hard for their size.
fn hard(nodes: usize, choices: usize, seed: u64) -> Solver {
    let mut rng = Rng(seed);
    let mut edge = || {
        let from = rng.below(nodes);
        (from as u32, ((from + 1 + rng.below(nodes - 1)) % nodes) as u32)
    };
    let mut solver = Solver::new(nodes);
    for _ in 0..choices {
        solver.add_choice(&[edge()], &[edge()], true);
    }
    solver
}

fn solver_of(polygraph: &Polygraph) -> Solver {
    let mut solver = Solver::with_order(&order(polygraph));
    for &(from, to) in &polygraph.known {
        solver.add_edge(from, to).expect("the known edges have no cycle");
    }
    for (if_true, if_false) in &polygraph.choices {
        solver.add_choice(if_true, if_false, true);
    }
    solver
}

#[test]
fn a_spent_budget_stops_the_search_at_the_same_place_every_time() {
    let run = || {
        let mut solver = hard(40, 240, 7);
        let mut budget = Budget::new(50_000);
        assert_eq!(solver.solve(&mut budget), Outcome::Stopped);
        assert_eq!(budget.remaining(), 0);
        let stopped = (solver.statistics(), budget.spent(), solver.lemmas().to_vec());
        assert!(matches!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable | Outcome::Unsatisfiable));
        (stopped, solver.statistics(), solver.lemmas().to_vec())
    };
    let first = run();
    assert_eq!(first, run());
    assert!(first.0.1 < 60_000, "the search went on for long after its budget was spent");
}

#[test]
fn resuming_finds_what_one_long_search_finds() {
    let (mut whole, mut pieces) = (hard(30, 150, 1), hard(30, 150, 1));
    let outcome = whole.solve(&mut Budget::unlimited());
    let mut stops = 0;
    while pieces.solve(&mut Budget::new(1000)) == Outcome::Stopped {
        stops += 1;
    }
    assert!(stops > 10, "the problem is too easy");
    assert_eq!(pieces.solve(&mut Budget::new(1)), outcome);
}

#[test]
fn the_caller_can_stop_the_search() {
    let asked = Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let mut solver = hard(40, 240, 7);
    let mut budget = Budget::unlimited().with_stop(&stop);
    assert_eq!(solver.solve(&mut budget), Outcome::Stopped);
    assert_eq!(asked.get(), 4, "a signal that said stop is not asked again");
}

#[test]
fn a_search_goes_on_from_the_last_answer() {
    let shape = Shape { transactions: 500, keys: 200, sessions: 10, operations: 8, stale: 0, seed: 3 };
    let mut solver = solver_of(&polygraph(shape));
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
    let before = solver.statistics();
    // An edge that agrees with the order changes nothing, so there is next to nothing to do.
    let (low, high) = if solver.position(0) < solver.position(1) { (0, 1) } else { (1, 0) };
    solver.add_edge(low, high).expect("the order agrees");
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
    let after = solver.statistics();
    assert_eq!(after.conflicts, before.conflicts);
    assert!(after.decisions - before.decisions < before.decisions / 2 + 1);
}

#[test]
fn few_choices_are_decided_when_the_order_is_good() {
    let shape = Shape { transactions: 1000, keys: 500, sessions: 20, operations: 8, stale: 0, seed: 0 };
    let polygraph = polygraph(shape);
    let mut solver = solver_of(&polygraph);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
    let statistics = solver.statistics();
    assert!(statistics.decisions < polygraph.choices.len() as u64 / 10, "{statistics:?}");
    assert!(statistics.conflicts < 100, "{statistics:?}");
}

#[test]
fn a_loop_is_a_cycle_of_one_node() {
    let mut solver = Solver::new(2);
    assert_eq!(solver.add_edge(1, 1), Err(vec![1]));
    let choice = solver.add_choice(&[(0, 0)], &[(0, 1), (1, 0)], true);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Unsatisfiable);
    let mut cycles: Vec<_> = solver.lemmas().iter().map(|lemma| (lemma.literals.clone(), lemma.cycle.len())).collect();
    cycles.sort();
    assert_eq!(cycles, [(vec![choice.is(false)], 2), (vec![choice.is(true)], 1)]);
    let picked = minimal_lemmas(solver.lemmas(), &[], &mut Budget::unlimited());
    assert_eq!(picked, [0, 1]);
    let tree = refute(solver.lemmas(), &picked, &[], &mut Budget::unlimited()).expect("there is a proof");
    assert_eq!(tree.cases.len(), 3);
}

#[test]
fn a_refused_edge_leaves_the_solver_as_it_was() {
    let mut solver = Solver::new(3);
    solver.add_edge(0, 1).unwrap();
    solver.add_edge(1, 2).unwrap();
    assert_eq!(solver.add_edge(2, 0), Err(vec![0, 1, 2]));
    solver.add_choice(&[(0, 2)], &[(2, 0)], false);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
    assert!(solver.position(0) < solver.position(2));
}

#[test]
fn without_choices_and_nodes_there_is_nothing_to_refuse() {
    let mut solver = Solver::new(0);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Satisfiable);
    solver.add_clause(&[]);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Unsatisfiable);
    assert!(solver.lemmas().is_empty());
    let clauses = [Vec::new()];
    assert_eq!(minimal_lemmas(&[], &clauses, &mut Budget::unlimited()), [0; 0]);
    assert_eq!(refute(&[], &[], &clauses, &mut Budget::unlimited()).map(|tree| tree.cases.len()), Some(1));
    assert_eq!(refute(&[], &[], &[], &mut Budget::unlimited()), None);
}

#[test]
fn proofs_of_hard_problems_are_limited_by_the_budget_too() {
    let mut solver = hard(30, 150, 1);
    assert_eq!(solver.solve(&mut Budget::unlimited()), Outcome::Unsatisfiable);
    let lemmas = solver.lemmas();
    assert_eq!(minimal_lemmas(lemmas, &[], &mut Budget::new(1)).len(), lemmas.len());
    let picked = minimal_lemmas(lemmas, &[], &mut Budget::unlimited());
    assert!(picked.len() < lemmas.len() / 2);
    assert_eq!(refute(lemmas, &picked, &[], &mut Budget::new(100)), None);
    assert!(refute(lemmas, &picked, &[], &mut Budget::unlimited()).is_some());
}
