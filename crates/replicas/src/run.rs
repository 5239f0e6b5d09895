//! What happened in a trial.

use std::fmt;

use isonomy_crdt::{DataType, History, Label, NamedOperation};

use crate::known::{Deviation, deviation};
use crate::trial::replica_label;

/// What happened in a trial: what everyone can see, and what only the trial knows. Displays as a program.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) data_type: DataType,
    /// All that happened, in order.
    pub steps: Vec<Step>,
    /// What the replicas were asked and answered.
    pub history: History,
}

/// A step of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// An operation.
    Operation(Recorded),
    /// One replica received all that another one had.
    Delivery {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
    },
}

/// An operation, and what its replica had received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The replica.
    pub replica: u32,
    /// The operation and its answer.
    pub operation: NamedOperation,
    /// For each replica, how many of its first operations had arrived; for this replica, how many it had done.
    pub seen: Vec<u32>,
}

impl Step {
    /// The operation, if it is one.
    pub fn operation(&self) -> Option<&Recorded> {
        match self {
            Step::Operation(recorded) => Some(recorded),
            Step::Delivery { .. } => None,
        }
    }
}

impl Run {
    /// Whether the answers are what the type says of the updates that had arrived; if not, where they differ.
    ///
    /// The history may be admissible even so, if other deliveries could explain the answers. But a run without
    /// deviation always has an admissible history.
    pub fn deviation(&self) -> Option<Deviation> {
        let operations: Vec<&Recorded> = self.steps.iter().filter_map(Step::operation).collect();
        deviation(self.data_type, &operations)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step {
                Step::Operation(recorded) => writeln!(f, "{}", Line(self.data_type, recorded))?,
                Step::Delivery { from, to } => {
                    writeln!(f, "{} -> {}", replica_label(*from), replica_label(*to))?;
                }
            }
        }
        Ok(())
    }
}

/// An operation in the words of its type.
pub(crate) struct Line<'r>(pub(crate) DataType, pub(crate) &'r Recorded);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use NamedOperation as O;
        let methods = self.0.methods();
        let (first, second, query) = (methods.first, methods.second.unwrap_or_default(), methods.query);
        write!(f, "{}: ", replica_label(self.1.replica))?;
        match &self.1.operation {
            O::Add(x) | O::Increment(x) => write!(f, "{first}({x})"),
            O::Remove(x) | O::Decrement(x) | O::Delete(x) => write!(f, "{second}({x})"),
            O::Contains(x, answer) => write!(f, "{query}({x}) = {answer}"),
            O::Write(x, value) => write!(f, "{first}({x}, {value})"),
            O::Read(x, values) => write!(f, "{query}({x}) = {}", list(values)),
            O::Count(x, count) => write!(f, "{query}({x}) = {count}"),
            O::Insert(Some(after), element) => write!(f, "{first}({after}, {element})"),
            O::Insert(None, element) => write!(f, "{first}(_, {element})"),
            O::List(elements) => write!(f, "{query}() = {}", list(elements)),
        }
    }
}

/// Labels in brackets.
pub(crate) fn list(labels: &[Label]) -> String {
    let labels: Vec<String> = labels.iter().map(Label::to_string).collect();
    format!("[{}]", labels.join(", "))
}
