//! The story of a read that is wrong by itself.

use isonomy_history::{Datum, Event, EventId, FaultKind, History, ReadFault, TxnId, Value, Writer};

use super::words;
use super::words::{list, name, party, seen, wrote};
use crate::events;
use crate::verdict::Party;

/// What is to be told of a faulty read.
pub(super) struct Fault {
    /// Who takes part: those whose writes were read first.
    pub(super) txns: Vec<TxnId>,
    /// The events that matter.
    pub(super) events: Vec<EventId>,
    pub(super) told: String,
}

/// Tells what is wrong.
pub(super) fn tell(history: &History, fault: &ReadFault) -> Fault {
    let writer = fault.value.and_then(|value| writer(history, value));
    let mut story = Story { history, fault, writer, txns: Vec::new(), events: Vec::new() };
    story.take(writer, fault.value);
    let told = story.told();
    story.add(Some(fault.txn));
    story.events.push(fault.event);
    Fault { txns: story.txns, events: story.events, told }
}

fn writer(history: &History, value: Value) -> Party {
    match history.derived().writer(value) {
        Writer::Txn(writer) => Some(writer),
        _ => None,
    }
}

/// The elements of a list that was read.
fn elements(history: &History, id: EventId) -> &[Value] {
    match history.event(id) {
        Event::ReadList { elements, .. } => elements,
        _ => &[],
    }
}

struct Story<'a> {
    history: &'a History,
    fault: &'a ReadFault,
    writer: Party,
    txns: Vec<TxnId>,
    events: Vec<EventId>,
}

impl Story<'_> {
    fn add(&mut self, txn: Party) {
        if let Some(txn) = txn
            && !self.txns.contains(&txn)
        {
            self.txns.push(txn);
        }
    }

    /// Adds who wrote a value, and the write.
    fn take(&mut self, writer: Party, value: Option<Value>) {
        self.add(writer.filter(|&writer| writer != self.fault.txn));
        let write = writer.zip(value).and_then(|(writer, value)| events::write_of(self.history, writer, value));
        self.events.extend(write);
    }

    fn told(&mut self) -> String {
        let Story { history, fault, writer, .. } = *self;
        let (reader, key) = (name(history, fault.txn), history.key_name(fault.key));
        let value = fault.value.map_or(Datum::Initial, |value| history.datum(value));
        let read = format!("{reader} {}", seen(history, fault.event, fault.key, fault.value, writer));
        match fault.kind {
            FaultKind::ThinAir => format!("{reader} read {key}={value}, which nobody wrote."),
            FaultKind::Aborted => format!("{read}; but {} aborted.", party(history, writer)),
            FaultKind::Intermediate => {
                let last = writer.and_then(|writer| events::last_write(history, writer, fault.key));
                self.events.extend(last);
                format!("{read}; but {} {} before it ended.", party(history, writer), self.own_change(last))
            }
            FaultKind::Future => format!("{reader} read {key}={value} before it wrote that value itself."),
            FaultKind::NotMyOwnWrite | FaultKind::NotMyLastWrite => {
                let before = self.before();
                let did = before.map_or_else(|| format!("wrote {key}"), |event| self.did(event));
                match fault.kind {
                    FaultKind::NotMyOwnWrite => {
                        let then = seen(history, fault.event, fault.key, fault.value, writer);
                        format!("{reader} {did}, and then {then}.")
                    }
                    _ => {
                        format!("{reader} {did}, and then read {key}={value}, which it had itself overwritten before.")
                    }
                }
            }
            FaultKind::NonRepeatable => {
                if let Some(told) = self.lists_differ() {
                    return told;
                }
                let then = seen(history, fault.event, fault.key, fault.value, writer);
                match self.before() {
                    Some(first) => format!("{reader} {}, and then {then}.", self.did(first)),
                    None => format!("{reader} had read another value of {key}, and then {then}."),
                }
            }
            FaultKind::DuplicateElement => format!("{reader} read a list in {key} that holds {value} twice."),
            FaultKind::IncompatibleOrder(other) if other == fault.event => format!(
                "{read}: a list that has the elements of one transaction in another order than it appended them."
            ),
            FaultKind::IncompatibleOrder(other) => self.incompatible(other),
        }
    }

    /// What of the same key the reader did just before.
    fn before(&mut self) -> Option<EventId> {
        let before = events::before(self.history, self.fault.txn, self.fault.key, self.fault.event);
        self.events.extend(before);
        before
    }

    /// An event of the reader in words. Whose write it read takes part, too.
    fn did(&mut self, event: EventId) -> String {
        let (history, key) = (self.history, self.fault.key);
        if events::written(history.event(event)).is_some() {
            return self.own_change(Some(event));
        }
        let value = match history.event(event) {
            Event::Read(value) => Some(value),
            Event::ReadList { elements, .. } => elements.last().copied(),
            Event::Range { rows, .. } => rows.iter().copied().find(|&row| history.key_of(row) == key),
            Event::CompareAndSet { expected, .. } => Some(expected),
            _ => None,
        };
        let from = value.and_then(|value| writer(history, value));
        self.take(from, value);
        seen(history, event, key, value, from)
    }

    /// `wrote x=5`, by an event.
    fn own_change(&self, event: Option<EventId>) -> String {
        let (history, key) = (self.history, self.fault.key);
        match event.and_then(|event| events::written(history.event(event))) {
            Some(value) => format!("wrote {}={}", history.key_name(key), history.datum(value)),
            None => wrote(history, self.writer, key),
        }
    }

    /// Two lists of the reader, one of which has an element that the other has not. Whose element that is takes part, and no other.
    fn lists_differ(&mut self) -> Option<String> {
        let Story { history, fault, .. } = *self;
        let first = events::before(history, fault.txn, fault.key, fault.event)?;
        let (before, after) = (elements(history, first), elements(history, fault.event));
        let only = |one: &'_ [Value], other: &[Value]| one.iter().copied().find(|value| !other.contains(value));
        let (value, place) = match (only(after, before), only(before, after)) {
            (Some(value), _) => (value, "only then"),
            (None, Some(value)) => (value, "not any more"),
            (None, None) => return None,
        };
        self.txns.clear();
        self.events.clear();
        let owner = writer(history, value);
        self.take(owner, Some(value));
        self.events.push(first);
        Some(format!(
            "{} read {key}={}, and then {key}={}, with {}'s {} {place}.",
            name(history, fault.txn),
            list(history, before),
            list(history, after),
            party(history, owner),
            history.datum(value),
            key = history.key_name(fault.key),
        ))
    }

    /// Two lists, neither of which begins the other.
    fn incompatible(&mut self, other: EventId) -> String {
        let Story { history, fault, .. } = *self;
        let (this, that) = (elements(history, fault.event), elements(history, other));
        self.txns.clear();
        self.events.clear();
        // The first two elements that differ show it.
        for value in this.iter().zip(that).find(|(a, b)| a != b).into_iter().flat_map(|(a, b)| [*a, *b]) {
            self.take(writer(history, value), Some(value));
        }
        let reader = events::owner(history, other);
        self.add(reader);
        self.events.push(other);
        let key = history.key_name(fault.key);
        format!(
            "{} read {key}={}, and {} read {key}={}: neither list begins the other.",
            name(history, fault.txn),
            list(history, this),
            words::party(history, reader),
            list(history, that),
        )
    }
}
