//! Checks evidence again, from the definitions, with code that shares nothing with the search.
//!
//! An operation saw a prefix of each replica: so many operations of it. A query answers by what it saw of its object:
//!
//! - sets and flags: the updates that no other seen update saw decide; an addition among them wins, or a removal;
//! - multi-value registers: the values of the writes that no other seen write saw;
//! - last-writer-wins registers: the value of the write with the highest timestamp;
//! - counters: increments minus decrements;
//! - arrays: the tree of additions, of siblings the one with the higher timestamp first, without what was removed.

mod carry;
mod left_out;
mod refutation;
mod witness;

use crate::history::History;
use crate::verdict::Verdict;

/// What is wrong with evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);

/// Checks the evidence of a verdict. There is none for an undecided history.
///
/// # Errors
///
/// The evidence does not show what the verdict says.
pub fn certify(history: &History, verdict: &Verdict) -> Result<(), Fault> {
    match verdict {
        Verdict::Holds(evidence) => witness::check(history, evidence),
        Verdict::Violated(evidence) => {
            let part = left_out::part(history, &evidence.operations)?;
            refutation::check(&part, &evidence.steps)
        }
        Verdict::Undecided => Err(Fault("an undecided history has no evidence".into())),
    }
}

fn require(holds: bool, fault: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault(fault())) }
}
