//! Verdicts, and the evidence that each carries.

use isonomy_history::{Key, ReadFault, TxnId};

use crate::anomaly::Anomaly;

/// Whether a history satisfies a level, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It does: here is an order that shows it.
    Holds(Witness),
    /// It does not: here is what is wrong.
    Violated(Counterexample),
    /// Nobody knows.
    Undecided(Reason),
}

/// The transactions that count, in an order of commits that satisfies the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// First to last. The initial state comes before all.
    pub order: Vec<TxnId>,
}

/// Small evidence of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What it is called.
    pub anomaly: Anomaly,
    /// What happened.
    pub evidence: Evidence,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A read that is wrong by itself.
    Read(ReadFault),
    /// Transactions that each must come before the next, in a circle.
    Cycle(Vec<Edge>),
}

/// A transaction, or the initial state (`None`).
pub type Party = Option<TxnId>;

/// `from` must come before `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier one.
    pub from: Party,
    /// The later one.
    pub to: Party,
    /// Why.
    pub why: Why,
}

/// Why one transaction must come before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The initial state comes before everything.
    Initial,
    /// They are of one session.
    Session,
    /// The later one read the key from the earlier one.
    WriteRead(Key),
    /// List reads show the earlier one's element before the later one's.
    Version(Key),
    /// `reader` read the key from the later one, although the earlier one, which writes the key too, was visible to it.
    Overwritten {
        /// The key that both write.
        key: Key,
        /// Who read it.
        reader: TxnId,
        /// How the earlier one was visible: steps from it to the reader.
        seen: Vec<Step>,
    },
}

/// A step of visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose effects are visible.
    pub from: TxnId,
    /// To whom.
    pub to: TxnId,
    /// The key through which: `None` if they are of one session.
    pub key: Option<Key>,
}

/// Why a level is undecided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The history lacks times, of which the level speaks.
    #[error("the level speaks of real time, and the history has no times")]
    NoTimes,
    /// The budget was spent, or the caller stopped the search.
    #[error("stopped before it was decided")]
    Stopped,
    /// There are too many sessions, or without session order too many transactions, to keep track of what each has seen.
    #[error("too many sessions (or, without session order, transactions) to keep track of what each has seen")]
    TooLarge,
    /// The level has no checker yet.
    #[error("this version has no checker for the level")]
    NotBuilt,
}

impl Verdict {
    /// `holds`, `violated` or `undecided`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

impl Counterexample {
    /// The transactions that occur in it, in order of first appearance.
    pub fn transactions(&self) -> Vec<TxnId> {
        let mut all = Vec::new();
        let mut add = |txn: Option<TxnId>| {
            if let Some(txn) = txn
                && !all.contains(&txn)
            {
                all.push(txn);
            }
        };
        match &self.evidence {
            Evidence::Read(fault) => add(Some(fault.txn)),
            Evidence::Cycle(edges) => {
                for edge in edges {
                    add(edge.from);
                    if let Why::Overwritten { reader, seen, .. } = &edge.why {
                        seen.iter().for_each(|step| add(Some(step.from)));
                        add(Some(*reader));
                    }
                }
            }
        }
        all
    }
}
