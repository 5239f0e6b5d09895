//! What follows from a history and every checker needs, made once.

use std::sync::OnceLock;

use crate::error::HistoryError;
use crate::event::EventId;
use crate::history::{History, Key, TxnId, Value};

mod lists;
mod pass;
mod ranges;
mod reads;
mod writers;

use pass::Pass;

/// Who wrote a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Nobody had to: it is the key's initial value.
    Initial,
    /// This transaction, whatever its outcome.
    Txn(TxnId),
    /// No transaction of the history.
    Nobody,
}

/// Marks a value whose writer wrote the key again.
const OVERWRITTEN: u32 = 1 << 31;
/// Marks a read of the same event as the read before it.
const SAME_EVENT: u32 = 1 << 31;
const INITIAL: u32 = OVERWRITTEN - 1;
const NOBODY: u32 = OVERWRITTEN - 2;
const NO_KEY: u32 = u32::MAX;

/// A read of a version that another transaction wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExternalRead {
    key: u32,
    from: u32,
}

impl ExternalRead {
    /// The key read; `None` if the read only shows that the writer was visible (an inner element of a list).
    #[inline]
    pub fn key(self) -> Option<Key> {
        (self.key != NO_KEY).then_some(Key(self.key))
    }

    /// The transaction that wrote the version read; `None` for the initial one.
    #[inline]
    pub fn from(self) -> Option<TxnId> {
        (self.from & !SAME_EVENT != INITIAL).then_some(TxnId(self.from & !SAME_EVENT))
    }

    /// Whether it is of the same event as the read before it: a row of the same range, an element of the same list.
    #[inline]
    pub fn is_same_event(self) -> bool {
        self.from & SAME_EVENT != 0
    }
}

/// Why no database may answer a read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Nobody wrote the value.
    ThinAir,
    /// The writer aborted.
    Aborted,
    /// The writer overwrote the value itself.
    Intermediate,
    /// The reader wrote the value itself, later.
    Future,
    /// The reader had written the key, and read what another wrote.
    NotMyOwnWrite,
    /// The reader had written the key twice, and read the earlier value.
    NotMyLastWrite,
    /// The reader had read the key before, and got another value. Read-committed allows it.
    NonRepeatable,
    /// A list has an element twice.
    DuplicateElement,
    /// Two list reads of a key disagree on the order of its elements; this is the other one. It may be the same one, if it
    /// has the elements of one transaction in another order than that appended them.
    IncompatibleOrder(EventId),
}

/// A read that is wrong by itself, before any order of transactions is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadFault {
    /// The reader.
    pub txn: TxnId,
    /// The event that read.
    pub event: EventId,
    /// The key read.
    pub key: Key,
    /// The value read; `None` if it was the initial state of a key that a range did not return.
    pub value: Option<Value>,
    /// What is wrong.
    pub kind: FaultKind,
}

/// `before` precedes `after` in the version order of `key`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionEdge {
    /// The transaction that wrote the earlier version.
    pub before: TxnId,
    /// The transaction that wrote the later version.
    pub after: TxnId,
    /// The key.
    pub key: Key,
}

/// What follows from a history and every checker needs, made once: which transactions count, who wrote each value,
/// external reads, final writes, reads that no database may answer, version orders that lists give away.
///
/// - A transaction *counts* if it committed, or if its outcome is unknown and a transaction that counts read what it wrote.
/// - A read is *external* if its transaction has not written the key before. Only these reach the graphs.
/// - A write is *final* if its transaction does not write the key again.
/// - A list read observes every element, and its last element is the version read. What the reader itself appended before stands
///   at the end of the list and is left out. The longest list read of a key fixes the order of its elements, and puts all other appends
///   after them.
/// - A value that nobody wrote and that a failed compare-and-set of an aborted transaction was to set is that transaction's: who reads
///   it reads what was refused.
/// - A range reads each key of the history that lies in it: the returned ones as returned, the others as initial.
#[derive(Debug, Default)]
pub struct Derived {
    counts: Vec<bool>,
    writer: Vec<u32>,
    /// For each transaction where its reads and writes stand below. Those of one that came early in the input stand early.
    spans: Vec<Span>,
    reads: Vec<ExternalRead>,
    writes: Vec<Key>,
    faults: Vec<ReadFault>,
    version_edges: Vec<VersionEdge>,
    writers: OnceLock<Writers>,
}

