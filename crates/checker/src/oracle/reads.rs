//! Which transactions count, who read what from whom, and which reads are wrong by themselves.

use isonomy_history::{Datum, Event, EventId, FaultKind, History, InitialRule, Key, Outcome, SessionId, TxnId, Value};

use super::Oracle;

/// A transaction that counts: it committed, or its outcome is unknown and one that counts read what it wrote.
#[derive(Debug)]
pub struct Transaction {
    /// Its id.
    pub id: TxnId,
    /// Its session.
    pub session: SessionId,
    /// Its external reads that are not faulty (or only non-repeatable), in program order.
    pub reads: Vec<Read>,
    /// The keys it writes, sorted.
    pub writes: Vec<Key>,
}

/// A read of a version that another transaction wrote.
///
/// Writers are indices of [`Oracle::transactions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The position of its event in the transaction. All reads of a range have the same.
    pub event: usize,
    /// The key read.
    pub key: Key,
    /// Who wrote the version read; `None` for the initial version.
    pub from: Option<usize>,
    /// Who else must have been visible: the appenders of all elements of a list.
    pub seen: Vec<usize>,
}

impl Read {
    /// Everybody that the read shows to be visible.
    pub fn sources(&self) -> impl Iterator<Item = usize> {
        self.from.into_iter().chain(self.seen.iter().copied())
    }
}

/// A read that is wrong by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The reader.
    pub txn: TxnId,
    /// The event that read.
    pub event: EventId,
    /// The key read.
    pub key: Key,
    /// What is wrong.
    pub kind: FaultKind,
}

/// A key that is a list.
#[derive(Debug)]
pub(super) struct List {
    pub(super) key: Key,
    /// What each transaction that counts appends, in program order.
    appended: Vec<Vec<Value>>,
    /// All that transactions that count read.
    reads: Vec<Vec<Value>>,
}

impl List {
    pub(super) fn allows(&self, order: &[usize]) -> bool {
        let whole: Vec<Value> = order.iter().flat_map(|&txn| self.appended[txn].iter().copied()).collect();
        self.reads.iter().all(|read| whole.starts_with(read))
    }
}

/// When a transaction ran: the earliest and latest moment of its begin and of its commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) begin: (i64, i64),
    pub(super) commit: (i64, i64),
}

/// The latest moment of a commit that may still be under way.
const NEVER: i64 = i64::MAX;

pub(super) fn resolve(history: &History) -> Oracle {
    let mut resolver = Resolver::new(history);
    resolver.find_initial_values();
    resolver.find_refused_values();
    resolver.find_counting();
    let ids: Vec<TxnId> = history.transactions().filter(|&txn| resolver.counts[txn.index()]).collect();
    let transactions = ids.iter().map(|&id| resolver.transaction(id, &ids)).collect();
    let lists = resolver.lists(&ids);
    Oracle {
        transactions,
        lists,
        moments: ids.iter().map(|&id| moments(history, id)).collect(),
        objects: ids.iter().map(|&id| object(history, &resolver.events[id.index()])).collect(),
        faults: resolver.faults,
    }
}

fn moments(history: &History, txn: TxnId) -> Option<Moments> {
    let times = history.times(txn);
    let start = times.start?;
    let commit = match times.finish {
        Some(finish) => (times.committing.unwrap_or(finish), finish),
        // It did commit, as somebody saw it, but nobody knows when; only that its client had come so far before.
        None if history.outcome(txn) == Outcome::Indeterminate => {
            (times.committing.or(times.began).unwrap_or(start), NEVER)
        }
        None => return None,
    };
    Some(Moments { begin: (start, times.began.unwrap_or(start)), commit })
}

