//! Searches for a visibility that explains all answers: conflict-driven, on bounds.
//!
//! The candidate is always the smallest visibility within the bounds. Where it does not explain an answer, a rule says what else
//! could have been seen; a decision takes one such step. A conflict is traced back to the decisions behind it, and what is learnt
//! is a clause of bounds. So arrays, and registers whose values are written once, are mostly decided without any decision:
//! the bounds that follow at once are the fixpoint of the thesis's polynomial algorithm.

mod bounds;
mod clauses;
mod root;
mod rules;
mod sort;
mod stamps;
mod trace;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use isonomy_solver::Budget;

pub(crate) use bounds::Literal;
use bounds::{Bounds, Conflict};
use clauses::Clauses;
use rules::{Answer, Rules};
pub(crate) use stamps::{Edge, Reason};
pub(crate) use trace::{Case, Told, Why, trace};

use crate::problem::Problem;

/// What a search found.
pub(crate) enum Outcome {
    /// How many operations of each replica each operation saw, operation by operation; and an order of timestamps.
    Explained { seen: Vec<u32>, order: Vec<u32> },
    /// Nothing explains it; what was learnt on the way.
    Refuted { learnt: Vec<Vec<Literal>> },
    /// The budget is spent.
    Undecided,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Steps that were tried.
    pub decisions: u64,
    /// Steps that turned out wrong.
    pub conflicts: u64,
}

pub(crate) fn search(problem: &Problem<'_>, budget: &mut Budget<'_>, effort: &mut Effort) -> Outcome {
    let Some(root) = root::sweep(problem) else { return Outcome::Refuted { learnt: Vec::new() } };
    let mut search = Search::new(problem, root);
    let outcome = search.run(budget);
    effort.decisions += search.effort.decisions;
    effort.conflicts += search.effort.conflicts;
    outcome
}

/// All operations, each after those that it surely saw; if that goes around in a circle, as they stand in their replicas.
pub(crate) fn in_order(problem: &Problem<'_>) -> Vec<u32> {
    root::order(problem).unwrap_or_else(|| {
        let mut operations: Vec<u32> = (0..problem.len() as u32).collect();
        operations.sort_by_key(|&op| problem.position(op));
        operations
    })
}

struct Search<'p> {
    problem: &'p Problem<'p>,
    bounds: Bounds<'p>,
    rules: Rules<'p>,
    clauses: Clauses,
    /// Queries to look at, in the order of the history.
    pending: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// How much each operation had to do with conflicts, the latest most of all.
    trouble: Vec<f64>,
    weight: f64,
    is_pending: Vec<bool>,
    rank: Vec<u32>,
    /// The queries of each operation: from, to.
    queries_of: Vec<(u32, u32)>,
    effort: Effort,
    /// Conflicts until all decisions are taken back and made anew, with what was learnt.
    patience: u64,
    restarts: u64,
}

/// Conflicts between restarts, times the numbers of Luby.
const PATIENCE: u64 = 100;

/// 1, 1, 2, 1, 1, 2, 4, …
fn luby(mut at: u64) -> u64 {
    loop {
        let size = (at + 1).next_power_of_two();
        if size == at + 1 {
            return size / 2;
        }
        at -= size / 2 - 1;
    }
}

