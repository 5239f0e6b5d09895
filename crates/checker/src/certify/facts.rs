//! What the certifier knows of a history, from its events alone.

use isonomy_history::{Datum, Event, EventId, FaultKind, History, InitialRule, Key, Name, Outcome, TxnId, Value};
use rustc_hash::FxHashMap;

use crate::verdict::Party;

/// Who wrote a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Initial,
    Nobody,
    Write { txn: TxnId, is_final: bool },
}

/// A read of a version from outside the transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) from: Party,
    /// The key whose version was read; an inner element of a list only shows that its writer was visible.
    pub(super) version_of: Option<Key>,
    /// The key through which it was seen.
    pub(super) key: Key,
    pub(super) event: EventId,
}

pub(super) struct Facts<'h> {
    pub(super) history: &'h History,
    sources: Vec<Source>,
    counts: Vec<bool>,
    /// Keys that ranges can return, sorted by name; empty if there are no ranges.
    keys: Vec<Key>,
    has_ranges: bool,
}

/// What a transaction did to a key so far.
#[derive(Default)]
struct Own {
    written: Option<Value>,
    deleted: bool,
    appended: Vec<Value>,
    read: Option<(Option<Value>, Party)>,
}

impl<'h> Facts<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let mut facts = Facts {
            history,
            sources: vec![Source::Nobody; history.value_count()],
            counts: Vec::new(),
            keys: Vec::new(),
            has_ranges: false,
        };
        let mut last: FxHashMap<Key, Value> = FxHashMap::default();
        for txn in history.transactions() {
            last.clear();
            for event in history.events(txn) {
                facts.has_ranges |= matches!(event, Event::Range { .. });
                if let Some(value) = written(event) {
                    last.insert(history.key_of(value), value);
                }
            }
            for value in history.events(txn).filter_map(written) {
                let is_final = last[&history.key_of(value)] == value;
                facts.sources[value.index()] = Source::Write { txn, is_final };
            }
        }
        facts.find_initial();
        facts.find_refused();
        facts.find_counting();
        if facts.has_ranges {
            facts.keys = plain_keys(history);
            facts.keys.sort_by_key(|&key| history.key_name(key));
        }
        facts
    }

    fn find_initial(&mut self) {
        let history = self.history;
        let mut read = vec![false; history.value_count()];
        for value in history.transactions().flat_map(|txn| history.events(txn)).flat_map(values_read) {
            read[value.index()] = true;
        }
        let mut taken = vec![false; history.key_count()];
        for value in (0..history.value_count() as u32).map(Value) {
            taken[history.key_of(value).index()] |= history.datum(value) == Datum::Initial;
        }
        for value in (0..history.value_count() as u32).map(Value) {
            if self.sources[value.index()] != Source::Nobody {
                continue;
            }
            let datum = history.datum(value);
            let initial = match history.initial() {
                _ if datum == Datum::Initial => true,
                InitialRule::UnlessWritten(initial) => datum == Datum::Int(initial),
                InitialRule::Unwritten if read[value.index()] => {
                    !std::mem::replace(&mut taken[history.key_of(value).index()], true)
                }
                _ => false,
            };
            if initial {
                self.sources[value.index()] = Source::Initial;
            }
        }
    }

    /// What aborted transactions asked for in vain, where nobody else wrote it.
    fn find_refused(&mut self) {
        for txn in self.history.transactions().filter(|&txn| self.history.outcome(txn) == Outcome::Aborted) {
            for event in self.history.events(txn) {
                if let Event::CompareAndSet { new, succeeded: false, .. } = event
                    && self.sources[new.index()] == Source::Nobody
                {
                    self.sources[new.index()] = Source::Write { txn, is_final: true };
                }
            }
        }
    }

    fn find_counting(&mut self) {
        let history = self.history;
        self.counts = history.transactions().map(|t| history.outcome(t) == Outcome::Committed).collect();
        let mut todo: Vec<TxnId> = history.transactions().filter(|t| self.counts[t.index()]).collect();
        while let Some(txn) = todo.pop() {
            for event in history.events(txn) {
                for value in values_read(event) {
                    if let Source::Write { txn: writer, .. } = self.sources[value.index()]
                        && history.outcome(writer) == Outcome::Indeterminate
                        && !std::mem::replace(&mut self.counts[writer.index()], true)
                    {
                        todo.push(writer);
                    }
                }
            }
        }
    }

    pub(super) fn counts(&self, txn: TxnId) -> bool {
        self.counts.get(txn.index()).copied().unwrap_or(false)
    }

    pub(super) fn source(&self, value: Value) -> Source {
        self.sources[value.index()]
    }

    /// The keys that a transaction leaves versions of, each once.
    pub(super) fn keys_written(&self, txn: TxnId) -> Vec<Key> {
        let last = self
            .history
            .events(txn)
            .filter_map(written)
            .filter(|&value| matches!(self.source(value), Source::Write { is_final: true, .. }));
        last.map(|value| self.history.key_of(value)).collect()
    }

    /// The reads of a transaction from outside, in program order, and what is wrong with its reads by themselves.
    pub(super) fn reads(&self, txn: TxnId) -> (Vec<Seen>, Vec<(EventId, FaultKind)>) {
        let mut walk = Walk { facts: self, txn, own: FxHashMap::default(), seen: Vec::new(), faults: Vec::new() };
        for (id, event) in self.history.event_ids(txn).zip(self.history.events(txn)) {
            walk.event(id, event);
        }
        (walk.seen, walk.faults)
    }

    /// A list without what its reader itself had appended, which stands where the reader commits.
    pub(super) fn external<'e>(&self, txn: TxnId, event: EventId, elements: &'e [Value]) -> &'e [Value] {
        let Some(&last) = elements.last() else { return elements };
        let key = self.history.key_of(last);
        let before = self.history.event_ids(txn).take_while(|&id| id < event).map(|id| self.history.event(id));
        let appended = before.filter_map(|event| match event {
            Event::Append(value) if self.history.key_of(value) == key => Some(value),
            _ => None,
        });
        let appended: Vec<Value> = appended.collect();
        if elements.ends_with(&appended) { &elements[..elements.len() - appended.len()] } else { elements }
    }

    /// All list reads by transactions that count: the key, and what was read of others.
    pub(super) fn lists(&self) -> impl Iterator<Item = (TxnId, Key, &'h [Value])> {
        let history = self.history;
        history.transactions().filter(|&txn| self.counts(txn)).flat_map(move |txn| {
            history.event_ids(txn).filter_map(move |id| match history.event(id) {
                Event::ReadList { key, elements } => Some((txn, key, self.external(txn, id, elements))),
                _ => None,
            })
        })
    }

    fn keys_between(&self, lo: Name<'_>, hi: Name<'_>) -> impl Iterator<Item = Key> {
        let name = |key: Key| self.history.key_name(key);
        self.keys.iter().copied().skip_while(move |&key| name(key) < lo).take_while(move |&key| name(key) <= hi)
    }
}

