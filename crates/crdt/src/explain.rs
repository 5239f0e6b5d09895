//! Why a history is not allowed, step by step, as data from which all renderings come.

use crate::history::{History, OpId};
use crate::verdict::Counterexample;

/// The story of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// One sentence on what is wrong.
    pub headline: String,
    /// What the type promises that is broken here.
    pub promise: &'static str,
    /// What usually causes it.
    pub cause: &'static str,
    /// The operations that matter, in ascending order.
    pub operations: Vec<OpId>,
    /// What follows from what, up to the contradiction.
    pub sentences: Vec<Sentence>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// How many suppositions it is under.
    pub depth: usize,
    /// What it says.
    pub text: String,
    /// What it concludes, as arrows between operations.
    pub arrows: Vec<Arrow>,
    /// The operations that it speaks of.
    pub operations: Vec<OpId>,
}

/// A relation between two operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Arrow {
    /// The operation that came first, or that was not seen.
    pub from: OpId,
    /// The operation that saw it, did not see it, or has a higher timestamp.
    pub to: OpId,
    /// Which.
    pub kind: ArrowKind,
}

/// What an arrow says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArrowKind {
    /// The second saw the first.
    Saw,
    /// The second did not see the first.
    Missed,
    /// The second has a higher timestamp.
    Later,
}

impl ArrowKind {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            ArrowKind::Saw => "saw",
            ArrowKind::Missed => "missed",
            ArrowKind::Later => "later",
        }
    }
}

/// An operation by its replica and its place there, from 1: `a:3`.
pub fn name(history: &History, op: OpId) -> String {
    format!("{}:{}", history.replica_label(history.replica_of(op)), history.position(op) + 1)
}

/// Tells why no visibility explains the operations of a counterexample.
pub fn explain(history: &History, counterexample: &Counterexample) -> Explanation {
    Explanation {
        headline: format!("no visibility explains {} operations", counterexample.operations.len()),
        promise: promise(history.data_type()),
        cause: "",
        operations: counterexample.operations.clone(),
        sentences: Vec::new(),
    }
}

fn promise(_data_type: crate::DataType) -> &'static str {
    ""
}
