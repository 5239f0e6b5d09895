//! Orders of commits.

use isonomy_history::{Event, FaultKind, Key, TxnId, Value};
use rustc_hash::FxHashMap;

use super::facts::{Facts, Seen};
use super::{Flaw, name, snapshots};
use crate::level::{IsolationLevel, Terms};

/// No place, no transaction.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct Replay<'a, 'h> {
    pub(super) facts: &'a Facts<'h>,
    session_order: bool,
    pub(super) order: &'a [TxnId],
    /// The place of each transaction in the order.
    pub(super) rank: Vec<u32>,
    pub(super) reads: Vec<Vec<Seen>>,
    pub(super) writes: Vec<Vec<Key>>,
}

pub(super) fn check(facts: &Facts<'_>, level: IsolationLevel, terms: Terms, order: &[TxnId]) -> Result<(), Flaw> {
    let history = facts.history;
    let transactions = history.transaction_count();
    let mut rank = vec![NONE; transactions];
    for (place, txn) in order.iter().enumerate() {
        if !facts.counts(*txn) || rank[txn.index()] != NONE {
            return Err(Flaw::NotAPermutation);
        }
        rank[txn.index()] = place as u32;
    }
    if history.transactions().any(|txn| facts.counts(txn) && rank[txn.index()] == NONE) {
        return Err(Flaw::NotAPermutation);
    }
    let mut reads = vec![Vec::new(); transactions];
    let mut writes = vec![Vec::new(); transactions];
    for &txn in order {
        let (seen, faults) = facts.reads(txn);
        let allowed = |kind| kind == FaultKind::NonRepeatable && level == IsolationLevel::ReadCommitted;
        if !faults.iter().all(|&(_, kind)| allowed(kind)) {
            return Err(Flaw::FaultyRead(name(history, txn)));
        }
        reads[txn.index()] = seen;
        writes[txn.index()] = facts.keys_written(txn);
    }
    let replay = Replay { facts, session_order: terms.session_order, order, rank, reads, writes };
    replay.contains_known_orders()?;
    match level {
        IsolationLevel::ReadCommitted => replay.read_committed(),
        IsolationLevel::ReadAtomic => replay.read_atomic(),
        IsolationLevel::Causal => replay.causal(),
        level => snapshots::check(&replay, level, terms.clock_drift),
    }
}

/// The newest visible writer of each key, for the transaction whose stamp it has.
struct Newest {
    slots: Vec<(u32, u32)>,
}

impl Newest {
    fn note(&mut self, stamp: TxnId, key: Key, place: u32) {
        let slot = &mut self.slots[key.index()];
        *slot = if slot.0 == stamp.0 { (stamp.0, slot.1.max(place)) } else { (stamp.0, place) };
    }

    fn get(&self, stamp: TxnId, key: Key) -> Option<u32> {
        let slot = self.slots[key.index()];
        (slot.0 == stamp.0).then_some(slot.1)
    }
}

impl Replay<'_, '_> {
    /// Session order, write-read order and the orders that lists show.
    fn contains_known_orders(&self) -> Result<(), Flaw> {
        let history = self.facts.history;
        if self.session_order {
            for session in history.sessions() {
                let mut last = None;
                for txn in history.transactions_of(session).filter(|&txn| self.facts.counts(txn)) {
                    if last > Some(self.rank[txn.index()]) {
                        return Err(Flaw::AgainstSession(name(history, txn)));
                    }
                    last = Some(self.rank[txn.index()]);
                }
            }
        }
        for &txn in self.order {
            let late = |seen: &Seen| seen.from.is_some_and(|from| self.rank[from.index()] >= self.rank[txn.index()]);
            if self.reads[txn.index()].iter().any(late) {
                return Err(Flaw::AgainstRead(name(history, txn)));
            }
        }
        let mut lists: FxHashMap<Key, Vec<Value>> = FxHashMap::default();
        for &txn in self.order {
            for event in history.events(txn) {
                if let Event::Append(value) = event {
                    lists.entry(history.key_of(value)).or_default().push(value);
                }
            }
        }
        for (txn, key, elements) in self.facts.lists() {
            if !lists.get(&key).map_or(&[][..], Vec::as_slice).starts_with(elements) {
                return Err(Flaw::AgainstList(name(history, txn)));
            }
        }
        Ok(())
    }

    pub(super) fn missed(&self, reader: TxnId, writer_place: u32) -> Flaw {
        let history = self.facts.history;
        Flaw::Missed { reader: name(history, reader), writer: name(history, self.order[writer_place as usize]) }
    }

    /// Whether a version is older than what stands at a place.
    fn is_older(&self, from: Option<TxnId>, place: u32) -> bool {
        from.is_none_or(|from| self.rank[from.index()] < place)
    }

    /// For each transaction the one that counts before it in its session, if sessions are respected.
    pub(super) fn previous_in_session(&self) -> Vec<Option<TxnId>> {
        let history = self.facts.history;
        let mut previous = vec![None; history.transaction_count()];
        for session in history.sessions().filter(|_| self.session_order) {
            let mut last = None;
            for txn in history.transactions_of(session).filter(|&txn| self.facts.counts(txn)) {
                previous[txn.index()] = last;
                last = Some(txn);
            }
        }
        previous
    }

