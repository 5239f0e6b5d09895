//! What the evidence takes for granted, and a reader of the story should see: which lists show an order of versions, and who shows that a
//! transaction of unknown outcome took effect.

use std::collections::VecDeque;

use isonomy_history::{Event, EventId, History, Key, Outcome, TxnId, Value, Writer};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::events;
use crate::verdict::{Case, Edge, Evidence, Why};

/// A version of a key, by its writer.
type Version = (Key, TxnId);

/// For versions a reader, and the list in which it read them. What stands there after such a version, or not yet, came later.
pub(super) type Lists = FxHashMap<Version, (TxnId, EventId)>;

/// Finds lists that show all orders of versions that the evidence takes from lists, by few readers: those that take part anyway, then
/// those that show most. One pass over the history, if there is anything to find.
pub(super) fn lists(history: &History, evidence: &Evidence, txns: &[TxnId]) -> Lists {
    let mut wanted: FxHashMap<Value, Version> = FxHashMap::default();
    let mut want = |edges: &[Edge]| {
        for edge in edges {
            let (Why::Version(key), Some(writer)) = (&edge.why, edge.from) else { continue };
            let value = events::last_write(history, writer, *key).and_then(|id| events::written(history.event(id)));
            wanted.extend(value.map(|value| (value, (*key, writer))));
        }
    };
    match evidence {
        Evidence::Read(_) => {}
        Evidence::Cycle(edges) => want(edges),
        Evidence::Refutation(refutation) => refutation.cases.iter().for_each(|case| match case {
            Case::Closed(edges) => want(edges),
            Case::Split { .. } => {}
        }),
    }
    let mut found = Lists::default();
    if wanted.is_empty() {
        return found;
    }
    let keys: FxHashSet<Key> = wanted.values().map(|&(key, _)| key).collect();
    let mut readers: Vec<(TxnId, Vec<(Version, EventId)>)> = Vec::new();
    for reader in history.transactions().filter(|&txn| history.derived().counts(txn)) {
        let mut shows = Vec::new();
        for id in history.event_ids(reader) {
            let Event::ReadList { key, elements } = history.event(id) else { continue };
            if keys.contains(&key) {
                shows.extend(elements.iter().filter_map(|element| wanted.get(element)).map(|&one| (one, id)));
            }
        }
        if !shows.is_empty() {
            readers.push((reader, shows));
        }
    }
    loop {
        let news = |shows: &[(Version, EventId)]| shows.iter().filter(|(one, _)| !found.contains_key(one)).count();
        let best = readers.iter().filter(|(_, shows)| news(shows) > 0);
        // Of those that show as much the first.
        let best = best.rev().max_by_key(|(reader, shows)| (txns.contains(reader), news(shows)));
        let Some((reader, shows)) = best else { return found };
        let more: Vec<_> = shows.iter().filter(|(one, _)| !found.contains_key(one)).copied().collect();
        // The first list of a reader that shows it.
        more.into_iter().rev().for_each(|(one, id)| found.extend([(one, (*reader, id))]));
    }
}

/// A transaction that read what one of unknown outcome wrote, which shows that it took effect.
pub(super) struct Observed {
    pub(super) txn: TxnId,
    pub(super) reader: TxnId,
    pub(super) key: Key,
}

/// Finds who observed those whose outcome nobody knows and whom no other reads by the events that matter.
pub(super) fn observed(history: &History, txns: &[TxnId], shown: &FxHashSet<EventId>) -> Vec<Observed> {
    let derived = history.derived();
    let unknown = |txn: TxnId| history.outcome(txn) == Outcome::Indeterminate && derived.counts(txn);
    if !txns.iter().any(|&txn| unknown(txn)) {
        return Vec::new();
    }
    let reads = |id: EventId| -> Vec<Value> {
        match history.event(id) {
            Event::Read(value) => vec![value],
            Event::ReadList { elements: values, .. } | Event::Range { rows: values, .. } => values.to_vec(),
            Event::CompareAndSet { expected, succeeded: true, .. } => vec![expected],
            _ => Vec::new(),
        }
    };
    let by = |value: &Value, txn: TxnId| derived.writer(*value) == Writer::Txn(txn);
    let mut found = Vec::new();
    let mut met: FxHashSet<TxnId> = txns.iter().copied().collect();
    let mut open: VecDeque<TxnId> = txns.iter().copied().filter(|&txn| unknown(txn)).collect();
    while let Some(txn) = open.pop_front() {
        let is_read = |reader: TxnId, shown: Option<&FxHashSet<EventId>>| {
            let mut ids = history.event_ids(reader).filter(|id| shown.is_none_or(|shown| shown.contains(id)));
            ids.find_map(|id| reads(id).into_iter().find(|value| by(value, txn)))
        };
        if txns.iter().any(|&reader| reader != txn && is_read(reader, Some(shown)).is_some()) {
            continue;
        }
        // One that is known to have committed settles it; any other that counts was observed itself.
        let mut readers = history.transactions().filter(|&reader| reader != txn && derived.counts(reader));
        let mut best: Option<(TxnId, Value)> = None;
        while let Some(reader) = readers.next()
            && best.is_none_or(|(best, _)| unknown(best))
        {
            if best.is_none() || !unknown(reader) {
                best = is_read(reader, None).map(|value| (reader, value)).or(best);
            }
        }
        let Some((reader, value)) = best else { continue };
        found.push(Observed { txn, reader, key: history.key_of(value) });
        if met.insert(reader) && unknown(reader) {
            open.push_back(reader);
        }
    }
    found
}
