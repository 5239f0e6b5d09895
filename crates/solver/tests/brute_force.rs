//! The solver against trying everything, on small random problems.

mod support;

use isonomy_solver::{Budget, Outcome, Solver, minimal_lemmas, refute};
use support::Problem;
use support::polygraph::Rng;

const ROUNDS: usize = 40_000;

fn check(problem: &Problem, solver: &Solver, outcome: Outcome) {
    match outcome {
        Outcome::Satisfiable => problem.check_model(solver),
        Outcome::Unsatisfiable => {
            let lemmas = solver.lemmas();
            lemmas.iter().for_each(|lemma| problem.check_lemma(lemma));
            assert!(!problem.is_propositionally_satisfiable(lemmas.iter()), "the lemmas do not suffice");

            let picked = minimal_lemmas(lemmas, &problem.clauses, &mut Budget::unlimited());
            let some = |left_out: usize| picked.iter().filter(move |&&i| i != left_out).map(|&index| &lemmas[index]);
            assert!(!problem.is_propositionally_satisfiable(some(usize::MAX)), "too few lemmas were picked");
            for &index in &picked {
                assert!(problem.is_propositionally_satisfiable(some(index)), "lemma {index} is not needed");
            }
            let tree = refute(lemmas, &picked, &problem.clauses, &mut Budget::unlimited()).expect("there is a proof");
            problem.check_tree(&tree, lemmas);
        }
        Outcome::Stopped => panic!("there was no limit"),
    }
    assert_eq!(outcome == Outcome::Satisfiable, problem.is_satisfiable(), "the wrong answer");
}

#[test]
fn answers_are_those_of_trying_everything() {
    let mut rng = Rng(1);
    let mut counts = [0; 3];
    for round in 0..ROUNDS {
        let problem = Problem::random(&mut rng);
        let mut order: Vec<u32> = (0..problem.nodes as u32).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.below(at + 1));
        }
        let mut solver = if round % 2 == 0 { Solver::new(problem.nodes) } else { Solver::with_order(&order) };
        if !problem.add_to(&mut solver) {
            assert!(!problem.is_satisfiable());
            counts[2] += 1;
            continue;
        }
        let outcome = solver.solve(&mut Budget::unlimited());
        counts[usize::from(outcome == Outcome::Satisfiable)] += 1;
        check(&problem, &solver, outcome);
    }
    assert!(counts.iter().all(|&count| count > ROUNDS / 20), "the problems are all alike: {counts:?}");
}

#[test]
fn adding_more_is_the_same_as_beginning_anew() {
    let mut rng = Rng(2);
    let mut changes = 0;
    'rounds: for _ in 0..ROUNDS / 2 {
        let problem = Problem::random(&mut rng);
        let mut solver = Solver::new(problem.nodes);
        let mut so_far = Problem { nodes: problem.nodes, ..Problem::default() };
        let (mut known, mut choices) = (problem.known.iter(), problem.choices.iter());
        let mut before = Outcome::Satisfiable;
        loop {
            // Some of what is left of each, so that answers come in between.
            for &(from, to) in known.by_ref().take(rng.below(3)) {
                so_far.known.push((from, to));
                if solver.add_edge(from, to).is_err() {
                    assert!(!so_far.is_satisfiable());
                    continue 'rounds;
                }
            }
            for choice in choices.by_ref().take(rng.below(3)) {
                so_far.choices.push(choice.clone());
                solver.add_choice(&choice.0, &choice.1, choice.2);
            }
            for clause in &problem.clauses {
                let count = so_far.choices.len();
                if !so_far.clauses.contains(clause) && clause.iter().all(|l| (l.choice.0 as usize) < count) {
                    so_far.clauses.push(clause.clone());
                    solver.add_clause(clause);
                }
            }
            let mut outcome = solver.solve(&mut Budget::new(1 + rng.below(10) as u64));
            while outcome == Outcome::Stopped {
                outcome = solver.solve(&mut Budget::new(20));
            }
            check(&so_far, &solver, outcome);
            changes += usize::from(outcome != before);
            before = outcome;
            if known.len() == 0 && choices.len() == 0 {
                break;
            }
        }
    }
    assert!(changes > ROUNDS / 20, "only {changes} answers changed");
}
