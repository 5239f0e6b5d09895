//! Why a history is not allowed, step by step, as data from which all renderings come.

mod words;

use words::Words;

use crate::counterexample::part;
use crate::data_type::DataType;
use crate::history::{History, OpId};
use crate::problem::Problem;
use crate::search::trace;
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
    let kept = |op| counterexample.operations.binary_search(&op).is_ok();
    let (part, from) = part(history, kept);
    let problem = Problem::new(&part);
    let words = Words::new(history, &problem, &from);
    let sentences = match trace(&problem) {
        Some(case) => words.story(&case),
        None => vec![words.too_long()],
    };
    Explanation {
        headline: words.headline(),
        promise: promise(history.data_type()),
        cause: cause(history.data_type()),
        operations: counterexample.operations.clone(),
        sentences,
    }
}

fn promise(data_type: DataType) -> &'static str {
    match data_type {
        DataType::OrSet => {
            "An element is in the set if somebody added it, as far as the replica has heard, and nobody removed it after hearing of that."
        }
        DataType::RwSet => {
            "An element is in the set if somebody added it, as far as the replica has heard, and every removal is known to such an addition."
        }
        DataType::EwFlag => {
            "A flag is on if somebody enabled it, as far as the replica has heard, and nobody disabled it after hearing of that."
        }
        DataType::DwFlag => {
            "A flag is on if somebody enabled it, as far as the replica has heard, and everybody who disabled it was heard of before that."
        }
        DataType::MvRegister => {
            "A read returns the values of all writes that the replica has heard of, except those that another such write knew of."
        }
        DataType::LwwRegister => {
            "A read returns the write with the highest timestamp of all that the replica has heard of, and timestamps agree with who has heard of whom."
        }
        DataType::Counter => "A read returns increments minus decrements that the replica has heard of.",
        DataType::Rga => {
            "A read returns all elements that the replica has heard of and that nobody it has heard of removed; of elements put after the same one, the later stands first."
        }
    }
}

fn cause(data_type: DataType) -> &'static str {
    match data_type {
        DataType::OrSet | DataType::EwFlag => {
            "an update that was lost, or arrived before one that it depends on; a removal that removes more than its replica had heard of; a replica that lets removals win"
        }
        DataType::RwSet | DataType::DwFlag => {
            "an update that was lost, or arrived before one that it depends on; an addition that overrides removals its replica had not heard of; a replica that lets additions win"
        }
        DataType::MvRegister => {
            "a write that was lost, or arrived before one that it depends on; a version vector that is compared wrongly, so that one of two concurrent values is dropped or an old one kept"
        }
        DataType::LwwRegister => {
            "a write that was lost; timestamps of clocks that do not follow what was heard of; ties that replicas break differently"
        }
        DataType::Counter => "an update that was lost or counted twice, or arrived before one that it depends on",
        DataType::Rga => {
            "an update that was lost, or arrived before one that it depends on; a tombstone that was collected too early; ties between siblings that replicas break differently"
        }
    }
}
