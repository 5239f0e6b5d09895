//! Lists: what a read of one shows, and the version orders that all reads together give away.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::pass::{At, NOTHING, Pass};
use super::{ExternalRead, FaultKind, INITIAL, NO_KEY, OVERWRITTEN, VersionEdge, Writer};
use crate::event::{EventId, Kind};
use crate::history::{Key, TxnId, Value};

impl<'h> Pass<'h> {
    pub(super) fn read_list(&mut self, at: At, column: u32) {
        let history = self.history;
        let (list, elements) = history.compound(column);
        let key = list.key;
        let appends = self.own[key as usize].write_stamp == at.txn.0;
        let own = if appends { self.appended_before(at, key) } else { Vec::new() };
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

    /// What the transaction at hand has appended to a list so far.
    pub(super) fn appended_before(&self, at: At, key: u32) -> Vec<Value> {
        self.events_before(at)
            .filter(|&event| self.history.kinds[event] == Kind::Append)
            .map(|event| Value(self.history.columns[event]))
            .filter(|&value| self.history.key_of(value).0 == key)
            .collect()
    }

    /// The longest list read of each key gives the order of its elements; all other reads must be prefixes of it.
    pub(super) fn resolve_version_orders(&mut self) {
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
                    // Only a list that ends with an element of its reader has anything to leave out.
                    let is_own = elements.last().is_some_and(|&last| self.out.writer(last) == Writer::Txn(txn));
                    let own = if is_own { self.appended_before(at, list.key) } else { Vec::new() };
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

    /// Whether a list has all that each transaction appended before any element of it, in that order.
    pub(super) fn in_program_order(&self, key: u32, elements: &[Value]) -> bool {
        let history = self.history;
        // For each transaction the events that have not been looked at.
        let mut left: FxHashMap<TxnId, Range<u32>> = FxHashMap::default();
        elements.iter().all(|&value| {
            let Writer::Txn(txn) = self.out.writer(value) else { return true };
            let events = left.entry(txn).or_insert_with(|| history.events_of[txn.index()].clone());
            let next = events.find(|&event| {
                let appended = Value(history.columns[event as usize]);
                history.kinds[event as usize] == Kind::Append && history.key_of(appended).0 == key
            });
            next.is_some_and(|event| history.columns[event as usize] == value.0)
        })
    }
}