/// Keys that are not lists: ranges do not return those.
fn plain_keys(history: &History) -> Vec<Key> {
    let mut plain = vec![true; history.key_count()];
    for event in history.transactions().flat_map(|txn| history.events(txn)) {
        match event {
            Event::Append(value) => plain[history.key_of(value).index()] = false,
            Event::ReadList { key, .. } => plain[key.index()] = false,
            _ => {}
        }
    }
    (0..history.key_count() as u32).map(Key).filter(|key| plain[key.index()]).collect()
}

/// The value that an event sets its key to.
pub(super) fn written(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Write(value) | Event::Append(value) | Event::Insert(value) | Event::Delete(value) => Some(value),
        Event::CompareAndSet { new, succeeded: true, .. } => Some(new),
        _ => None,
    }
}

/// The values that an event shows.
fn values_read(event: Event<'_>) -> Vec<Value> {
    match event {
        Event::Read(value) => vec![value],
        Event::ReadList { elements, .. } => elements.to_vec(),
        Event::Range { rows, .. } => rows.to_vec(),
        Event::CompareAndSet { expected, succeeded: true, .. } => vec![expected],
        _ => Vec::new(),
    }
}

/// A walk along one transaction.
struct Walk<'a, 'h> {
    facts: &'a Facts<'h>,
    txn: TxnId,
    own: FxHashMap<Key, Own>,
    seen: Vec<Seen>,
    faults: Vec<(EventId, FaultKind)>,
}

impl Walk<'_, '_> {
    fn event(&mut self, id: EventId, event: Event<'_>) {
        let history = self.facts.history;
        match event {
            Event::Read(value) => self.read(id, history.key_of(value), Some(value)),
            Event::Write(value) | Event::Insert(value) => self.write(value, false),
            Event::Delete(value) => self.write(value, true),
            Event::Append(value) => self.own.entry(history.key_of(value)).or_default().appended.push(value),
            Event::CompareAndSet { expected, new, succeeded } => {
                if succeeded {
                    self.read(id, history.key_of(expected), Some(expected));
                    self.write(new, false);
                }
            }
            Event::ReadList { key, elements } => self.list(id, key, elements),
            Event::Range { lo, hi, rows } => {
                for &row in rows {
                    self.read(id, history.key_of(row), Some(row));
                }
                for key in self.facts.keys_between(lo, hi) {
                    let returned = rows.iter().any(|&row| history.key_of(row) == key);
                    if !returned {
                        self.read(id, key, None);
                    }
                }
            }
        }
    }