/// The key of a transaction that is one event of one register.
fn object(history: &History, events: &[Event<'_>]) -> Option<Key> {
    match *events {
        [Event::Read(value) | Event::Write(value) | Event::Insert(value) | Event::Delete(value)] => {
            Some(history.key_of(value))
        }
        [Event::CompareAndSet { new, .. }] => Some(history.key_of(new)),
        _ => None,
    }
}

/// The value an event sets its key to.
fn written(event: &Event<'_>) -> Option<Value> {
    match *event {
        Event::Write(value) | Event::Append(value) | Event::Insert(value) | Event::Delete(value) => Some(value),
        Event::CompareAndSet { new, succeeded: true, .. } => Some(new),
        _ => None,
    }
}

/// The values an event shows. A failed compare-and-set shows none: only that the key held something else.
fn observed(event: &Event<'_>) -> Vec<Value> {
    match *event {
        Event::Read(value) => vec![value],
        Event::ReadList { elements, .. } => elements.to_vec(),
        Event::Range { rows, .. } => rows.to_vec(),
        Event::CompareAndSet { expected, succeeded: true, .. } => vec![expected],
        _ => Vec::new(),
    }
}

/// The event at hand: its transaction, and its position there.
#[derive(Clone, Copy)]
struct At {
    txn: TxnId,
    event: usize,
}

/// What an external read saw.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Initial,
    Of(Value),
}

struct Resolver<'h> {
    history: &'h History,
    events: Vec<Vec<Event<'h>>>,
    /// Where each value was written.
    writes: Vec<Option<At>>,
    /// Whether each value is the initial one of its key.
    initial: Vec<bool>,
    counts: Vec<bool>,
    faults: Vec<Fault>,
}

impl<'h> Resolver<'h> {
    fn new(history: &'h History) -> Self {
        let events: Vec<Vec<Event<'h>>> = history.transactions().map(|txn| history.events(txn).collect()).collect();
        let mut writes = vec![None; history.value_count()];
        for txn in history.transactions() {
            for (event, what) in events[txn.index()].iter().enumerate() {
                if let Some(value) = written(what) {
                    writes[value.index()] = Some(At { txn, event });
                }
            }
        }
        let initial = vec![false; history.value_count()];
        let counts = history.transactions().map(|txn| history.outcome(txn) == Outcome::Committed).collect();
        Resolver { history, events, writes, initial, counts, faults: Vec::new() }
    }

    fn find_initial_values(&mut self) {
        let mut read: Vec<Value> = self.events.iter().flatten().flat_map(observed).collect();
        read.sort_unstable();
        let mut has_initial = vec![false; self.history.key_count()];
        for value in (0..self.history.value_count() as u32).map(Value) {
            has_initial[self.history.key_of(value).index()] |= self.history.datum(value) == Datum::Initial;
        }
        for value in read {
            let unwritten = self.writes[value.index()].is_none();
            let key = self.history.key_of(value).index();
            self.initial[value.index()] |= match (self.history.initial(), self.history.datum(value)) {
                (_, Datum::Initial) => true,
                (InitialRule::UnlessWritten(initial), Datum::Int(i)) => unwritten && i == initial,
                (InitialRule::Unwritten, _) => unwritten && !std::mem::replace(&mut has_initial[key], true),
                _ => false,
            };
        }
    }

    /// A value that nobody wrote belongs to an aborted transaction that was refused to set it, if there is one.
    fn find_refused_values(&mut self) {
        let aborted = self.history.transactions().filter(|&txn| self.history.outcome(txn) == Outcome::Aborted);
        for txn in aborted {
            for (event, what) in self.events[txn.index()].iter().enumerate() {
                if let Event::CompareAndSet { new, succeeded: false, .. } = *what
                    && !self.initial[new.index()]
                {
                    self.writes[new.index()].get_or_insert(At { txn, event });
                }
            }
        }
    }

    /// Until nothing changes: an indeterminate transaction counts if one that counts read what it wrote.
    fn find_counting(&mut self) {
        loop {
            let counting = self.history.transactions().filter(|txn| self.counts[txn.index()]);
            let seen = counting.flat_map(|txn| self.events[txn.index()].iter().flat_map(observed));
            let new = seen.filter_map(|value| self.writes[value.index()]).find(|write| {
                self.history.outcome(write.txn) == Outcome::Indeterminate && !self.counts[write.txn.index()]
            });
            let Some(write) = new else { break };
            self.counts[write.txn.index()] = true;
        }
    }

