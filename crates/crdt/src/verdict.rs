//! What was decided, and the evidence.

use crate::history::{OpId, ReplicaId};

/// Whether a type allows a history.
#[must_use]
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It does; this is how it may have come about.
    Holds(Witness),
    /// It does not; these operations show it.
    Violated(Counterexample),
    /// The budget was spent before it was known.
    Undecided,
}

impl Verdict {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Undecided => "undecided",
        }
    }
}

/// How a history may have come about: what each operation saw, and an order of timestamps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// For each operation, how many operations of each replica it saw.
    pub seen: Vec<Vec<u32>>,
    /// All operations by timestamp: each after those that it saw.
    pub order: Vec<OpId>,
}

/// Operations that no visibility explains, whatever the others did, and a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The operations, in ascending order. Without any one of them, there would be an explanation of the others.
    pub operations: Vec<OpId>,
    /// Whether that was shown; the budget may have been spent before.
    pub minimal: bool,
    /// What was learnt on the way to the contradiction, each step following from the operations and the steps before it by
    /// carrying bounds on.
    pub steps: Vec<Step>,
}

/// At least one of these bounds holds.
pub type Step = Vec<Bound>;

/// A bound of what an operation saw, or of which candidate a read chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The operation saw at least so many of the operations of a replica; operations count only if they are part of the
    /// counterexample.
    Saw(OpId, ReplicaId, u32),
    /// The operation did not see more than so many of them.
    SawAtMost(OpId, ReplicaId, u32),
    /// The read returned what was written by one of the candidates from this number on: the writes of its value that are part
    /// of the counterexample, numbered from 0.
    ChoseFrom(OpId, u32),
    /// The read returned what was written by one of the candidates up to this number.
    ChoseUpTo(OpId, u32),
}