/// The reads and writes of a transaction.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    reads: (u32, u32),
    writes: (u32, u32),
}

/// For each key the transactions that write it.
#[derive(Debug)]
struct Writers {
    from: Vec<u32>,
    txns: Vec<TxnId>,
}

impl Derived {
    /// The most transactions that ids can count.
    pub(crate) const MAX_TRANSACTIONS: u32 = NOBODY;

    /// Whether a transaction counts: it committed, or its outcome is unknown and its effects were seen.
    #[inline]
    pub fn counts(&self, txn: TxnId) -> bool {
        self.counts[txn.index()]
    }

    /// How many transactions count.
    pub fn count(&self) -> usize {
        self.counts.iter().filter(|&&c| c).count()
    }

    /// Who wrote a value.
    pub fn writer(&self, value: Value) -> Writer {
        match self.writer[value.index()] & !OVERWRITTEN {
            INITIAL => Writer::Initial,
            NOBODY => Writer::Nobody,
            txn => Writer::Txn(TxnId(txn)),
        }
    }

    /// Whether the writer of a value wrote the key again later.
    pub fn overwritten(&self, value: Value) -> bool {
        self.writer[value.index()] & OVERWRITTEN != 0
    }

    /// The external reads of a transaction that counts, in program order. Faulty ones are left out, except
    /// non-repeatable ones.
    #[inline]
    pub fn reads(&self, txn: TxnId) -> &[ExternalRead] {
        let (from, to) = self.spans[txn.index()].reads;
        &self.reads[from as usize..to as usize]
    }

    /// The keys that a transaction that counts writes, sorted.
    #[inline]
    pub fn writes(&self, txn: TxnId) -> &[Key] {
        let (from, to) = self.spans[txn.index()].writes;
        &self.writes[from as usize..to as usize]
    }

    /// Reads that are wrong by themselves, in order of their transactions.
    pub fn faults(&self) -> &[ReadFault] {
        &self.faults
    }

    /// What is known of version orders.
    pub fn version_edges(&self) -> &[VersionEdge] {
        &self.version_edges
    }

    /// The transactions that count and write a key, ascending. Made on first use.
    pub fn writers(&self, key: Key) -> &[TxnId] {
        let writers = self.writers.get_or_init(|| self.make_writers());
        match writers.from.get(key.index()..key.index() + 2) {
            Some(bounds) => &writers.txns[bounds[0] as usize..bounds[1] as usize],
            None => &[],
        }
    }

    fn make_writers(&self) -> Writers {
        let keys = self.writes.iter().map(|k| k.index() + 1).max().unwrap_or(0);
        let mut from = vec![0u32; keys + 1];
        for key in &self.writes {
            from[key.index() + 1] += 1;
        }
        for key in 0..keys {
            from[key + 1] += from[key];
        }
        let mut next = from.clone();
        let mut txns = vec![TxnId(0); self.writes.len()];
        for txn in (0..self.counts.len() as u32).map(TxnId) {
            for key in self.writes(txn) {
                txns[next[key.index()] as usize] = txn;
                next[key.index()] += 1;
            }
        }
        Writers { from, txns }
    }

    pub(crate) fn of(history: &History) -> Result<Derived, HistoryError> {
        let mut pass = Pass::new(history);
        pass.resolve_writers()?;
        pass.resolve_initial();
        pass.resolve_refused();
        pass.resolve_outcomes();
        pass.check_ranges()?;
        pass.resolve_reads();
        pass.resolve_version_orders();
        Ok(pass.out)
    }
}
