//! Histories that are as hard to check as formulas are to satisfy.
//!
//! A formula is a list of clauses of three literals, to be satisfied with *exactly one* true literal in each (1-in-3
//! SAT, which is NP-complete). [`history`] turns it into a history that is admitted iff the formula is satisfiable: for
//! tests whose answer is known, and for measuring what checking costs at its worst. The constructions are those of
//! Biswas, *Automated Formal Testing of Storage Systems and Applications* (2021), Figures 2.3 and 2.4, for literals
//! instead of variables.
//!
//! # The checkers
//!
//! Replicas 0, 1 and 2 go through a round per clause, with a barrier before each. In the round of the clause α, β, γ,
//! replica 0 asks for α = true, β = false, γ = false, then makes α false and β true. Replicas 1 and 2 do the same with
//! β, γ, α and γ, α, β in the places of α, β, γ. A literal ¬x is true when the object x is false. The three literals
//! of a clause must be about different variables.
//!
//! **Barriers.** In barrier k, replica i updates its own object yᵢ to the value k mod 2, then asks for this value of the
//! other two. Only replica i updates yᵢ, so a query tells how many of its updates are seen, but for an even number. In
//! barrier k this is k at least: 1 in the first (odd, not 0), and k in each later one, since k − 1 were seen before and
//! k − 1 has the wrong parity. Hence in round k each checker sees all that the others did before barrier k; and it sees
//! nothing that they did after barrier k + 1, since this comes after they saw its own update of that barrier.
//!
//! **Rounds.** Let S be what was done before barrier k; all checkers see it in round k. Of all that is done in round k,
//! updates come after the queries of the same checker, so there is a checker whose queries see no update of round k: its
//! answers are those that S alone gives. They are that exactly one of α, β, γ is true in S; say α, so that it is checker
//! 0. Checker 1 asks for β = true. S gives false, and in round k only checker 0 makes β true, so checker 1 sees that
//! update. By the same argument, checker 2 sees that checker 1 makes γ true. So all updates of the round come in the
//! order of the checkers: β becomes true, then false; γ too; α becomes false, then true; and each of these happens after
//! all of S. What holds after the round is what held before. The other two cases are this one, rotated.
//!
//! So in each round, exactly one literal is true in an assignment that all rounds share, which therefore satisfies the
//! formula. Conversely, given an assignment, let all happen one after the other: a round begins with the checker whose
//! literal is true and goes on in rotation. All answers are right. Where operations are in sequence, all conflict rules
//! agree, so that this holds for every type below; and the argument before only uses that *the last update counts if it
//! happens after all others*, and that an object keeps its value if no other update is seen.
//!
//! # The assignment
//!
//! **Sets, flags, registers.** Before the first barrier, checker 0 makes all variables true and checker 1 makes all false,
//! in the same order. Both orders of the two updates of a variable are possible, for all variables independently: an
//! update of one replica happens before one of the other for the same variable, so no cycle arises. Without an order, add
//! wins or remove wins or one timestamp is higher, which is an assignment as well, or a multi-value register returns both
//! values, which is none that a checker asks for. Registers hold 1 and 0.
//!
//! **Counters.** Updates of a counter commute, so the assignment is made of what is *seen*. True is +1, false is −1, and
//! making a literal true or false is two increments or two decrements. For each variable x that occurs, one replica does
//! `inc(total) inc(x)`, another `inc(total) dec(x)`. After all rounds and one more barrier, checker 0 asks for `total` =
//! n, the number of these variables. What it sees then includes all that any checker saw in any round. The value of x in
//! the queries that see no update of the round is ±1 and not 0, so at least one of the replicas of x is seen; as there
//! are n in all, exactly one of them is, and which one is the assignment. (Checker 0 also asks for n at first, as in the
//! figure; this is not needed.)
//!
//! Two things may go otherwise than above. A checker may not have seen the update of x of that replica, though it saw
//! its `inc(total)`, and hold 0 for x. And it may see only one of the two updates that make a literal true. Checker 1
//! asks for β = true, that is +1 (or −1 for a negative literal; this is symmetric). It holds 0 or −1 for β without the
//! round, so it sees an update of checker 0, therefore checker 0's queries, therefore what gave them β = −1; so it sees
//! both updates. The same holds for checker 2, which sees nothing of the round that changes γ but what checker 1 does.
//! Were checker 2 before checker 1, it would see only what checker 0 does in the round, which leaves γ at 0 or −1.

