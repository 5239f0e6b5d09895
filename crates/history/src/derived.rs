//! What follows from a history and every checker needs, made once: which transactions count, who wrote each value,
//! external reads, final writes, reads that no database may answer, version orders that lists give away.
//!
//! - A transaction *counts* if it committed, or if its outcome is unknown and a transaction that counts read what it wrote.
//! - A read is *external* if its transaction has not written the key before. Only these reach the graphs.
//! - A write is *final* if its transaction does not write the key again.
//! - A list read observes every element, and its last element is the version read. What the reader itself appended before stands
//!   at the end of the list and is left out. The longest list read of a key fixes the order of its elements, and puts all other appends
//!   after them.
//! - A range reads each key of the history that lies in it: the returned ones as returned, the others as initial.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::builder::InitialRule;
use crate::error::HistoryError;
use crate::event::{EventId, Kind, Outcome};
use crate::history::{History, Key, TxnId, Value};
use crate::names::Name;

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

/// See the [module](self).
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

    /// How many external reads there are.
    pub fn read_count(&self) -> usize {
        self.reads.len()
    }

    /// How many final writes there are.
    pub fn write_count(&self) -> usize {
        self.writes.len()
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
        pass.resolve_outcomes();
        pass.check_ranges()?;
        pass.resolve_reads();
        pass.resolve_version_orders();
        Ok(pass.out)
    }
}

/// What the transaction at hand did to a key, valid if the stamp is that transaction.
#[derive(Clone, Copy)]
struct Own {
    write_stamp: u32,
    write: u32,
    read_stamp: u32,
    read: u32,
}

const UNTOUCHED: Own = Own { write_stamp: u32::MAX, write: 0, read_stamp: u32::MAX, read: 0 };
/// What an external read of the initial state saw, where no value stands for it: an empty list, a row not returned.
const NOTHING: u32 = u32::MAX;

struct Pass<'h> {
    history: &'h History,
    own: Vec<Own>,
    /// Keys used as lists; empty if there are none.
    lists: Vec<bool>,
    /// All keys in the order of their names; empty if there are no ranges.
    sorted_keys: Vec<Key>,
    out: Derived,
}

impl<'h> Pass<'h> {
    fn new(history: &'h History) -> Self {
        let ranges = history.kinds.contains(&Kind::Range);
        let mut sorted_keys: Vec<Key> =
            if ranges { (0..history.key_count() as u32).map(Key).collect() } else { Vec::new() };
        sorted_keys.sort_unstable_by_key(|&key| history.key_name(key));
        Pass {
            history,
            own: vec![UNTOUCHED; history.key_count()],
            lists: Vec::new(),
            sorted_keys,
            out: Derived { writer: vec![NOBODY; history.value_count()], ..Derived::default() },
        }
    }

    /// The value an event sets its key to, if it sets one.
    fn written(&self, event: usize) -> Option<u32> {
        let kind = self.history.kinds[event];
        let column = self.history.columns[event];
        if kind.is_plain_write() {
            Some(column)
        } else if kind == Kind::CasSucceeded {
            Some(self.history.compound(column).1[1].0)
        } else {
            None
        }
    }

