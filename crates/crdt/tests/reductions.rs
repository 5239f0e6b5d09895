//! A history made of a formula is admitted iff the formula is satisfiable, for all seven types that can hold one.
//!
//! Random formulas of 3 to 5 variables and 2 to 5 clauses, with and without negations, and a few that are known to have
//! no solution. For counters up to 4 variables and 4 clauses: there are two more replicas for each variable.

mod common;

use common::{decide, show};
use isonomy_crdt::reduction::{Formula, Literal, history};
use isonomy_crdt::{DataType, Verdict};

/// The types that can hold a formula.
fn hard() -> impl Iterator<Item = DataType> {
    DataType::ALL.into_iter().filter(|&data_type| data_type != DataType::Rga)
}

fn formula(variables: usize, clauses: &[[i32; 3]]) -> Formula {
    let literal = |number: i32| Literal { variable: number.unsigned_abs() as usize - 1, negated: number < 0 };
    Formula::new(variables, clauses.iter().map(|clause| clause.map(literal)).collect()).unwrap()
}

fn agree(formula: &Formula, data_type: DataType) -> bool {
    let history = history(formula, data_type).expect("the type is hard");
    let expected = formula.satisfiable();
    let verdict = decide(&history);
    assert_eq!(matches!(verdict, Verdict::Holds(_)), expected, "{formula:?}\n{}", show(&history));
    expected
}

/// Exactly one literal of each clause is true. Each triple of four variables: two true ones meet in a clause, and with
/// at most one true there is a clause without. All signs of one clause. And so on.
#[test]
fn formulas_without_a_solution() {
    let formulas = [
        formula(4, &[[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]),
        formula(3, &[[1, 2, 3], [-1, -2, -3]]),
        formula(3, &[[1, 2, 3], [1, 2, -3], [1, -2, 3]]),
        formula(3, &[[1, 2, 3], [-1, 2, 3], [1, -2, 3]]),
    ];
    for formula in formulas {
        for data_type in hard() {
            assert!(!agree(&formula, data_type), "{formula:?} has a solution");
        }
    }
}

#[test]
fn formulas_with_a_solution() {
    let formulas = [
        formula(3, &[]),
        formula(3, &[[1, 2, 3]]),
        formula(5, &[[1, 2, 3], [3, 4, 5], [1, 2, 4]]),
        formula(6, &[[1, -2, 3], [-3, 4, 5], [2, -4, 6]]),
    ];
    for formula in formulas {
        for data_type in hard() {
            assert!(agree(&formula, data_type), "{formula:?} has no solution");
        }
    }
}

#[test]
fn random_formulas() {
    for data_type in hard() {
        let (mut all, mut satisfiable) = (0, 0);
        let most = if data_type == DataType::Counter { 4 } else { 5 };
        for seed in 0..if data_type == DataType::Counter { 12 } else { 30 } {
            let (variables, clauses) = (3 + seed as usize % (most - 2), 2 + seed as usize / 3 % (most - 1));
            satisfiable += usize::from(agree(&Formula::random(variables, clauses, seed % 2 == 0, seed), data_type));
            all += 1;
        }
        assert!(satisfiable > all / 8 && satisfiable < all, "{data_type}: {satisfiable} of {all}");
    }
}