use crate::data_type::DataType;
use crate::history::{History, HistoryBuilder, Label, NamedOperation};
use crate::simulate::Random;

/// A variable, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    /// The variable, from 0.
    pub variable: usize,
    /// Whether it is true when the variable is false.
    pub negated: bool,
}

/// Clauses, in each of which exactly one literal is to be true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    variables: usize,
    clauses: Vec<[Literal; 3]>,
}

/// Why there is no such formula.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("clause {clause} must have three different variables below {variables}")]
pub struct WrongClause {
    /// The clause, from 0.
    pub clause: usize,
    /// How many variables there are.
    pub variables: usize,
}

impl Formula {
    /// A formula with so many variables.
    ///
    /// # Errors
    ///
    /// A clause has a variable twice, or one that does not exist.
    pub fn new(variables: usize, clauses: Vec<[Literal; 3]>) -> Result<Self, WrongClause> {
        let wrong = clauses.iter().position(|[a, b, c]| {
            let [a, b, c] = [a.variable, b.variable, c.variable];
            a == b || b == c || a == c || a.max(b).max(c) >= variables
        });
        match wrong {
            Some(clause) => Err(WrongClause { clause, variables }),
            None => Ok(Formula { variables, clauses }),
        }
    }

    /// A formula by chance; with negations, or without. There are three variables at least.
    pub fn random(variables: usize, clauses: usize, negations: bool, seed: u64) -> Self {
        let variables = variables.max(3);
        let mut random = Random::new(seed);
        let mut clause = || {
            let a = random.below(variables);
            // The others are at two different distances from the first.
            let (near, far) = (1 + random.below(variables - 1), 1 + random.below(variables - 2));
            let far = if far >= near { far + 1 } else { far };
            [a, (a + near) % variables, (a + far) % variables]
                .map(|variable| Literal { variable, negated: negations && random.chance(0.5) })
        };
        Formula { clauses: (0..clauses).map(|_| clause()).collect(), variables }
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The clauses.
    pub fn clauses(&self) -> &[[Literal; 3]] {
        &self.clauses
    }

    /// Whether exactly one literal of each clause is true for some assignment. Tries all, so it takes time exponential
    /// in the number of variables that occur.
    pub fn satisfiable(&self) -> bool {
        self.assignment().is_some()
    }

    /// The first assignment that satisfies the formula, as [`Formula::satisfiable`] finds it.
    pub fn assignment(&self) -> Option<Vec<bool>> {
        let mut assignment = vec![false; self.variables];
        let occurring = self.occurring();
        loop {
            if self.satisfied_by(&assignment) {
                return Some(assignment);
            }
            // Counts in binary.
            let next = occurring.iter().find(|&&variable| !assignment[variable])?;
            occurring
                .iter()
                .take_while(|&variable| variable != next)
                .for_each(|&variable| assignment[variable] = false);
            assignment[*next] = true;
        }
    }

    fn satisfied_by(&self, assignment: &[bool]) -> bool {
        let truth = |literal: &&Literal| assignment[literal.variable] != literal.negated;
        self.clauses.iter().all(|clause| clause.iter().filter(truth).count() == 1)
    }

    /// The variables that occur in clauses.
    fn occurring(&self) -> Vec<usize> {
        let mut occurs = vec![false; self.variables];
        self.clauses.iter().flatten().for_each(|literal| occurs[literal.variable] = true);
        (0..self.variables).filter(|&variable| occurs[variable]).collect()
    }
}

/// A history of the type that is admitted iff the formula is satisfiable. Arrays have none: checking them is not hard.
pub fn history(formula: &Formula, data_type: DataType) -> Option<History> {
    if data_type == DataType::Rga {
        return None;
    }
    let mut writer = Writer { builder: HistoryBuilder::new(data_type), data_type };
    writer.choose(formula);
    for (round, &[a, b, c]) in formula.clauses.iter().enumerate() {
        writer.barrier(round + 1);
        for (checker, [a, b, c]) in [[a, b, c], [b, c, a], [c, a, b]].into_iter().enumerate() {
            writer.query_literal(checker, a, true);
            writer.query_literal(checker, b, false);
            writer.query_literal(checker, c, false);
            writer.set_literal(checker, a, false);
            writer.set_literal(checker, b, true);
        }
    }
    if data_type == DataType::Counter {
        writer.barrier(formula.clauses.len() + 1);
        writer.query_total(formula);
    }
    Some(writer.builder.finish())
}

struct Writer {
    builder: HistoryBuilder,
    data_type: DataType,
}

impl Writer {
    fn push(&mut self, replica: Label, operation: NamedOperation) {
        self.builder.push(replica, operation).expect("all operations are of the type");
    }