    fn transaction(&mut self, id: TxnId, ids: &[TxnId]) -> Transaction {
        let mut reads = Vec::new();
        // The external reads so far, faulty ones too.
        let mut seen: Vec<(Key, Version)> = Vec::new();
        let events = self.events[id.index()].clone();
        for (event, what) in events.iter().enumerate() {
            let at = At { txn: id, event };
            match *what {
                Event::ReadList { key, elements } => reads.extend(self.read_list(at, key, elements, &mut seen)),
                Event::Range { rows, .. } => {
                    for &row in rows {
                        reads.extend(self.read(at, self.history.key_of(row), Some(row), &mut seen));
                    }
                    for key in self.keys_not_returned(what) {
                        reads.extend(self.read(at, key, None, &mut seen));
                    }
                }
                _ => {
                    for value in observed(what) {
                        reads.extend(self.read(at, self.history.key_of(value), Some(value), &mut seen));
                    }
                }
            }
        }
        let index_of = |txn: TxnId| ids.binary_search(&txn).expect("a read that is not faulty is from one that counts");
        let reads = reads.into_iter().map(|(event, key, from, seen)| Read {
            event,
            key,
            from: from.map(index_of),
            seen: seen.into_iter().map(index_of).collect(),
        });
        let mut writes: Vec<Key> = events.iter().filter_map(written).map(|value| self.history.key_of(value)).collect();
        writes.sort_unstable();
        writes.dedup();
        Transaction { id, session: self.history.session_of(id), reads: reads.collect(), writes }
    }

    /// A read of one register; `None` if a range did not return it.
    fn read(&mut self, at: At, key: Key, value: Option<Value>, seen: &mut Vec<(Key, Version)>) -> Option<Resolved> {
        if let Some((own, what)) = self.last_own_write(at, key) {
            let wrong = match value {
                Some(value) if value == own => None,
                // A row that the reader itself deleted is not there.
                None if matches!(what, Event::Delete(_)) => None,
                None => Some(FaultKind::NotMyOwnWrite),
                Some(value) => match self.wrong(at, value) {
                    Some(kind @ (FaultKind::ThinAir | FaultKind::Future | FaultKind::NotMyLastWrite)) => Some(kind),
                    _ => Some(FaultKind::NotMyOwnWrite),
                },
            };
            if let Some(kind) = wrong {
                self.fault(at, key, kind);
            }
            return None;
        }
        let version = value.map_or(Version::Initial, |value| self.version(value));
        self.repeat(at, key, version, seen);
        let Version::Of(value) = version else { return Some((at.event, key, None, Vec::new())) };
        match self.wrong(at, value) {
            Some(kind) => {
                self.fault(at, key, kind);
                None
            }
            None => Some((at.event, key, self.writes[value.index()].map(|write| write.txn), Vec::new())),
        }
    }

    /// A read of a list: what others appended, then all that the reader itself appended so far.
    fn read_list(&mut self, at: At, key: Key, elements: &[Value], seen: &mut Vec<(Key, Version)>) -> Option<Resolved> {
        let own = self.own_before(at, key);
        if (1..elements.len()).any(|i| elements[..i].contains(&elements[i])) {
            self.fault(at, key, FaultKind::DuplicateElement);
        }
        let Some(external) = elements.strip_suffix(&own[..]) else {
            let own_earlier = elements.last().is_some_and(|last| own.contains(last));
            self.fault(at, key, if own_earlier { FaultKind::NotMyLastWrite } else { FaultKind::NotMyOwnWrite });
            return None;
        };
        let mut faulty = false;
        for (i, &value) in external.iter().enumerate() {
            match self.wrong(at, value) {
                // Only of the last element must nothing be missing behind it; the order of versions shows the rest.
                Some(FaultKind::Intermediate) if i + 1 < external.len() => {}
                Some(kind) => {
                    self.fault(at, key, kind);
                    faulty = true;
                }
                None => {}
            }
        }
        self.repeat(at, key, external.last().map_or(Version::Initial, |&value| self.version(value)), seen);
        if faulty {
            return None;
        }
        let writers: Vec<TxnId> = external.iter().filter_map(|v| self.writes[v.index()]).map(|w| w.txn).collect();
        Some((at.event, key, writers.last().copied(), writers))
    }

    /// What the transaction wrote to a key before an event.
    fn own_before(&self, at: At, key: Key) -> Vec<Value> {
        let before = self.events[at.txn.index()][..at.event].iter();
        before.filter_map(written).filter(|&value| self.history.key_of(value) == key).collect()
    }

    /// Every level but read-committed wants all external reads of a key to see the same version.
    fn repeat(&mut self, at: At, key: Key, version: Version, seen: &mut Vec<(Key, Version)>) {
        if seen.iter().rfind(|(other, _)| *other == key).is_some_and(|&(_, before)| before != version) {
            self.fault(at, key, FaultKind::NonRepeatable);
        }
        seen.push((key, version));
    }

