//! Ranges of keys.

use super::pass::{At, NOTHING, Pass};
use super::{ExternalRead, FaultKind, INITIAL};
use crate::error::HistoryError;
use crate::event::Kind;
use crate::history::Key;
use crate::names::Name;

impl<'h> Pass<'h> {
    pub(super) fn check_ranges(&self) -> Result<(), HistoryError> {
        if self.sorted_keys.is_empty() {
            return Ok(());
        }
        let history = self.history;
        for txn in history.transactions() {
            for event in history.events_of[txn.index()].clone() {
                if history.kinds[event as usize] != Kind::Range {
                    continue;
                }
                let (range, rows) = history.compound(history.columns[event as usize]);
                let (lo, hi) = self.bounds(range.lo, range.hi);
                let mut keys: Vec<Key> = rows.iter().map(|&row| history.key_of(row)).collect();
                keys.sort_unstable();
                let name = |key| history.key_name(key).to_string().into();
                if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(HistoryError::RepeatedRow { at: history.write_at(txn), key: name(pair[0]) });
                }
                if let Some(&key) = keys.iter().find(|&&key| !(lo..=hi).contains(&history.key_name(key))) {
                    return Err(HistoryError::RowOutsideRange {
                        at: history.write_at(txn),
                        lo: lo.to_string().into(),
                        hi: hi.to_string().into(),
                        key: name(key),
                    });
                }
            }
        }
        Ok(())
    }

    pub(super) fn bounds(&self, lo: u32, hi: u32) -> (Name<'h>, Name<'h>) {
        let history = self.history;
        (history.bounds.get(lo, &history.texts), history.bounds.get(hi, &history.texts))
    }

    pub(super) fn keys_not_returned(&self, column: u32, missing: &mut Vec<Key>) {
        let history = self.history;
        let (range, rows) = history.compound(column);
        let (lo, hi) = self.bounds(range.lo, range.hi);
        let from = self.sorted_keys.partition_point(|&key| history.key_name(key) < lo);
        let to = self.sorted_keys.partition_point(|&key| history.key_name(key) <= hi).max(from);
        let mut returned: Vec<Key> = rows.iter().map(|&row| history.key_of(row)).collect();
        returned.sort_unstable();
        missing.clear();
        missing.extend(self.sorted_keys[from..to].iter().copied().filter(|key| {
            !self.lists.get(key.index()).is_some_and(|&list| list) && returned.binary_search(key).is_err()
        }));
    }

    /// A range did not return this key.
    pub(super) fn read_nothing(&mut self, at: At, key: Key) {
        let own = self.own[key.index()];
        if own.write_stamp == at.txn.0 {
            // A row that the reader itself deleted is not there; every other own write must be.
            let deleted = self
                .events_before(at)
                .any(|event| self.history.kinds[event] == Kind::Delete && self.history.columns[event] == own.write);
            if !deleted {
                self.fault(at, key.0, None, FaultKind::NotMyOwnWrite);
            }
            return;
        }
        if own.read_stamp == at.txn.0 && !self.same_version(own.read, NOTHING) {
            self.fault(at, key.0, None, FaultKind::NonRepeatable);
        }
        self.own[key.index()].read_stamp = at.txn.0;
        self.own[key.index()].read = NOTHING;
        self.out.reads.push(ExternalRead { key: key.0, from: INITIAL });
    }
}