/// Why the search goes no further.
enum End {
    Refuted,
    Spent,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem<'p>, root: root::Root) -> Self {
        let mut rank = vec![0; problem.len()];
        for (at, &op) in root.order.iter().enumerate() {
            rank[op as usize] = at as u32;
        }
        let mut queries_of = vec![(0, 0); problem.len()];
        for (number, query) in problem.queries.iter().enumerate() {
            let range = &mut queries_of[query.op as usize];
            *range = if range.1 == 0 { (number as u32, number as u32 + 1) } else { (range.0, number as u32 + 1) };
        }
        let mut search = Search {
            problem,
            bounds: Bounds::new(problem, root.lower, root.upper),
            rules: Rules::new(problem),
            clauses: Clauses::default(),
            pending: BinaryHeap::new(),
            trouble: vec![0.0; problem.len()],
            weight: 1.0,
            is_pending: vec![false; problem.queries.len()],
            rank,
            queries_of,
            effort: Effort::default(),
            patience: PATIENCE,
            restarts: 0,
        };
        for query in 0..problem.queries.len() as u32 {
            search.enqueue(query);
        }
        search
    }

    fn run(&mut self, budget: &mut Budget<'_>) -> Outcome {
        let replicas = u64::from(self.problem.replicas);
        let mut spent = false;
        let bounded = self.bounds.bound_above(|| {
            spent = !budget.spend(replicas * replicas);
            !spent
        });
        if spent {
            return Outcome::Undecided;
        }
        if bounded.is_err() {
            return Outcome::Refuted { learnt: Vec::new() };
        }
        loop {
            match self.complete(budget) {
                Err(End::Refuted) => return Outcome::Refuted { learnt: self.clauses.take() },
                Err(End::Spent) => return Outcome::Undecided,
                Ok(()) => {}
            }
            match stamps::arrange(self.problem, &self.bounds) {
                Ok(order) => return Outcome::Explained { seen: self.bounds.least_all().to_vec(), order },
                Err(circle) => {
                    if self.learn(stamps::literals(self.problem, &self.bounds, &circle)).is_err() {
                        return Outcome::Refuted { learnt: self.clauses.take() };
                    }
                }
            }
        }
    }

    /// Goes on until the smallest visibility explains all answers, timestamps left aside.
    fn complete(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        loop {
            self.propagate(budget)?;
            let Some(Reverse((_, _, number))) = self.pending.pop() else {
                if self.all_explained(budget)? {
                    return Ok(());
                }
                continue;
            };
            self.is_pending[number as usize] = false;
            self.look_at(number, budget)?;
        }
    }

    fn propagate(&mut self, budget: &mut Budget<'_>) -> Result<(), End> {
        loop {
            let mut changes = Vec::new();
            let mut result = self.bounds.propagate(|literal| changes.push(literal));
            for &change in &changes {
                if result.is_ok() {
                    result = self.clauses.visit(&mut self.bounds, change);
                }
                self.touch(change);
            }
            if !budget.spend(changes.len() as u64 * u64::from(self.problem.replicas) + 1) {
                return Err(End::Spent);
            }
            match result {
                Ok(()) if changes.is_empty() => break,
                Ok(()) => {}
                Err(conflict) => self.learn(conflict)?,
            }
        }
        if self.bounds.level() == 0 {
            self.bounds.settle();
        }
        Ok(())
    }

    /// The queries of an operation whose bounds changed are looked at again.
    fn touch(&mut self, change: Literal) {
        let op = (change.variable / self.problem.replicas) as usize;
        if let Some(&(from, to)) = self.queries_of.get(op) {
            (from..to).for_each(|query| self.enqueue(query));
        }
    }

    fn enqueue(&mut self, query: u32) {
        if !std::mem::replace(&mut self.is_pending[query as usize], true) {
            let op = self.problem.queries[query as usize].op;
            // Every other time those come first that made trouble; the order of the history is better for some histories, this
            // for others.
            let by_trouble = self.restarts % 2 == 1 && self.problem.choices.is_empty();
            let calm = if by_trouble { u64::MAX - self.trouble[op as usize] as u64 } else { 0 };
            self.pending.push(Reverse((calm, self.rank[op as usize], query)));
        }
    }

    fn look_at(&mut self, number: u32, budget: &mut Budget<'_>) -> Result<(), End> {
        if !budget.spend(1 + u64::from(self.problem.replicas)) {
            return Err(End::Spent);
        }
        match self.rules.evaluate(&self.bounds, self.problem.queries[number as usize]) {
            Answer::Explained => return Ok(()),
            Answer::Impossible(conflict) => self.learn(conflict)?,
            Answer::Forced(literal, reasons) => {
                if let Err(conflict) = self.bounds.assert(literal, &reasons) {
                    self.learn(conflict)?;
                }
            }
            Answer::Open(literal) => {
                self.effort.decisions += 1;
                // With many choices, most end in circles of timestamps: better found early.
                if !self.problem.choices.is_empty() {
                    if !budget.spend(self.problem.len() as u64) {
                        return Err(End::Spent);
                    }
                    if let Err(circle) = stamps::arrange(self.problem, &self.bounds) {
                        self.learn(stamps::literals(self.problem, &self.bounds, &circle))?;
                        self.enqueue(number);
                        return Ok(());
                    }
                }
                if let Err(conflict) = self.bounds.decide(literal) {
                    self.learn(conflict)?;
                }
            }
        }
        self.enqueue(number);
        Ok(())
    }

    /// Looks at every query. Who saw what may have changed for the operations that a query saw, and not for itself.
    fn all_explained(&mut self, budget: &mut Budget<'_>) -> Result<bool, End> {
        for number in 0..self.problem.queries.len() as u32 {
            if !budget.spend(1 + u64::from(self.problem.replicas)) {
                return Err(End::Spent);
            }
            let answer = self.rules.evaluate(&self.bounds, self.problem.queries[number as usize]);
            if !matches!(answer, Answer::Explained) {
                self.enqueue(number);
            }
        }
        Ok(self.pending.is_empty())
    }

    /// Learns from a conflict, and goes back to where that tells something.
    fn learn(&mut self, conflict: Conflict) -> Result<(), End> {
        let mut conflict = conflict;
        loop {
            self.effort.conflicts += 1;
            let Some(lesson) = self.clauses.analyze(&self.bounds, &conflict) else { return Err(End::Refuted) };
            self.blame(&lesson.clause);
            self.go_back(lesson.level);
            match self.clauses.add(&mut self.bounds, lesson.clause) {
                Ok(()) => break,
                Err(next) => conflict = next,
            }
        }
        self.patience -= 1;
        if self.patience == 0 {
            self.restarts += 1;
            self.patience = PATIENCE * luby(self.restarts);
            self.go_back(0);
        }
        Ok(())
    }

    fn go_back(&mut self, level: usize) {
        let mut undone = Vec::new();
        self.bounds.backtrack(level, |literal| undone.push(literal));
        undone.into_iter().for_each(|literal| self.touch(literal));
    }

    fn blame(&mut self, clause: &[Literal]) {
        self.weight *= 1.05;
        for literal in clause {
            let op = (literal.variable / self.problem.replicas) as usize;
            if let Some(trouble) = self.trouble.get_mut(op) {
                *trouble += self.weight;
            }
        }
        if self.weight > 1e15 {
            self.trouble.iter_mut().for_each(|trouble| *trouble /= self.weight);
            self.weight = 1.0;
        }
    }
}
