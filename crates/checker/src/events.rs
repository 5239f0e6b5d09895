//! Which events do relations speak of, and what do these say of a key? For stories and drawings.

use isonomy_history::{Event, EventId, History, Key, TxnId, Value, Writer};

use crate::verdict::Party;

/// The values of a key that an event shows, the version that was read first; `None` is the initial state, shown by absence.
fn shown(history: &History, event: Event<'_>, key: Key) -> Vec<Option<Value>> {
    let of_key = |value: Value| history.key_of(value) == key;
    match event {
        Event::Read(value) if of_key(value) => vec![Some(value)],
        Event::ReadList { key: read, elements } if read == key => {
            // The last element is the version that was read; the others were only observed.
            if elements.is_empty() { vec![None] } else { elements.iter().rev().map(|&element| Some(element)).collect() }
        }
        Event::Range { lo, hi, rows } if (lo..=hi).contains(&history.key_name(key)) => {
            vec![rows.iter().copied().find(|&row| of_key(row))]
        }
        Event::CompareAndSet { expected, succeeded: true, .. } if of_key(expected) => vec![Some(expected)],
        _ => Vec::new(),
    }
}

/// The value that an event writes.
pub fn written(event: Event<'_>) -> Option<Value> {
    match event {
        Event::Write(value) | Event::Append(value) | Event::Insert(value) | Event::Delete(value) => Some(value),
        Event::CompareAndSet { new, succeeded: true, .. } => Some(new),
        Event::CompareAndSet { .. } | Event::Read(_) | Event::ReadList { .. } | Event::Range { .. } => None,
    }
}

/// The first event by which a transaction read a key from another or from the initial state, and the value it got. A version that was read
/// goes before one that was only observed within a list.
pub fn read_from(history: &History, reader: TxnId, key: Key, from: Party) -> Option<(EventId, Option<Value>)> {
    let writer = from.map_or(Writer::Initial, Writer::Txn);
    let is_it =
        |value: &Option<Value>| value.map_or(Writer::Initial, |value| history.derived().writer(value)) == writer;
    let as_version = |id: EventId| Some((id, shown(history, history.event(id), key).into_iter().next().filter(is_it)?));
    let observed = |id: EventId| Some((id, shown(history, history.event(id), key).into_iter().find(is_it)?));
    history.event_ids(reader).find_map(as_version).or_else(|| history.event_ids(reader).find_map(observed))
}

/// The event that wrote a value, or was refused to and, as somebody read it, did so nonetheless.
pub fn write_of(history: &History, writer: TxnId, value: Value) -> Option<EventId> {
    history.event_ids(writer).find(|&id| match history.event(id) {
        Event::CompareAndSet { new, .. } => new == value,
        event => written(event) == Some(value),
    })
}

/// The event that wrote a transaction's version of a key, which is its last write.
pub fn last_write(history: &History, writer: TxnId, key: Key) -> Option<EventId> {
    let writes = |id: &EventId| written(history.event(*id)).is_some_and(|value| history.key_of(value) == key);
    history.event_ids(writer).rev().find(writes)
}

/// The write and the read by which one transaction, or the initial state, was read by another.
pub fn ends_of_read(history: &History, from: Party, to: Party, key: Key) -> [Option<EventId>; 2] {
    let read = to.and_then(|reader| read_from(history, reader, key, from));
    let write = from.and_then(|writer| match read {
        Some((_, Some(value))) => write_of(history, writer, value),
        _ => last_write(history, writer, key),
    });
    [write, read.map(|(event, _)| event)]
}

/// The last event before another of its transaction that reads or writes a key.
pub fn before(history: &History, txn: TxnId, key: Key, event: EventId) -> Option<EventId> {
    history.event_ids(txn).take_while(|&id| id < event).filter(|&id| concerns(history, id, key)).last()
}

/// Whether an event reads or writes a key.
pub fn concerns(history: &History, id: EventId, key: Key) -> bool {
    let event = history.event(id);
    !shown(history, event, key).is_empty() || written(event).is_some_and(|value| history.key_of(value) == key)
}

/// Whose event it is. Searches the whole history.
pub fn owner(history: &History, event: EventId) -> Option<TxnId> {
    history.transactions().find(|&txn| history.event_ids(txn).any(|id| id == event))
}
