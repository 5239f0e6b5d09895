//! Formulas as histories: prefix, snapshot isolation and serializability of a history are as hard as satisfiability.
//!
//! Biswas, *Automated Formal Testing of Storage Systems and Applications*, 2021, theorem 3.2.2 and figure 3.5. There are transactions `a` and
//! `b` for each variable, and `w`, `y` and `z` for each literal. A variable is false if its `a` is before its `b`, a literal is false if its
//! `y` is before its `z`. For each literal
//!
//! - `y` and `z` write a key, and `w` reads it from `z`: whatever of the two is before `w`, it is before `z`;
//! - `y` precedes `a` and `b` precedes `w`, so that a false variable makes its literals false; with `a` and `b` swapped if it is negated;
//! - `z` precedes the `y` of the next literal of its clause, and the last one that of the first: not all are false.
//!
//! The thesis has a session order that is no set of sequences. Here each transaction has a session to itself, and one precedes another by
//! writing a key that the other reads.

use isonomy_history::{Datum, History, HistoryBuilder, Name};

use super::random::Rng;

/// The transactions so far: for each what it reads and writes.
#[derive(Default)]
struct Transactions {
    /// Keys, and whether each is written. All values are 1 more than the number of their writer.
    events: Vec<Vec<(usize, Option<usize>)>>,
    keys: usize,
}

impl Transactions {
    fn add(&mut self) -> usize {
        self.events.push(Vec::new());
        self.events.len() - 1
    }

    fn key(&mut self) -> usize {
        self.keys += 1;
        self.keys - 1
    }

    fn write(&mut self, txn: usize, key: usize) {
        self.events[txn].push((key, None));
    }

    fn read(&mut self, txn: usize, key: usize, from: usize) {
        self.events[txn].push((key, Some(from)));
    }

    fn precede(&mut self, before: usize, after: usize) {
        let key = self.key();
        self.write(before, key);
        self.read(after, key, before);
    }

    fn build(&self) -> History {
        let mut builder = HistoryBuilder::new();
        for (txn, events) in self.events.iter().enumerate() {
            builder.begin(Name::Int(txn as i64));
            for &(key, from) in events {
                let value = Datum::Int(from.unwrap_or(txn) as i64 + 1);
                match from {
                    None => builder.write(Name::Int(key as i64), value),
                    Some(_) => builder.read(Name::Int(key as i64), value),
                }
            }
        }
        builder.finish().expect("each transaction writes a value of its own")
    }
}

/// A history that satisfies prefix (or snapshot isolation, or serializable) iff the formula can be satisfied. Clauses are not
/// empty; a literal is a variable, from 1, or its negative.
pub(crate) fn history_of(cnf: &[Vec<i32>]) -> History {
    let mut all = Transactions::default();
    let variables = cnf.iter().flatten().map(|literal| literal.unsigned_abs() as usize).max().unwrap_or(0);
    let ab: Vec<(usize, usize)> = (0..variables).map(|_| (all.add(), all.add())).collect();
    for clause in cnf {
        assert!(!clause.is_empty(), "an empty clause has no history");
        let yz: Vec<(usize, usize)> = clause.iter().map(|_| (all.add(), all.add())).collect();
        for (at, literal) in clause.iter().enumerate() {
            let (y, z) = yz[at];
            let w = all.add();
            let key = all.key();
            all.write(y, key);
            all.write(z, key);
            all.read(w, key, z);
            let (a, b) = ab[literal.unsigned_abs() as usize - 1];
            let (first, second) = if *literal > 0 { (a, b) } else { (b, a) };
            all.precede(y, first);
            all.precede(second, w);
            all.precede(z, yz[(at + 1) % clause.len()].0);
        }
    }
    all.build()
}

/// Whether some assignment satisfies all clauses.
pub(crate) fn satisfiable(cnf: &[Vec<i32>]) -> bool {
    let variables = cnf.iter().flatten().map(|literal| literal.unsigned_abs()).max().unwrap_or(0);
    let is_true =
        |assignment: u32, literal: i32| (assignment >> (literal.unsigned_abs() - 1) & 1 == 1) == (literal > 0);
    (0..1u32 << variables).any(|assignment| cnf.iter().all(|clause| clause.iter().any(|&l| is_true(assignment, l))))
}

/// A formula with at most these numbers of variables, clauses, and literals in a clause.
pub(crate) fn random_cnf(variables: usize, clauses: usize, literals: usize, seed: u64) -> Vec<Vec<i32>> {
    let mut rng = Rng::new(seed);
    let variables = 1 + rng.below(variables);
    let clauses = 1 + rng.below(clauses);
    let literal = |rng: &mut Rng| (1 + rng.below(variables) as i32) * if rng.percent(50) { 1 } else { -1 };
    (0..clauses).map(|_| (0..1 + rng.below(literals)).map(|_| literal(&mut rng)).collect()).collect()
}
