//! Re-checks evidence. Shares no code with the search, and takes nothing from what readers derive: it starts from the events.
//!
//! - A witness is replayed: every transaction that counts stands in it once, reads by themselves are in order, and for each read no
//!   visible writer of its key stands between the version read and the reader. At the levels from `prefix` on every transaction
//!   must have a place for its snapshot (`certify/snapshots.rs`).
//! - A faulty read is looked up.
//! - A cycle is walked: each edge must have the reason it claims.
//! - A refutation is walked, too: all its cases, with what each assumes (`certify/cases.rs`).
//!
//! Linear in the history and in the evidence, times the number of sessions for a causal witness; times have to be sorted.

use isonomy_history::{History, TxnId};

use crate::level::{IsolationLevel, Terms};
use crate::verdict::{Evidence, Verdict, Why};

mod cases;
mod clock;
mod cycle;
mod facts;
mod known;
mod objects;
mod snapshots;
mod witness;

use facts::Facts;

/// Why evidence does not show what it claims.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The witness leaves out a transaction, has one twice, or has one that does not count.
    #[error("the witness does not hold each transaction that counts exactly once")]
    NotAPermutation,
    /// A transaction stands before one of its session that it follows.
    #[error("{0} stands before an earlier transaction of its session")]
    AgainstSession(Box<str>),
    /// A transaction stands before one that it reads from.
    #[error("{0} stands before a transaction that it reads from")]
    AgainstRead(Box<str>),
    /// A list read is not a prefix of the order of appends.
    #[error("{0} reads a list that is no prefix of the appends in this order")]
    AgainstList(Box<str>),
    /// A read that no level allows.
    #[error("{0} has a read that is wrong by itself")]
    FaultyRead(Box<str>),
    /// A visible write is newer than the version read.
    #[error("{reader} misses a write of {writer} that is visible to it")]
    Missed {
        /// Who read.
        reader: Box<str>,
        /// Whose write was missed.
        writer: Box<str>,
    },
    /// What a transaction must have seen leaves no place for its snapshot in the order of commits.
    #[error("{txn} must begin after {after} commits and before {before} does, but they stand in another order")]
    NoSnapshot {
        /// Whose snapshot.
        txn: Box<str>,
        /// The last one that it must have.
        after: Box<str>,
        /// The first one that it must not have.
        before: Box<str>,
    },
    /// A transaction stands before one that really happened before it.
    #[error("{0} stands before a transaction that, by the clocks, came before it")]
    AgainstTime(Box<str>),
    /// The level speaks of times that the history does not have.
    #[error("the level speaks of real time, and some transaction has no times")]
    NoTimes,
    /// The claimed fault is none.
    #[error("the read is not wrong in the way claimed")]
    NoFault,
    /// The edges do not close.
    #[error("the edges are not a cycle")]
    NotACycle,
    /// An edge does not have the reason it claims.
    #[error("edge {0} does not hold: {1}")]
    Edge(usize, &'static str),
    /// Some case is led to never or more than once, or from a later one, or there is none.
    #[error("the cases are not a tree")]
    NotATree,
    /// The transactions of a split are one, or one of them does not write the key.
    #[error("there are no two versions to be in either order")]
    NoSplit,
    /// A case has a flaw.
    #[error("case {case}: {flaw}")]
    Case {
        /// Its index.
        case: usize,
        /// What is wrong with it.
        flaw: Box<Flaw>,
    },
    /// The level needs other evidence.
    #[error("no evidence of this kind is known for {0}")]
    Unsupported(IsolationLevel),
    /// The level is about single objects, and a transaction, or the evidence, is about several.
    #[error("it is about several objects, where each has to stand by itself")]
    SeveralObjects,
    /// There is nothing to check: the verdict is undecided.
    #[error("an undecided verdict has no evidence")]
    Undecided,
}

/// Checks that a verdict's evidence shows what it claims.
///
/// A level that speaks of real time holds only where all times are known. It may be violated without: by what no times could mend.
pub fn certify(history: &History, level: IsolationLevel, terms: Terms, verdict: &Verdict) -> Result<(), Flaw> {
    let facts = Facts::of(history);
    let terms = Terms { session_order: terms.session_order && level.has_session_order(), ..terms };
    if level == IsolationLevel::Linearizable {
        return objects::check(&facts, terms, verdict);
    }
    let is_weak = matches!(level, IsolationLevel::ReadCommitted | IsolationLevel::ReadAtomic | IsolationLevel::Causal);
    match verdict {
        Verdict::Holds(witness) => witness::check(&facts, level, terms, &witness.order),
        Verdict::Violated(counterexample) => match &counterexample.evidence {
            Evidence::Read(fault) => cycle::check_fault(&facts, level, fault),
            Evidence::Cycle(edges) => {
                // What violates causal violates all stronger levels.
                let causal = edges.iter().any(|edge| matches!(edge.why, Why::Initial | Why::Overwritten { .. }));
                if is_weak || causal {
                    cycle::check(&facts, level, terms.session_order, edges)
                } else {
                    cases::check_cycle(&facts, level, terms, edges)
                }
            }
            Evidence::Refutation(_) if is_weak => Err(Flaw::Unsupported(level)),
            Evidence::Refutation(refutation) => cases::check_refutation(&facts, level, terms, &refutation.cases),
        },
        Verdict::Undecided(_) => Err(Flaw::Undecided),
    }
}

fn name(history: &History, txn: TxnId) -> Box<str> {
    history.transaction_name(txn).to_string().into()
}
