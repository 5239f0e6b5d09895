use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::*;
use crate::history::{LabelId, OpId, Operation};

/// The types that can hold a formula.
fn hard() -> impl Iterator<Item = DataType> {
    DataType::ALL.into_iter().filter(|&data_type| data_type != DataType::Rga)
}

fn formula(clauses: &[[i32; 3]]) -> Formula {
    let literal = |literal: i32| Literal { variable: literal.unsigned_abs() as usize - 1, negated: literal < 0 };
    let variables = clauses.iter().flatten().map(|literal| literal.unsigned_abs()).max().unwrap_or(0);
    Formula::new(variables as usize, clauses.iter().map(|clause| clause.map(literal)).collect()).unwrap()
}

/// What objects hold when all happens in sequence: −1 and 1 for false and true, the value, or the count.
type Held = BTreeMap<LabelId, i64>;

/// Does the operation next; whether it answers what is held.
fn step(history: &History, op: OpId, held: &mut Held) -> bool {
    let number = |label| history.label(label).to_string().parse::<i64>().unwrap();
    match history.operation(op) {
        Operation::Add(x) => held.insert(x, 1),
        Operation::Remove(x) => held.insert(x, -1),
        Operation::Write(x, value) => held.insert(x, number(value)),
        Operation::Increment(x) => held.insert(x, held.get(&x).unwrap_or(&0) + 1),
        Operation::Decrement(x) => held.insert(x, held.get(&x).unwrap_or(&0) - 1),
        Operation::Contains(x, answer) => return (held.get(&x) == Some(&1)) == answer,
        Operation::Read(x, values) => {
            return held.get(&x).copied().into_iter().eq(values.iter().map(|&value| number(value)));
        }
        Operation::Count(x, count) => return *held.get(&x).unwrap_or(&0) == count,
        Operation::Insert(..) | Operation::Delete(_) | Operation::List(_) => unreachable!(),
    };
    true
}

/// Whether some sequence of all operations explains the history. Such a sequence is an execution of every type; the
/// argument above is that these histories are admitted only if there is one.
fn has_sequence(history: &History) -> bool {
    let replicas: Vec<Vec<OpId>> = history.replicas().map(|replica| history.operations_of(replica).collect()).collect();
    let mut seen = FxHashSet::default();
    let mut open = vec![(vec![0; replicas.len()], Held::new())];
    while let Some((done, held)) = open.pop() {
        if done.iter().sum::<usize>() == history.len() {
            return true;
        }
        for (replica, operations) in replicas.iter().enumerate() {
            let Some(&op) = operations.get(done[replica]) else { continue };
            let (mut done, mut held) = (done.clone(), held.clone());
            done[replica] += 1;
            if step(history, op, &mut held) && seen.insert((done.clone(), held.clone())) {
                open.push((done, held));
            }
        }
    }
    false
}

#[test]
fn formulas_are_satisfied_by_exactly_one() {
    assert!(formula(&[]).satisfiable());
    assert_eq!(formula(&[[1, 2, 3], [1, 2, -3]]).assignment(), None);
    assert_eq!(formula(&[[1, 2, 3], [-1, 2, 4]]).assignment(), Some(vec![false, false, true, false]));
    assert!(!formula(&[[1, 2, 3], [-1, -2, -3]]).satisfiable());
    // Positive ones, too, can contradict each other.
    assert!(!formula(&[[1, 2, 3], [1, 2, 4], [1, 3, 4], [2, 3, 4]]).satisfiable());
    let a = Literal { variable: 0, negated: false };
    assert!(Formula::new(3, vec![[a, Literal { variable: 1, ..a }, Literal { negated: true, ..a }]]).is_err());
    assert!(Formula::new(2, vec![[a, Literal { variable: 1, ..a }, Literal { variable: 2, ..a }]]).is_err());
}

#[test]
fn histories_have_sequences_exactly_if_formulas_are_satisfiable() {
    let mut answers = [0, 0];
    for seed in 0..24 {
        let formula = Formula::random(3, 1 + seed as usize % 3, seed % 3 > 0, seed);
        let satisfiable = formula.satisfiable();
        answers[usize::from(satisfiable)] += 1;
        for data_type in hard() {
            if data_type == DataType::Counter && formula.clauses().len() > 2 {
                continue; // The replicas of the variables may come at any time, which takes long to try.
            }
            let history = history(&formula, data_type).unwrap();
            assert_eq!(has_sequence(&history), satisfiable, "{data_type}: {formula:?}");
        }
    }
    assert!(answers[0] > 5 && answers[1] > 5, "{answers:?}");
}

#[test]
fn histories_have_the_size_of_the_figures() {
    let formula = formula(&[[1, 2, 3], [-1, 4, -2]]);
    let flags = history(&formula, DataType::EwFlag).unwrap();
    assert_eq!((flags.replicas().len(), flags.len()), (3, 2 * 4 + 2 * 9 + 2 * 15));
    let counters = history(&formula, DataType::Counter).unwrap();
    assert_eq!((counters.replicas().len(), counters.len()), (3 + 2 * 4, 2 + 4 * 4 + 3 * 9 + 2 * 21));
    assert!(history(&formula, DataType::Rga).is_none());
}
