//! Reads and writes in words, with the values that were seen.

use std::fmt::Write;

use isonomy_history::{Datum, Event, EventId, History, Key, TxnId, Value};

use crate::events;
use crate::verdict::{Party, Step};

/// Of longer lists only the end is told.
const MOST_ELEMENTS: usize = 6;

/// A transaction, or the initial state.
pub(super) fn party(history: &History, party: Party) -> String {
    party.map_or("the initial state".to_string(), |txn| name(history, txn))
}

pub(super) fn name(history: &History, txn: TxnId) -> String {
    history.transaction_name(txn).to_string()
}

/// `T3 read x=4, which T1 wrote`.
pub(super) fn read(history: &History, reader: TxnId, key: Key, from: Party) -> String {
    let name = name(history, reader);
    match events::read_from(history, reader, key, from) {
        Some((event, value)) => format!("{name} {}", seen(history, event, key, value, from)),
        None => format!("{name} read {} from {}", history.key_name(key), party(history, from)),
    }
}

/// `read x=4, which T1 wrote`: what an event says of a key.
pub(super) fn seen(history: &History, event: EventId, key: Key, value: Option<Value>, from: Party) -> String {
    let name = history.key_name(key);
    let datum = value.map_or(Datum::Initial, |value| history.datum(value));
    let which = match from {
        Some(txn) => format!(", which {} wrote", history.transaction_name(txn)),
        None if datum == Datum::Initial => String::new(),
        None => ", the initial state".into(),
    };
    match history.event(event) {
        Event::ReadList { elements, .. } => {
            let list = list(history, elements);
            let Some(txn) = from else { return format!("read {name}={list}, the initial state") };
            let holds = if value == elements.last().copied() { "ends with" } else { "holds" };
            format!("read {name}={list}, which {holds} {}'s {datum}", history.transaction_name(txn))
        }
        Event::Range { lo, hi, .. } if value.is_none() => format!("did not find {name} in its range {lo}..{hi}"),
        Event::Range { lo, hi, .. } => format!("found {name}={datum} in its range {lo}..{hi}{which}"),
        Event::CompareAndSet { .. } => format!("found the expected {name}={datum}{which}"),
        _ if from.is_none() && datum == Datum::Initial => format!("read {name} in its initial state"),
        _ => format!("read {name}={datum}{which}"),
    }
}

/// `T3 read x=[1 2]`: a list in which a version was read.
pub(super) fn list_read(history: &History, reader: TxnId, key: Key, from: Party) -> String {
    let event = events::read_from(history, reader, key, from).map(|(event, _)| history.event(event));
    let elements = if let Some(Event::ReadList { elements, .. }) = event { elements } else { &[] };
    format!("{} read {}={}", name(history, reader), history.key_name(key), list(history, elements))
}

/// `[1 2 3]`, or the end of it.
pub(super) fn list(history: &History, elements: &[Value]) -> String {
    let left_out = elements.len().saturating_sub(MOST_ELEMENTS);
    let mut text = String::from(if left_out > 0 { "[… " } else { "[" });
    for (index, &element) in elements[left_out..].iter().enumerate() {
        let _ = write!(text, "{}{}", if index > 0 { " " } else { "" }, history.datum(element));
    }
    text + "]"
}

/// `wrote x=5`, `appended 5 to x`: how a transaction made its version of a key.
pub(super) fn wrote(history: &History, writer: Party, key: Key) -> String {
    let name = history.key_name(key);
    match version(history, writer, key) {
        Some((Event::Append(_), value)) => format!("appended {value} to {name}"),
        Some((Event::Insert(_), value)) => format!("inserted {name}={value}"),
        Some((Event::Delete(_), _)) => format!("deleted {name}"),
        Some((Event::CompareAndSet { .. }, value)) => format!("set {name} to {value}"),
        Some((_, value)) => format!("wrote {name}={value}"),
        None => format!("wrote {name}"),
    }
}

/// `overwrote that with 5`: the same, of a version that comes after another.
pub(super) fn replaced(history: &History, writer: Party, key: Key) -> String {
    match version(history, writer, key) {
        Some((Event::Write(_), value)) => format!("overwrote that with {value}"),
        _ => format!("{} after that", wrote(history, writer, key)),
    }
}

/// `T2's 5`: the version of a key that a transaction made.
pub(super) fn version_of(history: &History, writer: Party, key: Key) -> String {
    let name = party(history, writer);
    match version(history, writer, key) {
        Some((Event::Delete(_), _)) => format!("{name}'s deletion"),
        Some((_, value)) => format!("{name}'s {value}"),
        None => format!("{name}'s version"),
    }
}

fn version<'h>(history: &'h History, writer: Party, key: Key) -> Option<(Event<'h>, Datum<'h>)> {
    let event = history.event(events::last_write(history, writer?, key)?);
    events::written(event).map(|value| (event, history.datum(value)))
}

/// How effects became visible, step by step.
pub(super) fn steps(history: &History, steps: &[Step]) -> String {
    let step = |step: &Step| match step.key {
        Some(key) => read(history, step.to, key, Some(step.from)),
        None => format!("{} follows {} in its session", name(history, step.to), name(history, step.from)),
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}
