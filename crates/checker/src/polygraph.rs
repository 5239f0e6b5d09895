//! The strong levels: prefix, snapshot isolation and its variants, serializability with and without real time.
//!
//! Each of them is acyclicity of one kind of graph, in which transactions begin and commit ([`Rules`] says where edges attach), for
//! some order of the versions of each key. Which order is the question, and in general a hard one (Papadimitriou 1979; Biswas and Enea
//! 2019). Databases that work make it easy: the order in which transactions were recorded, or one that is simulated from what they saw,
//! is nearly right, and what is wrong with it is wrong in small places. So the order is guessed and repaired ([`engine`]), and only the
//! places that remain are searched ([`region`]).

use isonomy_history::{History, TxnId};
use isonomy_solver::Budget;

use crate::check::{Options, Stage};
use crate::level::IsolationLevel;
use crate::verdict::Counterexample;

mod clocks;
mod constraints;
mod core;
mod determined;
mod engine;
mod graph;
mod linear;
mod name;
mod problem;
mod refute;
mod region;
mod replay;
mod rules;
mod simulate;
mod times;

use engine::{Decision, Settings};
use problem::Problem;
use rules::Rules;
pub(crate) use times::{are_known as times_are_known, span as times_of};

/// Work that may be spent on making a counterexample smaller.
const SHRINKING: u64 = 200_000_000;

/// How a level came out.
pub(crate) enum Outcome {
    /// An order of commits that shows that it holds.
    Order(Vec<TxnId>),
    /// Transactions that violate it by themselves.
    Violated(Vec<TxnId>),
    /// The caller stopped it.
    Stopped,
}

/// How a level came out, without evidence of a violation.
pub(crate) enum Answer {
    /// An order of commits that shows that it holds.
    Order(Vec<TxnId>),
    /// There is none.
    Violated,
    /// The caller stopped it.
    Stopped,
}

/// A strong level, asked of a history.
pub(crate) struct Question<'h> {
    history: &'h History,
    rules: Rules,
    problem: Problem,
}

impl<'h> Question<'h> {
    pub(crate) fn new(history: &'h History, level: IsolationLevel, session_order: bool, clock_drift: i64) -> Self {
        let rules = Rules::of(level, session_order, clock_drift);
        Question { history, rules, problem: Problem::whole(history, rules) }
    }

    /// Strict serializability of one object, given by its transactions.
    pub(crate) fn of_object(history: &'h History, txns: Vec<TxnId>, session_order: bool, clock_drift: i64) -> Self {
        let rules = Rules::of(IsolationLevel::StrictSerializable, session_order, clock_drift);
        Question { history, rules, problem: Problem::part(history, rules, txns) }
    }

    /// Whether an order of commits, given as numbers of transactions, shows that the level holds.
    pub(crate) fn holds_by(&self, order: &[u32]) -> bool {
        replay::holds(&self.problem, &self.local(order))
    }

    /// Whether what was read leaves no choice, or shows that an update was lost.
    pub(crate) fn is_determined(&self) -> bool {
        !matches!(determined::versions(&self.problem), determined::Versions::Open)
    }

    /// Decides it if what was read leaves no choice: in linear time, but for the sorting of times.
    pub(crate) fn if_determined(&self) -> Option<Outcome> {
        determined::decide(&self.problem).map(|decision| self.outcome(decision))
    }