    fn resolve_writers(&mut self) -> Result<(), HistoryError> {
        let history = self.history;
        for &txn in &history.as_given {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] == Kind::Read {
                    continue;
                }
                let Some(value) = self.written(event as usize) else { continue };
                if self.out.writer[value as usize] != NOBODY || history.values.is_initial(value) {
                    return Err(self.repeated(Value(value), txn));
                }
                self.out.writer[value as usize] = txn.0;
                let own = &mut self.own[history.values.key(value) as usize];
                if own.write_stamp == txn.0 {
                    self.out.writer[own.write as usize] |= OVERWRITTEN;
                }
                own.write_stamp = txn.0;
                own.write = value;
            }
        }
        self.own.fill(UNTOUCHED);
        self.separate_lists()
    }

    fn repeated(&self, value: Value, second: TxnId) -> HistoryError {
        let history = self.history;
        let key = history.key_name(history.key_of(value)).to_string().into();
        let write = history.write_at(second);
        match self.out.writer(value) {
            Writer::Txn(first) => {
                let value = history.datum(value).to_string().into();
                HistoryError::RepeatedValue { key, value, first: history.write_at(first).into(), second: write.into() }
            }
            _ => {
                let value = match history.initial {
                    InitialRule::Declared(initial) => initial.to_string(),
                    _ => "null".to_string(),
                };
                HistoryError::RepeatedInitial { key, value: value.into(), write }
            }
        }
    }

    /// A key is a list or a plain value, not both.
    fn separate_lists(&mut self) -> Result<(), HistoryError> {
        let history = self.history;
        if !history.kinds.iter().any(|k| matches!(k, Kind::Append | Kind::ReadList)) {
            return Ok(());
        }
        let mut used = vec![(false, None); history.key_count()];
        for txn in history.transactions() {
            for event in history.events_of[txn.index()].clone() {
                let column = history.columns[event as usize];
                match history.kinds[event as usize] {
                    Kind::Append => used[history.values.key(column) as usize].1 = Some(txn),
                    Kind::ReadList => used[history.compound(column).0.key as usize].1 = Some(txn),
                    Kind::Range => {
                        history.compound(column).1.iter().for_each(|&row| used[history.key_of(row).index()].0 = true);
                    }
                    Kind::CasSucceeded | Kind::CasFailed => used[history.compound(column).0.key as usize].0 = true,
                    Kind::Read | Kind::Write | Kind::Insert | Kind::Delete => {
                        used[history.values.key(column) as usize].0 = true;
                    }
                }
            }
        }
        for (key, &(plain, list)) in used.iter().enumerate() {
            if let (true, Some(txn)) = (plain, list) {
                let key = history.key_name(Key(key as u32)).to_string().into();
                return Err(HistoryError::MixedKey { key, at: history.write_at(txn) });
            }
        }
        self.lists = used.into_iter().map(|(_, list)| list.is_some()).collect();
        Ok(())
    }

    fn resolve_initial(&mut self) {
        let history = self.history;
        for value in 0..history.value_count() as u32 {
            let initial = match history.initial {
                InitialRule::UnlessWritten(initial) => history.values.is_int(value, initial),
                _ => false,
            };
            if self.out.writer[value as usize] == NOBODY && (initial || history.values.is_initial(value)) {
                self.out.writer[value as usize] = INITIAL;
            }
        }
        if history.initial == InitialRule::Unwritten {
            let mut read: Vec<Value> = history
                .transactions()
                .flat_map(|txn| history.events_of[txn.index()].clone())
                .flat_map(|event| self.seen(event as usize))
                .filter(|value| self.out.writer[value.index()] == NOBODY)
                .collect();
            read.sort_unstable();
            let mut has_initial = vec![false; history.key_count()];
            let absent = (0..history.value_count() as u32).filter(|&value| history.values.is_initial(value));
            absent.for_each(|value| has_initial[history.values.key(value) as usize] = true);
            for value in read {
                if !std::mem::replace(&mut has_initial[history.key_of(value).index()], true) {
                    self.out.writer[value.index()] = INITIAL;
                }
            }
        }
    }

    /// The values that an event shows.
    fn seen(&self, event: usize) -> impl Iterator<Item = Value> + use<'h> {
        let column = self.history.columns[event];
        let (single, several) = match self.history.kinds[event] {
            Kind::Read => (Some(Value(column)), &[][..]),
            Kind::ReadList | Kind::Range => (None, self.history.compound(column).1),
            Kind::CasSucceeded => (Some(self.history.compound(column).1[0]), &[][..]),
            _ => (None, &[][..]),
        };
        single.into_iter().chain(several.iter().copied())
    }

    /// An indeterminate transaction counts if one that counts read what it wrote.
    fn resolve_outcomes(&mut self) {
        let history = self.history;
        self.out.counts = history.outcomes.iter().map(|&o| o == Outcome::Committed).collect();
        if !history.outcomes.contains(&Outcome::Indeterminate) {
            return;
        }
        let mut stack: Vec<TxnId> = history.transactions().filter(|&t| self.out.counts(t)).collect();
        while let Some(txn) = stack.pop() {
            for event in history.events_of[txn.index()].clone() {
                for value in self.seen(event as usize) {
                    if let Writer::Txn(writer) = self.out.writer(value)
                        && history.outcome(writer) == Outcome::Indeterminate
                        && !self.out.counts(writer)
                    {
                        self.out.counts[writer.index()] = true;
                        stack.push(writer);
                    }
                }
            }
        }
    }

    fn check_ranges(&self) -> Result<(), HistoryError> {
        if self.sorted_keys.is_empty() {
            return Ok(());
        }
        let history = self.history;
        for txn in history.transactions() {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] != Kind::Range {
                    continue;
                }
                let (range, rows) = history.compound(history.columns[event as usize]);
                let (lo, hi) = self.bounds(range.lo, range.hi);
                let mut keys: Vec<Key> = rows.iter().map(|&row| history.key_of(row)).collect();
                keys.sort_unstable();
                let name = |key| history.key_name(key).to_string().into();
                if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(HistoryError::RepeatedRow { at: history.write_at(txn), key: name(pair[0]) });
                }
                if let Some(&key) = keys.iter().find(|&&key| !(lo..=hi).contains(&history.key_name(key))) {
                    return Err(HistoryError::RowOutsideRange {
                        at: history.write_at(txn),
                        lo: lo.to_string().into(),
                        hi: hi.to_string().into(),
                        key: name(key),
                    });
                }
            }
        }
        Ok(())
    }

    fn bounds(&self, lo: u32, hi: u32) -> (Name<'h>, Name<'h>) {
        let history = self.history;
        (history.bounds.get(lo, &history.texts), history.bounds.get(hi, &history.texts))
    }

    fn resolve_reads(&mut self) {
        let history = self.history;
        let mut missing = Vec::new();
        self.out.spans = vec![Span::default(); history.transaction_count()];
        for &txn in &history.as_given {
            let first_read = self.out.reads.len() as u32;
            let first_write = self.out.writes.len() as u32;
            if self.out.counts(txn) {
                for event in history.events_of[txn.index()].clone() {
                    let column = history.columns[event as usize];
                    let at = At { txn, event: EventId(event) };
                    match history.kinds[event as usize] {
                        Kind::Read => self.read(at, column),
                        Kind::Write | Kind::Append | Kind::Insert | Kind::Delete => self.write(txn, column),
                        Kind::CasSucceeded => {
                            let values = history.compound(column).1;
                            self.read(at, values[0].0);
                            self.write(txn, values[1].0);
                        }
                        // It shows only that the key held something else: no version is known to be read.
                        Kind::CasFailed => {}
                        Kind::ReadList => self.read_list(at, column),
                        Kind::Range => {
                            let first = self.out.reads.len();
                            for row in history.compound(column).1 {
                                self.read(at, row.0);
                            }
                            self.keys_not_returned(column, &mut missing);
                            missing.iter().for_each(|&key| self.read_nothing(at, key));
                            self.join_reads(first);
                        }
                    }
                }
                self.out.writes[first_write as usize..].sort_unstable();
            }
            let reads = (first_read, self.out.reads.len() as u32);
            let writes = (first_write, self.out.writes.len() as u32);
            self.out.spans[txn.index()] = Span { reads, writes };
        }
        self.out.faults.sort_by_key(|fault| fault.txn);
    }

    #[inline]
    fn write(&mut self, txn: TxnId, value: u32) {
        let key = self.history.values.key(value);
        let own = &mut self.own[key as usize];
        own.write_stamp = txn.0;
        own.write = value;
        if self.out.writer[value as usize] & OVERWRITTEN == 0 {
            self.out.writes.push(Key(key));
        }
    }

    #[inline]
    fn read(&mut self, at: At, value: u32) {
        let key = self.history.values.key(value);
        let own = self.own[key as usize];
        let writer = self.out.writer[value as usize];
        if own.write_stamp == at.txn.0 {
            if own.write != value {
                let kind = if writer & !OVERWRITTEN == at.txn.0 {
                    if self.wrote_before(at, value) { FaultKind::NotMyLastWrite } else { FaultKind::Future }
                } else if writer == NOBODY {
                    FaultKind::ThinAir
                } else {
                    FaultKind::NotMyOwnWrite
                };
                self.fault(at, key, Some(value), kind);
            }
            return;
        }
        if own.read_stamp == at.txn.0 && !self.same_version(own.read, value) {
            self.fault(at, key, Some(value), FaultKind::NonRepeatable);
        }
        self.own[key as usize].read_stamp = at.txn.0;
        self.own[key as usize].read = value;
        let fault = if writer == INITIAL {
            None
        } else {
            self.external_fault(at, value).or((writer & OVERWRITTEN != 0).then_some(FaultKind::Intermediate))
        };
        match fault {
            Some(kind) => self.fault(at, key, Some(value), kind),
            None => self.out.reads.push(ExternalRead { key, from: writer }),
        }
    }

    /// What is wrong with seeing a value that the transaction at hand has not written so far.
    #[inline]
    fn external_fault(&self, at: At, value: u32) -> Option<FaultKind> {
        match self.out.writer[value as usize] & !OVERWRITTEN {
            NOBODY => Some(FaultKind::ThinAir),
            txn if txn == at.txn.0 => Some(FaultKind::Future),
            INITIAL => None,
            txn if !self.out.counts[txn as usize] => Some(FaultKind::Aborted),
            _ => None,
        }
    }

    /// A range did not return this key.
    fn read_nothing(&mut self, at: At, key: Key) {
        let own = self.own[key.index()];
        if own.write_stamp == at.txn.0 {
            // A row that the reader itself deleted is not there; every other own write must be.
            let deleted = self
                .events_before(at)
                .any(|event| self.history.kinds[event] == Kind::Delete && self.history.columns[event] == own.write);
            if !deleted {
                self.fault(at, key.0, None, FaultKind::NotMyOwnWrite);
            }
            return;
        }
        if own.read_stamp == at.txn.0 && !self.same_version(own.read, NOTHING) {
            self.fault(at, key.0, None, FaultKind::NonRepeatable);
        }
        self.own[key.index()].read_stamp = at.txn.0;
        self.own[key.index()].read = NOTHING;
        self.out.reads.push(ExternalRead { key: key.0, from: INITIAL });
    }

    fn keys_not_returned(&self, column: u32, missing: &mut Vec<Key>) {
        let history = self.history;
        let (range, rows) = history.compound(column);
        let (lo, hi) = self.bounds(range.lo, range.hi);
        let from = self.sorted_keys.partition_point(|&key| history.key_name(key) < lo);
        let to = self.sorted_keys.partition_point(|&key| history.key_name(key) <= hi).max(from);
        let mut returned: Vec<Key> = rows.iter().map(|&row| history.key_of(row)).collect();
        returned.sort_unstable();
        missing.clear();
        missing.extend(self.sorted_keys[from..to].iter().copied().filter(|key| {
            !self.lists.get(key.index()).is_some_and(|&list| list) && returned.binary_search(key).is_err()
        }));
    }

    fn read_list(&mut self, at: At, column: u32) {
        let history = self.history;
        let (list, elements) = history.compound(column);
        let key = list.key;
        let own = self.appended_before(at, key);
        let mut sorted = elements.to_vec();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            self.fault(at, key, Some(pair[0].0), FaultKind::DuplicateElement);
        }
        let Some(external) = elements.strip_suffix(&own[..]) else {
            let own_earlier = elements.last().is_some_and(|last| own.contains(last));
            let kind = if own_earlier { FaultKind::NotMyLastWrite } else { FaultKind::NotMyOwnWrite };
            self.fault(at, key, elements.last().map(|v| v.0), kind);
            return;
        };
        let mut bad = false;
        for &value in external {
            let kind = self.external_fault(at, value.0).map(|kind| match kind {
                FaultKind::Future if own.contains(&value) => FaultKind::NotMyLastWrite,
                kind => kind,
            });
            if let Some(kind) = kind {
                bad = true;
                self.fault(at, key, Some(value.0), kind);
            }
        }
        let version = external.last().map_or(NOTHING, |v| v.0);
        if !bad && version != NOTHING && self.out.overwritten(Value(version)) {
            bad = true;
            self.fault(at, key, Some(version), FaultKind::Intermediate);
        }
        let seen = self.own[key as usize];
        if seen.read_stamp == at.txn.0 && !self.same_version(seen.read, version) {
            self.fault(at, key, elements.last().map(|v| v.0), FaultKind::NonRepeatable);
        }
        self.own[key as usize].read_stamp = at.txn.0;
        self.own[key as usize].read = version;
        if bad {
            return;
        }
        let first = self.out.reads.len();
        let mut from = INITIAL;
        for (i, value) in external.iter().enumerate() {
            from = self.out.writer[value.index()] & !OVERWRITTEN;
            let next = external.get(i + 1).map(|v| self.out.writer[v.index()] & !OVERWRITTEN);
            if next.is_some_and(|next| next != from) {
                self.out.reads.push(ExternalRead { key: NO_KEY, from });
            }
        }
        self.out.reads.push(ExternalRead { key, from });
        self.join_reads(first);
    }

    /// The reads from `first` on are of one event.
    fn join_reads(&mut self, first: usize) {
        for read in self.out.reads.iter_mut().skip(first + 1) {
            read.from |= SAME_EVENT;
        }
    }

    fn same_version(&self, a: u32, b: u32) -> bool {
        let initial = |value: u32| value == NOTHING || self.out.writer[value as usize] == INITIAL;
        a == b || (initial(a) && initial(b))
    }

    /// What the transaction at hand has appended to a list so far.
    fn appended_before(&self, at: At, key: u32) -> Vec<Value> {
        self.events_before(at)
            .filter(|&event| self.history.kinds[event] == Kind::Append)
            .map(|event| Value(self.history.columns[event]))
            .filter(|&value| self.history.key_of(value).0 == key)
            .collect()
    }

    fn events_before(&self, at: At) -> impl Iterator<Item = usize> + use<> {
        self.history.events_of[at.txn.index()].start as usize..at.event.0 as usize
    }

    fn wrote_before(&self, at: At, value: u32) -> bool {
        self.events_before(at).any(|event| self.written(event) == Some(value))
    }

    fn fault(&mut self, at: At, key: u32, value: Option<u32>, kind: FaultKind) {
        let value = value.map(Value);
        self.out.faults.push(ReadFault { txn: at.txn, event: at.event, key: Key(key), value, kind });
    }

    /// The longest list read of each key gives the order of its elements; all other reads must be prefixes of it.
    fn resolve_version_orders(&mut self) {
        if self.lists.is_empty() {
            return;
        }
        let history = self.history;
        let mut reads: Vec<(At, u32, &[Value])> = Vec::new();
        for txn in history.transactions().filter(|&txn| self.out.counts(txn)) {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] == Kind::ReadList {
                    let at = At { txn, event: EventId(event) };
                    let (list, elements) = history.compound(history.columns[event as usize]);
                    let own = self.appended_before(at, list.key);
                    reads.push((at, list.key, elements.strip_suffix(&own[..]).unwrap_or(elements)));
                }
            }
        }
        let mut longest: Vec<Option<(At, &[Value])>> = vec![None; history.key_count()];
        for &(at, key, elements) in &reads {
            let best = &mut longest[key as usize];
            if best.is_none_or(|(_, best)| best.len() < elements.len()) {
                *best = Some((at, elements));
            }
        }
        for (at, key, elements) in reads {
            let (best, longer) = longest[key as usize].expect("a key with a list read has a longest one");
            let other = if !longer.starts_with(elements) {
                best.event
            } else if best.event == at.event && !self.in_program_order(key, elements) {
                at.event
            } else {
                continue;
            };
            self.fault(at, key, elements.last().map(|v| v.0), FaultKind::IncompatibleOrder(other));
        }
        self.out.faults.sort_by_key(|fault| fault.txn);

        let mut ordered = vec![false; history.value_count()];
        let mut last_of: Vec<Option<TxnId>> = vec![None; history.key_count()];
        for (key, best) in longest.iter().enumerate() {
            let Some((_, elements)) = best else { continue };
            for &value in *elements {
                ordered[value.index()] = true;
                let Writer::Txn(after) = self.out.writer(value) else { continue };
                if !self.out.counts(after) {
                    continue;
                }
                if let Some(before) = last_of[key].replace(after)
                    && before != after
                {
                    self.out.version_edges.push(VersionEdge { before, after, key: Key(key as u32) });
                }
            }
        }
        for txn in history.transactions().filter(|&t| self.out.counts[t.index()]) {
            for event in history.events_of[txn.index()].clone() {
                let value = Value(history.columns[event as usize]);
                if history.kinds[event as usize] != Kind::Append || ordered[value.index()] {
                    continue;
                }
                let key = history.key_of(value);
                if let Some(before) = last_of[key.index()]
                    && before != txn
                {
                    self.out.version_edges.push(VersionEdge { before, after: txn, key });
                }
            }
        }
    }
}

impl Pass<'_> {
    /// Whether a list has all that each transaction appended before any element of it, in that order.
    fn in_program_order(&self, key: u32, elements: &[Value]) -> bool {
        let history = self.history;
        let mut done: FxHashMap<TxnId, usize> = FxHashMap::default();
        elements.iter().all(|&value| {
            let Writer::Txn(txn) = self.out.writer(value) else { return true };
            let mut appended = history.events_of[txn.index()].clone().filter_map(|event| {
                let value = Value(history.columns[event as usize]);
                (history.kinds[event as usize] == Kind::Append && history.key_of(value).0 == key).then_some(value)
            });
            let next = done.entry(txn).or_insert(0);
            *next += 1;
            appended.nth(*next - 1) == Some(value)
        })
    }
}

/// The event at hand.
#[derive(Clone, Copy)]
struct At {
    txn: TxnId,
    event: EventId,
}
