//! Which lemmas matter: a subset that still leaves no combination of sides, and no more than it takes.

use crate::budget::Budget;
use crate::literal::{Lemma, Literal};
use crate::solver::{Outcome, Solver};

/// Picks lemmas, by their indices in increasing order, that contradict each other and the clauses, such that without any one
/// of them they would not. If the budget ends before, what is picked still contradicts, but may hold more than it must.
///
/// # Panics
///
/// If all lemmas and clauses together do not contradict each other.
pub fn minimal_lemmas(lemmas: &[Lemma], clauses: &[Vec<Literal>], budget: &mut Budget<'_>) -> Vec<usize> {
    // A problem without a graph. Each lemma has a selector: assumed to be true, the lemma counts.
    let mut solver = Solver::new(0);
    let selectors: Vec<Literal> = lemmas.iter().map(|_| solver.add_choice(&[], &[], true).is(true)).collect();
    let literals = lemmas.iter().flat_map(|lemma| &lemma.literals).chain(clauses.iter().flatten());
    let mut choices: Vec<_> = literals.map(|literal| literal.choice).collect();
    choices.sort_unstable();
    choices.dedup();
    let first = solver.choices();
    for _ in &choices {
        solver.add_choice(&[], &[], true);
    }
    let translate = |literal: &Literal| {
        let at = choices.binary_search(&literal.choice).expect("all choices were collected");
        crate::literal::Choice((first + at) as u32).is(literal.side)
    };
    for clause in clauses {
        solver.add_clause(&clause.iter().map(translate).collect::<Vec<_>>());
    }
    for (lemma, &selector) in lemmas.iter().zip(&selectors) {
        let clause = lemma.literals.iter().map(|literal| !translate(literal)).chain([!selector]);
        solver.add_clause(&clause.collect::<Vec<_>>());
    }

    // Long lemmas are tried first, so that short ones stay. Those before `necessary` have been tried and must stay.
    let mut picked: Vec<usize> = (0..lemmas.len()).collect();
    picked.sort_by_key(|&index| std::cmp::Reverse(lemmas[index].literals.len()));
    let mut necessary = 0;
    let mut tried = None;
    loop {
        let assumed: Vec<Literal> =
            picked[necessary..].iter().filter(|&&index| Some(index) != tried).map(|&index| selectors[index]).collect();
        match solver.solve_under(&assumed, budget) {
            Outcome::Stopped => break,
            Outcome::Satisfiable => {
                let index = tried.expect("the lemmas and the clauses contradict each other");
                solver.add_clause(&[selectors[index]]);
                necessary += 1;
            }
            Outcome::Unsatisfiable => {
                let mut needed = vec![false; lemmas.len()];
                for literal in solver.failed() {
                    needed[literal.choice.0 as usize] = true;
                }
                let rest = picked.split_off(necessary);
                let before = rest.len();
                for index in rest {
                    if needed[index] {
                        picked.push(index);
                    } else {
                        solver.add_clause(&[!selectors[index]]);
                    }
                }
                // What is left out at once is cheaper than what is tried one by one: while a search leaves out much, ask for
                // the same again.
                let after = picked.len() - necessary;
                if tried.is_none() && after > 0 && after < before - before / 8 {
                    continue;
                }
            }
        }
        tried = picked.get(necessary).copied();
        if tried.is_none() {
            break;
        }
    }
    picked.sort_unstable();
    picked
}
