//! Brute force: the definitions of the levels, followed with no cleverness, for tiny histories.
//!
//! A history satisfies a level iff its reads are consistent by themselves and a suitable order exists. Here every order is
//! tried. Nothing is shared with the rest of the checker, nor with [`Derived`](isonomy_history::Derived): which
//! transactions count and who read what from whom is found anew, from the events alone (`oracle/reads.rs`).
//!
//! - Read-committed, read-atomic and causal: some order of commits satisfies the axiom of Biswas and Enea (`oracle/axioms.rs`).
//! - The other levels: for some order of the versions of each key a graph of begins and commits is acyclic (`oracle/graphs.rs`).
//! - Prefix, snapshot isolation and serializable are also decided by axioms, so that tests can compare the two.
//!
//! The initial transaction wrote every key and precedes everything, in session order too. It is in no graph: nothing can
//! precede it, so it is in no cycle.

mod axioms;
mod graphs;
mod reads;

use isonomy_history::{FaultKind, History, Key};

use crate::level::{IsolationLevel, Terms};
use axioms::Axiom;
pub use reads::{Fault, Read, Transaction};
use reads::{List, Moments};

/// The most transactions that are put in all orders.
pub const MAX_TRANSACTIONS: usize = 9;

/// Whether the history satisfies the level. `None` if it
///
/// - lacks times that the level speaks of: some transaction that counts has no start, or it committed and has no finish,
/// - is asked for linearizability and some transaction that counts is not one read, write, insert, delete or
///   compare-and-set,
/// - is too large: more than [`MAX_TRANSACTIONS`] count, or too many version orders (two million) had to be tried.
pub fn holds(history: &History, level: IsolationLevel, terms: Terms) -> Option<bool> {
    Oracle::new(history).holds(level, terms)
}

/// A history as the definitions speak of it, to be asked about many levels.
#[derive(Debug)]
pub struct Oracle {
    transactions: Vec<Transaction>,
    faults: Vec<Fault>,
    lists: Vec<List>,
    /// When each transaction ran, if that is known of all.
    moments: Option<Vec<Moments>>,
    /// The one key of each transaction, if all are one event of one key.
    objects: Option<Vec<Key>>,
}

impl Oracle {
    /// Resolves the reads of a history.
    pub fn new(history: &History) -> Self {
        reads::resolve(history)
    }

    /// The transactions that count, in the order of their ids.
    pub fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// Reads that are wrong by themselves.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// See [`holds`].
    pub fn holds(&self, level: IsolationLevel, terms: Terms) -> Option<bool> {
        use IsolationLevel as L;
        let graph = match level {
            L::ReadCommitted => return self.by_axiom(Axiom::ReadCommitted, terms),
            L::ReadAtomic => return self.by_axiom(Axiom::ReadAtomic, terms),
            L::Causal => return self.by_axiom(Axiom::Causal, terms),
            L::Prefix => &graphs::PREFIX,
            L::SnapshotIsolation => &graphs::SNAPSHOT_ISOLATION,
            L::AdyaSi => &graphs::ADYA_SI,
            L::GeneralizedSi => &graphs::GENERALIZED_SI,
            L::StrongSessionSi => &graphs::STRONG_SESSION_SI,
            L::StrongSi => &graphs::STRONG_SI,
            L::Serializable => &graphs::SERIALIZABLE,
            L::StrictSerializable => &graphs::STRICT_SERIALIZABLE,
            L::Linearizable => &graphs::LINEARIZABLE,
        };
        if self.transactions.len() > MAX_TRANSACTIONS {
            return None;
        }
        if graph.needs_times() && self.moments.is_none() || graph.per_object && self.objects.is_none() {
            return None;
        }
        if !self.faults.is_empty() { Some(false) } else { graphs::version_order_exists(self, graph, terms) }
    }

    /// Decides the six levels of the thesis by its axioms alone; `None` for the other levels, and as [`holds`] says.
    pub fn holds_by_axioms(&self, level: IsolationLevel, terms: Terms) -> Option<bool> {
        let axiom = match level {
            IsolationLevel::ReadCommitted => Axiom::ReadCommitted,
            IsolationLevel::ReadAtomic => Axiom::ReadAtomic,
            IsolationLevel::Causal => Axiom::Causal,
            IsolationLevel::Prefix => Axiom::Prefix,
            IsolationLevel::SnapshotIsolation => Axiom::PrefixAndConflict,
            IsolationLevel::Serializable => Axiom::Serializable,
            _ => return None,
        };
        self.by_axiom(axiom, terms)
    }

    fn by_axiom(&self, axiom: Axiom, terms: Terms) -> Option<bool> {
        if self.transactions.len() > MAX_TRANSACTIONS {
            return None;
        }
        // Only read-committed lets a transaction read a key twice and see different versions.
        let allowed = |fault: &Fault| axiom == Axiom::ReadCommitted && fault.kind == FaultKind::NonRepeatable;
        let consistent = self.faults.iter().all(allowed);
        Some(consistent && axioms::commit_order_exists(self, axiom, terms.session_order))
    }

    /// Whether list reads of the key allow its versions to be in this order, given as indices of [`transactions`
    /// ](Self::transactions): all elements appended, in this order, must begin with every list that was read.
    pub fn lists_allow(&self, key: Key, order: &[usize]) -> bool {
        self.lists.iter().filter(|list| list.key == key).all(|list| list.allows(order))
    }
}

/// Transactions as bits.
type Set = u32;

fn bit(txn: usize) -> Set {
    1 << txn
}

fn members(set: Set) -> impl Iterator<Item = usize> {
    let without_first = |left: &Set| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), without_first).map(|left| left.trailing_zeros() as usize)
}
