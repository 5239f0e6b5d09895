//! Decides which isolation levels a history satisfies, and returns evidence.
//!
//! ```
//! use isonomy_checker::{IsolationLevel, Options, Verdict, check};
//! use isonomy_history::HistoryBuilder;
//!
//! let mut history = HistoryBuilder::new();
//! history.transaction("alice").write("x", 1).write("y", 1).commit();
//! history.transaction("bob").read("x", 1).read("y", None::<i64>).commit();
//! let history = history.finish()?;
//!
//! let verdict = check(&history, IsolationLevel::ReadAtomic, &Options::default());
//! let Verdict::Violated(counterexample) = verdict else { panic!("bob saw half of alice's transaction") };
//! assert_eq!(counterexample.anomaly.name(), "non-monotonic-read");
//! # Ok::<(), isonomy_history::HistoryError>(())
//! ```
//!
//! Checking a [`History`](isonomy_history::History) cannot fail; it can only be left undecided. All evidence can be
//! re-checked by [`certify`](certify::certify), which shares no code with the search.

pub mod certify;
pub mod events;
pub mod frontier;
pub mod oracle;
pub mod report;

mod anomaly;
mod chains;
mod check;
mod explain;
mod level;
mod linearizable;
mod lists;
mod order;
pub mod patterns;
mod polygraph;
mod saturation;
mod trace;
mod verdict;

pub use anomaly::{ANOMALIES, Anomaly, AnomalyInfo, UnknownAnomaly};
pub use check::{Ablation, Engine, Options, Stage, check, versions_are_determined};
pub use explain::{Distinction, Explanation, Participant, Relation, Sentence, Standing, Topic, explain};
pub use level::{IsolationLevel, Terms, UnknownLevel};
pub use verdict::{Case, Counterexample, Edge, End, Evidence, Party, Reason, Refutation, Step, Verdict, Why, Witness};