    /// Before the first barrier: what the variables may be.
    fn choose(&mut self, formula: &Formula) {
        if self.data_type != DataType::Counter {
            for (checker, truth) in [true, false].into_iter().enumerate() {
                for variable in 0..formula.variables {
                    self.set(checker, name("x", variable), truth);
                }
            }
            return;
        }
        self.query_total(formula);
        for variable in formula.occurring() {
            for (replica, truth) in [("yes", true), ("no", false)] {
                self.push(name(replica, variable), NamedOperation::Increment("total".into()));
                self.push(name(replica, variable), step(name("x", variable), truth));
            }
        }
    }

    fn query_total(&mut self, formula: &Formula) {
        let total = formula.occurring().len() as i64;
        self.push(name("r", 0), NamedOperation::Count("total".into(), total));
    }

    fn barrier(&mut self, number: usize) {
        let truth = number % 2 == 1;
        for checker in 0..3 {
            let own = name("y", checker);
            if self.data_type == DataType::Counter {
                self.push(name("r", checker), step(own, truth));
            } else {
                self.set(checker, own, truth);
            }
            for other in [(checker + 1) % 3, (checker + 2) % 3] {
                self.query(checker, name("y", other), truth, 0);
            }
        }
    }

    fn query_literal(&mut self, checker: usize, literal: Literal, truth: bool) {
        self.query(checker, name("x", literal.variable), truth != literal.negated, -1);
    }

    fn set_literal(&mut self, checker: usize, literal: Literal, truth: bool) {
        self.set(checker, name("x", literal.variable), truth != literal.negated);
    }

    /// Asks for a truth value; a counter that is false has the value `low`.
    fn query(&mut self, checker: usize, object: Label, truth: bool, low: i64) {
        let operation = match self.data_type {
            DataType::Counter => NamedOperation::Count(object, if truth { 1 } else { low }),
            DataType::MvRegister | DataType::LwwRegister => NamedOperation::Read(object, vec![i64::from(truth).into()]),
            _ => NamedOperation::Contains(object, truth),
        };
        self.push(name("r", checker), operation);
    }

    /// Makes an object true or false; a counter that is the other of the two.
    fn set(&mut self, checker: usize, object: Label, truth: bool) {
        let replica = name("r", checker);
        match self.data_type {
            DataType::Counter => {
                self.push(replica.clone(), step(object.clone(), truth));
                self.push(replica, step(object, truth));
            }
            DataType::MvRegister | DataType::LwwRegister => {
                self.push(replica, NamedOperation::Write(object, i64::from(truth).into()));
            }
            _ if truth => self.push(replica, NamedOperation::Add(object)),
            _ => self.push(replica, NamedOperation::Remove(object)),
        }
    }
}

fn step(object: Label, up: bool) -> NamedOperation {
    if up { NamedOperation::Increment(object) } else { NamedOperation::Decrement(object) }
}

fn name(kind: &str, number: usize) -> Label {
    Label::Text(format!("{kind}{number}").into())
}

#[cfg(test)]
mod tests;