    /// Decides it without guessing.
    pub(crate) fn by_constraints(&self, options: &Options<'_>) -> Answer {
        match constraints::decide(&self.problem, options) {
            constraints::Answer::Order(order) => Answer::Order(self.global(&order)),
            constraints::Answer::Violated => Answer::Violated,
            constraints::Answer::Stopped => Answer::Stopped,
        }
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
    pub(crate) fn decide(&self, seed: &[u32], trust_seed: bool, options: &Options<'_>) -> Outcome {
        let seed = self.local(seed);
        self.outcome(self.run(&self.problem, &seed, trust_seed, options))
    }

    fn outcome(&self, decision: Decision) -> Outcome {
        match decision {
            Decision::Order(order) => Outcome::Order(self.global(&order)),
            Decision::Stopped => Outcome::Stopped,
            Decision::Violated(core) => Outcome::Violated(self.global(&core)),
        }
    }

    fn run(&self, problem: &Problem, seed: &[u32], trust_seed: bool, options: &Options<'_>) -> Decision {
        let part = |txns: &[u32]| Problem::part(self.history, problem.rules, self.global(txns));
        let settings = Settings { prune: options.ablation.prune, trust_seed, ..Settings::default() };
        engine::decide(problem, seed, &part, settings, options)
    }

    /// Small evidence from transactions that violate the level by themselves. When the caller stops it, it is less small: what was found
    /// is not given up.
    pub(crate) fn explain(&self, core: Vec<TxnId>, options: &Options<'_>) -> Counterexample {
        (options.stage)(Stage::Explain);
        let (history, stop) = (self.history, options.stop);
        let mut budget = Budget::new(SHRINKING).with_stop(stop);
        // What violates a weaker level already is told as that: it is the plainer story, and evidence for this level too.
        let mut weaker = self.rules.weaker();
        let violated = weaker.find(|&rules| refute::violates(history, rules, &core, &mut budget) == Some(true));
        let rules = violated.unwrap_or(self.rules);
        let txns = refute::shrink(history, rules, core, &mut budget);
        let evidence = refute::prove(history, rules, &txns);
        Counterexample { anomaly: name::name(history, rules, &txns, &evidence), evidence }
    }
}

#[cfg(test)]
mod tests {
    use isonomy_history::HistoryBuilder;
    use isonomy_workload::{HistorySpec, Preset};

    use super::*;
    use crate::order::likely_order;

    /// Facts and searches, from good seeds and bad ones, are ways to one answer; and the transactions blamed for a violation are enough
    /// for it.
    #[test]
    fn no_answer_depends_on_how_it_is_found() {
        let levels = [IsolationLevel::Prefix, IsolationLevel::SnapshotIsolation, IsolationLevel::Serializable];
        let presets = [Preset::A, Preset::C, Preset::BlindRw, Preset::GeneralWh, Preset::ListAppend];
        let mut outcomes = [0; 2];
        for seed in 1..=60 {
            let preset = presets[seed as usize % presets.len()];
            let store = ["causal", "prefix", "snapshot-isolation", "serializable"][seed as usize % 4];
            let level = store.parse().expect("it is a store");
            let mut spec = HistorySpec { transactions: 400, sessions: 8, level, seed, ..preset.spec() };
            spec.workload.keys = spec.workload.keys.min(60 * seed);
            let mut builder = HistoryBuilder::new();
            spec.generate(&mut builder).expect("the specification is sound");
            let history = builder.finish().expect("no value is written twice");
            let good = likely_order(&history).order;
            let mut bad = good.clone();
            bad.sort_unstable_by_key(|&txn| txn.wrapping_mul(2_654_435_761));
            for level in levels {
                let question = Question::new(&history, level, seed % 7 != 0, 0);
                let part = |txns: &[u32]| Problem::part(&history, question.rules, question.global(txns));
                let mut answers = Vec::new();
                for order in [&good, &bad] {
                    for (prune, small, trust_seed) in
                        [(true, 4000, false), (true, 4000, true), (true, 0, false), (true, 0, true), (false, 0, false)]
                    {
                        let seed = question.local(order);
                        let settings = Settings { prune, small, trust_seed };
                        answers.push(
                            match engine::decide(&question.problem, &seed, &part, settings, &Options::default()) {
                                Decision::Order(order) => {
                                    assert!(replay::holds(&question.problem, &order), "{level}: the order is none");
                                    true
                                }
                                Decision::Violated(core) => {
                                    let core = question.global(&core);
                                    let mut budget = Budget::unlimited();
                                    let enough = refute::violates(&history, question.rules, &core, &mut budget);
                                    assert_eq!(enough, Some(true), "{level}: {} are blamed", core.len());
                                    false
                                }
                                Decision::Stopped => unreachable!("nobody stops it"),
                            },
                        );
                    }
                }
                assert!(
                    answers.iter().all(|&answer| answer == answers[0]),
                    "{preset}, seed {seed}, {level}: {answers:?}"
                );
                outcomes[usize::from(answers[0])] += 1;
            }
        }
        assert!(outcomes[0] > 30 && outcomes[1] > 30, "both outcomes occur: {outcomes:?}");
    }
}
