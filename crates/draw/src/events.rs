//! Which events an arrow speaks of.

use isonomy_checker::Party;
use isonomy_history::{Event, EventId, History, Key, TxnId, Value, Writer};

/// The values of a key that an event shows; `None` is the initial state, shown by absence.
fn shown(history: &History, event: Event<'_>, key: Key) -> Vec<Option<Value>> {
    let of_key = |value: Value| history.key_of(value) == key;
    match event {
        Event::Read(value) if of_key(value) => vec![Some(value)],
        Event::ReadList { key: read, elements } if read == key => {
            // The last element is the version that was read; the others were only observed.
            if elements.is_empty() { vec![None] } else { elements.iter().rev().map(|&element| Some(element)).collect() }
        }
        Event::Range { lo, hi, rows } if (lo..=hi).contains(&history.key_name(key)) => {
            let row = rows.iter().copied().find(|&row| of_key(row));
            vec![row]
        }
        Event::CompareAndSet { expected, succeeded: true, .. } if of_key(expected) => vec![Some(expected)],
        _ => Vec::new(),
    }
}

/// The value that an event writes.
fn written(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Write(value) | Event::Append(value) | Event::Insert(value) | Event::Delete(value) => Some(value),
        Event::CompareAndSet { new, succeeded: true, .. } => Some(new),
        Event::CompareAndSet { .. } | Event::Read(_) | Event::ReadList { .. } | Event::Range { .. } => None,
    }
}

/// The first event by which a transaction read a key from another or from the initial state, and the value it got.
pub(crate) fn read_from(history: &History, reader: TxnId, key: Key, from: Party) -> Option<(EventId, Option<Value>)> {
    let writer = from.map_or(Writer::Initial, Writer::Txn);
    let is_it =
        |value: &Option<Value>| value.map_or(Writer::Initial, |value| history.derived().writer(value)) == writer;
    history.event_ids(reader).find_map(|id| {
        let value = shown(history, history.event(id), key).into_iter().find(is_it)?;
        Some((id, value))
    })
}

/// The event that wrote a value.
pub(crate) fn write_of(history: &History, writer: TxnId, value: Value) -> Option<EventId> {
    history.event_ids(writer).find(|&id| written(history.event(id)) == Some(value))
}

/// The event that wrote a transaction's version of a key, which is its last write.
pub(crate) fn last_write(history: &History, writer: TxnId, key: Key) -> Option<EventId> {
    let writes = |id: &EventId| written(history.event(*id)).is_some_and(|value| history.key_of(value) == key);
    history.event_ids(writer).rev().find(writes)
}

/// All events of a transaction that read or write a key.
pub(crate) fn about(history: &History, txn: TxnId, key: Key) -> impl Iterator<Item = EventId> {
    history.event_ids(txn).filter(move |&id| concerns(history, id, key))
}

/// Whether an event reads or writes a key.
pub(crate) fn concerns(history: &History, id: EventId, key: Key) -> bool {
    let event = history.event(id);
    !shown(history, event, key).is_empty() || written(event).is_some_and(|value| history.key_of(value) == key)
}
