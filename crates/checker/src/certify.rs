//! Re-checks evidence. Shares no code with the search, and takes nothing from what readers derive: it starts from the events.
//!
//! - A witness is replayed: every transaction that counts stands in it once, reads by themselves are in order, and for each read no
//!   visible writer of its key stands between the version read and the reader.
//! - A faulty read is looked up.
//! - A cycle is walked: each edge must have the reason it claims.
//!
//! Linear in the history, times the number of sessions for a causal witness.

use isonomy_history::{History, TxnId};

use crate::level::IsolationLevel;
use crate::verdict::{Evidence, Verdict};

mod cycle;
mod facts;
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
    /// The claimed fault is none.
    #[error("the read is not wrong in the way claimed")]
    NoFault,
    /// The edges do not close.
    #[error("the edges are not a cycle")]
    NotACycle,
    /// An edge does not have the reason it claims.
    #[error("edge {0} does not hold: {1}")]
    Edge(usize, &'static str),
    /// The level needs other evidence.
    #[error("no evidence of this kind is known for {0}")]
    Unsupported(IsolationLevel),
    /// There is nothing to check: the verdict is undecided.
    #[error("an undecided verdict has no evidence")]
    Undecided,
}

/// Checks that a verdict's evidence shows what it claims.
pub fn certify(history: &History, level: IsolationLevel, session_order: bool, verdict: &Verdict) -> Result<(), Flaw> {
    let facts = Facts::of(history);
    let session_order = session_order && level.has_session_order();
    match verdict {
        Verdict::Holds(witness) => witness::check(&facts, level, session_order, &witness.order),
        Verdict::Violated(counterexample) => match &counterexample.evidence {
            Evidence::Read(fault) => cycle::check_fault(&facts, level, fault),
            Evidence::Cycle(edges) => cycle::check(&facts, level, session_order, edges),
        },
        Verdict::Undecided(_) => Err(Flaw::Undecided),
    }
}

fn name(history: &History, txn: TxnId) -> Box<str> {
    history.transaction_name(txn).to_string().into()
}