    fn write(&mut self, value: Value, deleted: bool) {
        let own = self.own.entry(self.facts.history.key_of(value)).or_default();
        own.written = Some(value);
        own.deleted = deleted;
    }

    /// What is wrong with seeing a value from outside.
    fn wrong(&self, value: Value) -> Option<FaultKind> {
        match self.facts.source(value) {
            Source::Initial => None,
            Source::Nobody => Some(FaultKind::ThinAir),
            Source::Write { txn, .. } if txn == self.txn => Some(FaultKind::Future),
            Source::Write { txn, .. } if !self.facts.counts(txn) => Some(FaultKind::Aborted),
            Source::Write { .. } => None,
        }
    }

    fn party(&self, value: Option<Value>) -> Party {
        match value.map(|value| self.facts.source(value)) {
            Some(Source::Write { txn, .. }) => Some(txn),
            _ => None,
        }
    }

    /// `None` is a row that a range did not return.
    fn read(&mut self, id: EventId, key: Key, value: Option<Value>) {
        let own = self.own.entry(key).or_default();
        if let Some(written) = own.written {
            let gone = value.is_none() && own.deleted;
            if value != Some(written) && !gone {
                let kind = match value.map(|value| self.facts.source(value)) {
                    Some(Source::Nobody) => FaultKind::ThinAir,
                    Some(Source::Write { txn, .. }) if txn == self.txn => {
                        let before = self.facts.history.event_ids(self.txn).take_while(|&e| e < id);
                        let mut events = before.map(|e| self.facts.history.event(e));
                        let earlier = events.any(|event| written_is(event, value));
                        if earlier { FaultKind::NotMyLastWrite } else { FaultKind::Future }
                    }
                    _ => FaultKind::NotMyOwnWrite,
                };
                self.faults.push((id, kind));
            }
            return;
        }
        self.outside(id, key, value);
        let fault = value.and_then(|value| self.wrong(value).or_else(|| self.intermediate(value)));
        match fault {
            Some(kind) => self.faults.push((id, kind)),
            None => self.seen.push(Seen { from: self.party(value), version_of: Some(key), key, event: id }),
        }
    }

    fn intermediate(&self, value: Value) -> Option<FaultKind> {
        let overwritten = matches!(self.facts.source(value), Source::Write { is_final: false, .. });
        overwritten.then_some(FaultKind::Intermediate)
    }

    /// Notes a version read from outside, and whether it is another than before.
    fn outside(&mut self, id: EventId, key: Key, value: Option<Value>) {
        let initial = value.is_none_or(|value| self.facts.source(value) == Source::Initial);
        let party = self.party(value);
        let own = self.own.entry(key).or_default();
        if let Some((before, before_party)) = own.read {
            let before_initial =
                before.is_none_or(|before| self.facts.source(before) == Source::Initial) && before_party.is_none();
            if before != value && !(initial && before_initial) {
                self.faults.push((id, FaultKind::NonRepeatable));
            }
        }
        own.read = Some((value, party));
    }

    fn list(&mut self, id: EventId, key: Key, elements: &[Value]) {
        let mut unique = elements.to_vec();
        unique.sort_unstable();
        unique.dedup();
        if unique.len() < elements.len() {
            self.faults.push((id, FaultKind::DuplicateElement));
        }
        let own = self.own.entry(key).or_default().appended.clone();
        if !elements.ends_with(&own) {
            let own_earlier = elements.last().is_some_and(|last| own.contains(last));
            let kind = if own_earlier { FaultKind::NotMyLastWrite } else { FaultKind::NotMyOwnWrite };
            self.faults.push((id, kind));
            return;
        }
        let outside = &elements[..elements.len() - own.len()];
        let before = self.faults.len();
        for &value in outside {
            match self.wrong(value) {
                Some(FaultKind::Future) if own.contains(&value) => self.faults.push((id, FaultKind::NotMyLastWrite)),
                Some(kind) => self.faults.push((id, kind)),
                None => {}
            }
        }
        let version = outside.last().copied();
        if before == self.faults.len()
            && let Some(kind) = version.and_then(|value| self.intermediate(value))
        {
            self.faults.push((id, kind));
        }
        let broken = before < self.faults.len();
        self.outside(id, key, version);
        if !broken {
            for &inner in &outside[..outside.len().saturating_sub(1)] {
                self.seen.push(Seen { from: self.party(Some(inner)), version_of: None, key, event: id });
            }
            self.seen.push(Seen { from: self.party(version), version_of: Some(key), key, event: id });
        }
    }
}

fn written_is(event: Event<'_>, value: Option<Value>) -> bool {
    written(event).is_some() && written(event) == value
}