    fn version(&self, value: Value) -> Version {
        if self.initial[value.index()] { Version::Initial } else { Version::Of(value) }
    }

    fn last_own_write(&self, at: At, key: Key) -> Option<(Value, Event<'h>)> {
        let before = self.events[at.txn.index()][..at.event].iter();
        before.filter_map(|what| Some((written(what)?, *what))).rfind(|&(value, _)| self.history.key_of(value) == key)
    }

    /// What is wrong with reading this value, apart from what the reader itself wrote last.
    fn wrong(&self, at: At, value: Value) -> Option<FaultKind> {
        if self.initial[value.index()] {
            return None;
        }
        let Some(write) = self.writes[value.index()] else { return Some(FaultKind::ThinAir) };
        if write.txn == at.txn {
            return Some(if write.event < at.event { FaultKind::NotMyLastWrite } else { FaultKind::Future });
        }
        if !self.counts[write.txn.index()] {
            return Some(FaultKind::Aborted);
        }
        let key = self.history.key_of(value);
        let after = &self.events[write.txn.index()][write.event + 1..];
        let overwritten = after.iter().filter_map(written).any(|later| self.history.key_of(later) == key);
        overwritten.then_some(FaultKind::Intermediate)
    }

    fn fault(&mut self, at: At, key: Key, kind: FaultKind) {
        let event = self.history.event_ids(at.txn).nth(at.event).expect("the event at hand is of its transaction");
        self.faults.push(Fault { txn: at.txn, event, key, kind });
    }

    /// The registers of the history that lie in a range and were not returned.
    fn keys_not_returned(&self, range: &Event<'h>) -> Vec<Key> {
        let Event::Range { lo, hi, rows } = *range else { unreachable!("asked of ranges only") };
        let returned = |key: Key| rows.iter().any(|&row| self.history.key_of(row) == key);
        let inside = |key: Key| (lo..=hi).contains(&self.history.key_name(key));
        let keys = (0..self.history.key_count() as u32).map(Key);
        let mut missing: Vec<Key> = keys.filter(|&key| inside(key) && !returned(key) && !self.is_list(key)).collect();
        missing.sort_by_key(|&key| self.history.key_name(key));
        missing
    }

    fn is_list(&self, key: Key) -> bool {
        self.events.iter().flatten().any(|event| match *event {
            Event::Append(value) => self.history.key_of(value) == key,
            Event::ReadList { key: read, .. } => read == key,
            _ => false,
        })
    }

    fn lists(&mut self, ids: &[TxnId]) -> Vec<List> {
        let mut lists = Vec::new();
        let mut incompatible = Vec::new();
        for key in (0..self.history.key_count() as u32).map(Key) {
            let mut reads: Vec<(At, &[Value])> = Vec::new();
            for &txn in ids {
                for (event, what) in self.events[txn.index()].iter().enumerate() {
                    if let Event::ReadList { key: read, elements } = *what
                        && read == key
                    {
                        // What the reader itself appended stands where it commits, not where it read.
                        let at = At { txn, event };
                        reads.push((at, elements.strip_suffix(&self.own_before(at, key)[..]).unwrap_or(elements)));
                    }
                }
            }
            if reads.is_empty() {
                continue;
            }
            for &(at, one) in &reads {
                let other = reads.iter().find(|(_, other)| !one.starts_with(other) && !other.starts_with(one));
                if let Some((other, _)) = other {
                    let other = self.history.event_ids(other.txn).nth(other.event).expect("it was met there");
                    incompatible.push((at, key, FaultKind::IncompatibleOrder(other)));
                }
            }
            let append = |event: &Event<'_>| written(event).filter(|&value| self.history.key_of(value) == key);
            let appended = |txn: &TxnId| self.events[txn.index()].iter().filter_map(append).collect();
            lists.push(List {
                key,
                appended: ids.iter().map(appended).collect(),
                reads: reads.into_iter().map(|(_, elements)| elements.to_vec()).collect(),
            });
        }
        for (at, key, kind) in incompatible {
            self.fault(at, key, kind);
        }
        lists
    }
}

/// The position of the event, the key, who wrote the version read, and who else was seen.
type Resolved = (usize, Key, Option<TxnId>, Vec<TxnId>);