    fn newest(&self) -> Newest {
        Newest { slots: vec![(NONE, 0); self.facts.history.key_count()] }
    }

    /// Makes all that a writer wrote visible to a reader.
    fn show(&self, newest: &mut Newest, reader: TxnId, writer: TxnId) {
        for &key in &self.writes[writer.index()] {
            newest.note(reader, key, self.rank[writer.index()]);
        }
    }

    fn read_committed(&self) -> Result<(), Flaw> {
        let mut newest = self.newest();
        for &reader in self.order {
            // What one event shows is shown at once.
            for event in self.reads[reader.index()].chunk_by(|a, b| a.event == b.event) {
                for seen in event {
                    if let Some(key) = seen.version_of
                        && let Some(place) = newest.get(reader, key)
                        && self.is_older(seen.from, place)
                    {
                        return Err(self.missed(reader, place));
                    }
                }
                for from in event.iter().filter_map(|seen| seen.from) {
                    self.show(&mut newest, reader, from);
                }
            }
        }
        Ok(())
    }

    fn read_atomic(&self) -> Result<(), Flaw> {
        let history = self.facts.history;
        let mut newest = self.newest();
        for session in history.sessions() {
            let mut own: FxHashMap<Key, u32> = FxHashMap::default();
            for reader in history.transactions_of(session).filter(|&txn| self.facts.counts(txn)) {
                for from in self.reads[reader.index()].iter().filter_map(|seen| seen.from) {
                    self.show(&mut newest, reader, from);
                }
                for seen in &self.reads[reader.index()] {
                    let Some(key) = seen.version_of else { continue };
                    let session = own.get(&key).copied().filter(|_| self.session_order);
                    if let Some(place) = newest.get(reader, key).max(session)
                        && self.is_older(seen.from, place)
                    {
                        return Err(self.missed(reader, place));
                    }
                }
                for &key in &self.writes[reader.index()] {
                    own.insert(key, self.rank[reader.index()]);
                }
            }
        }
        Ok(())
    }

    /// The past of every transaction, as a number for each of a few sessions at a time: memory stays in bounds, and a history of a
    /// thousand sessions is gone through sixteen times.
    fn causal(&self) -> Result<(), Flaw> {
        const AT_ONCE: usize = 64;
        let history = self.facts.history;
        let transactions = history.transaction_count();
        // Without session order every transaction is a session of its own.
        let lanes: Vec<u32> = if self.session_order {
            history.transactions().map(|txn| history.session_of(txn).0).collect()
        } else {
            (0..transactions as u32).collect()
        };
        let count = lanes.iter().map(|&lane| lane as usize + 1).max().unwrap_or(0);
        let previous = self.previous_in_session();
        let mut past = vec![[0u32; AT_ONCE]; transactions];
        for first in (0..count).step_by(AT_ONCE) {
            let lane_of = |txn: TxnId| (lanes[txn.index()] as usize).checked_sub(first).filter(|&lane| lane < AT_ONCE);
            // For each key the lanes that write it, with the writers that stand before the reader at hand, in order.
            let mut writers: Vec<Vec<(usize, Vec<TxnId>)>> = vec![Vec::new(); history.key_count()];
            for &reader in self.order {
                let mut row = [0u32; AT_ONCE];
                let session = previous[reader.index()];
                for source in self.reads[reader.index()].iter().filter_map(|seen| seen.from).chain(session) {
                    for (mine, theirs) in row.iter_mut().zip(past[source.index()]) {
                        *mine = (*mine).max(theirs);
                    }
                    // Ids grow along a session, so the largest one says how far it is visible.
                    if let Some(lane) = lane_of(source) {
                        row[lane] = row[lane].max(source.0 + 1);
                    }
                }
                past[reader.index()] = row;
                for seen in &self.reads[reader.index()] {
                    let Some(key) = seen.version_of else { continue };
                    for (lane, in_lane) in &writers[key.index()] {
                        if let Some(writer) = last_below(in_lane, row[*lane])
                            && seen.from != Some(writer)
                            && self.is_older(seen.from, self.rank[writer.index()])
                        {
                            return Err(self.missed(reader, self.rank[writer.index()]));
                        }
                    }
                }
                if let Some(lane) = lane_of(reader) {
                    for &key in &self.writes[reader.index()] {
                        match writers[key.index()].iter_mut().find(|(other, _)| *other == lane) {
                            Some((_, in_lane)) => in_lane.push(reader),
                            None => writers[key.index()].push((lane, vec![reader])),
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The last transaction below a bound. It is near the end as a rule.
fn last_below(txns: &[TxnId], bound: u32) -> Option<TxnId> {
    const NEAR: usize = 8;
    let near = txns.iter().rev().take(NEAR).find(|txn| txn.0 < bound);
    near.or_else(|| txns[..txns.partition_point(|txn| txn.0 < bound)].last()).copied()
}
