//! The strong levels: prefix, snapshot isolation and its variants, serializability with and without real time.
//!
//! Each of them is acyclicity of one kind of graph, in which transactions begin and commit ([`Rules`] says where edges attach), for
//! some order of the versions of each key. Which order is the question, and in general a hard one (Papadimitriou 1979; Biswas and Enea
//! 2019). Databases that work make it easy: the order in which transactions were recorded, or one that is simulated from what they saw,
//! is nearly right, and what is wrong with it is wrong in small places. So the order is guessed and repaired ([`engine`]), and only the
//! places that remain are searched ([`region`]).

use isonomy_history::{History, TxnId};
use isonomy_solver::Budget;

use crate::level::IsolationLevel;
use crate::verdict::Counterexample;

mod clocks;
mod core;
mod engine;
mod graph;
mod name;
mod problem;
mod refute;
mod region;
mod replay;
mod rules;
mod simulate;
mod times;

use engine::Decision;
use problem::Problem;
use rules::Rules;
pub(crate) use times::are_known as times_are_known;

/// Work that may be spent on making a counterexample smaller.
const SHRINKING: u64 = 200_000_000;

/// How a level came out.
pub(crate) enum Outcome {
    /// An order of commits that shows that it holds.
    Order(Vec<TxnId>),
    /// What is wrong.
    Violated(Counterexample),
    /// The caller stopped it.
    Stopped,
}

/// A strong level, asked of a history.
pub(crate) struct Question<'h> {
    history: &'h History,
    level: IsolationLevel,
    rules: Rules,
    problem: Problem,
}

impl<'h> Question<'h> {
    pub(crate) fn new(history: &'h History, level: IsolationLevel, session_order: bool, clock_drift: i64) -> Self {
        let rules = Rules::of(level, session_order, clock_drift);
        Question { history, level, rules, problem: Problem::whole(history, rules) }
    }

    /// Whether an order of commits, given as numbers of transactions, shows that the level holds.
    pub(crate) fn holds_by(&self, order: &[u32]) -> bool {
        replay::holds(&self.problem, &self.local(order))
    }

    fn local(&self, order: &[u32]) -> Vec<u32> {
        if self.problem.txns.len() == self.history.transaction_count() {
            return order.to_vec();
        }
        let number = |txn: &u32| self.problem.txns.binary_search(&TxnId(*txn)).expect("it counts") as u32;
        order.iter().map(number).collect()
    }

    fn global(&self, order: &[u32]) -> Vec<TxnId> {
        order.iter().map(|&txn| self.problem.txns[txn as usize]).collect()
    }

    /// Decides it. `seed` is an order of all transactions that count near which a solution may be.
    pub(crate) fn decide(&self, seed: &[u32], stop: &dyn Fn() -> bool, explains: &dyn Fn()) -> Outcome {
        let seed = self.local(seed);
        if !self.rules.session_order && self.history.sessions().len() < self.problem.txns.len() {
            // Sessions are seldom broken, and where they are not, they make the question easier.
            let rules = Rules { session_order: true, ..self.rules };
            let stricter = Problem::whole(self.history, rules);
            match self.run(&stricter, &seed, stop) {
                Decision::Order(order) => return Outcome::Order(self.global(&order)),
                Decision::Stopped => return Outcome::Stopped,
                Decision::Violated(_) => {}
            }
        }
        match self.run(&self.problem, &seed, stop) {
            Decision::Order(order) => Outcome::Order(self.global(&order)),
            Decision::Stopped => Outcome::Stopped,
            Decision::Violated(core) => {
                explains();
                self.explain(self.global(&core), stop).map_or(Outcome::Stopped, Outcome::Violated)
            }
        }
    }

    fn run(&self, problem: &Problem, seed: &[u32], stop: &dyn Fn() -> bool) -> Decision {
        let part = |txns: &[u32]| Problem::part(self.history, problem.rules, self.global(txns));
        engine::decide(problem, seed, &part, stop)
    }

    /// Small evidence from transactions that violate the level by themselves.
    fn explain(&self, core: Vec<TxnId>, stop: &dyn Fn() -> bool) -> Option<Counterexample> {
        let (history, rules) = (self.history, self.rules);
        let mut budget = Budget::new(SHRINKING).with_stop(stop);
        let txns = refute::shrink(history, rules, core, &mut budget);
        let evidence = refute::prove(history, rules, &txns, &mut Budget::unlimited().with_stop(stop))?;
        let anomaly = name::name(history, self.level, rules, &txns, &evidence, &mut budget);
        Some(Counterexample { anomaly, evidence })
    }
}
