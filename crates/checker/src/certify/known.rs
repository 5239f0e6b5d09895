//! What evidence refers to, looked up once for each transaction that it names: evidence may name one many times.

use isonomy_history::{Event, Key, TxnId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use crate::verdict::Party;

/// Not in any list.
const NONE: u32 = u32::MAX;

pub(super) struct Known<'a, 'h> {
    facts: &'a Facts<'h>,
    met: FxHashSet<TxnId>,
    /// Who saw whom through which key, inner elements of lists too.
    seen: FxHashSet<(TxnId, TxnId, Key)>,
    /// Who read whose version of which key.
    versions: FxHashSet<(TxnId, Party, Key)>,
    writes: FxHashSet<(TxnId, Key)>,
    /// The place of each value in the longest read of its list. Found when first asked for.
    places: Option<Vec<u32>>,
    /// For each transaction and list the places of its first and its last element. One that no read shows is in the last place of all.
    spans: FxHashMap<(TxnId, Key), (u32, u32)>,
}

impl<'a, 'h> Known<'a, 'h> {
    pub(super) fn new(facts: &'a Facts<'h>) -> Self {
        Known {
            facts,
            met: FxHashSet::default(),
            seen: FxHashSet::default(),
            versions: FxHashSet::default(),
            writes: FxHashSet::default(),
            places: None,
            spans: FxHashMap::default(),
        }
    }

    fn meet(&mut self, txn: TxnId) {
        if !self.met.insert(txn) {
            return;
        }
        for seen in self.facts.reads(txn).0 {
            self.seen.extend(seen.from.map(|from| (txn, from, seen.key)));
            self.versions.extend(seen.version_of.map(|key| (txn, seen.from, key)));
        }
        let history = self.facts.history;
        self.writes.extend(self.facts.keys_written(txn).into_iter().map(|key| (txn, key)));
        for event in history.events(txn) {
            if let Event::Append(value) = event {
                let place = self.places.get_or_insert_with(|| places(self.facts))[value.index()];
                let span = self.spans.entry((txn, history.key_of(value))).or_insert((place, place));
                *span = (span.0.min(place), span.1.max(place));
            }
        }
    }

    /// Whether a transaction saw another one through a key.
    pub(super) fn sees(&mut self, reader: TxnId, writer: TxnId, key: Key) -> bool {
        self.meet(reader);
        self.seen.contains(&(reader, writer, key))
    }

    /// Whether a transaction read a version of a key.
    pub(super) fn reads(&mut self, reader: TxnId, version: Party, key: Key) -> bool {
        self.meet(reader);
        self.versions.contains(&(reader, version, key))
    }

    /// Whether a transaction that counts leaves a version of a key behind.
    pub(super) fn writes(&mut self, txn: TxnId, key: Key) -> bool {
        self.meet(txn);
        self.facts.counts(txn) && self.writes.contains(&(txn, key))
    }

    /// Whether lists show an element of `first` before one of `second`, or without one of `second`, which then came later.
    pub(super) fn lists_show(&mut self, first: TxnId, second: TxnId, key: Key) -> bool {
        self.meet(first);
        self.meet(second);
        match (self.spans.get(&(first, key)), self.spans.get(&(second, key))) {
            (Some(&(begin, _)), Some(&(_, end))) => begin != NONE && begin < end,
            _ => false,
        }
    }
}

/// The place of each value in the longest read of its list. All reads of a list are prefixes of it, or else a read is wrong by itself.
fn places(facts: &Facts<'_>) -> Vec<u32> {
    let mut longest: Vec<&[Value]> = vec![&[]; facts.history.key_count()];
    for (_, key, elements) in facts.lists() {
        let longest = &mut longest[key.index()];
        if elements.len() > longest.len() {
            *longest = elements;
        }
    }
    let mut places = vec![NONE; facts.history.value_count()];
    for (place, value) in longest.iter().flat_map(|elements| elements.iter().enumerate()) {
        places[value.index()] = places[value.index()].min(place as u32);
    }
    places
}
