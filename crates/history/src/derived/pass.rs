//! The passes over a history share this: where they are, and what they have found so far.

use super::{Derived, NOBODY};
use crate::event::{EventId, Kind};
use crate::history::{History, Key, TxnId, Value};

/// What the transaction at hand did to a key, valid if the stamp is that transaction.
#[derive(Clone, Copy)]
pub(super) struct Own {
    pub(super) write_stamp: u32,
    pub(super) write: u32,
    pub(super) read_stamp: u32,
    pub(super) read: u32,
}

pub(super) const UNTOUCHED: Own = Own { write_stamp: u32::MAX, write: 0, read_stamp: u32::MAX, read: 0 };
/// What an external read of the initial state saw, where no value stands for it: an empty list, a row not returned.
pub(super) const NOTHING: u32 = u32::MAX;

pub(super) struct Pass<'h> {
    pub(super) history: &'h History,
    pub(super) own: Vec<Own>,
    /// Keys used as lists; empty if there are none.
    pub(super) lists: Vec<bool>,
    /// All keys in the order of their names; empty if there are no ranges.
    pub(super) sorted_keys: Vec<Key>,
    pub(super) out: Derived,
}

impl<'h> Pass<'h> {
    pub(super) fn new(history: &'h History) -> Self {
        let ranges = history.kinds.contains(&Kind::Range);
        let mut sorted_keys: Vec<Key> =
            if ranges { (0..history.key_count() as u32).map(Key).collect() } else { Vec::new() };
        sorted_keys.sort_unstable_by_key(|&key| history.key_name(key));
        Pass {
            history,
            own: vec![UNTOUCHED; history.key_count()],
            lists: Vec::new(),
            sorted_keys,
            out: Derived { writer: vec![NOBODY; history.value_count()], ..Derived::default() },
        }
    }

    /// The value an event sets its key to, if it sets one.
    pub(super) fn written(&self, event: usize) -> Option<u32> {
        let kind = self.history.kinds[event];
        let column = self.history.columns[event];
        if kind.is_plain_write() {
            Some(column)
        } else if kind == Kind::CasSucceeded {
            Some(self.history.compound(column).1[1].0)
        } else {
            None
        }
    }

    /// The values that an event shows.
    pub(super) fn seen(&self, event: usize) -> impl Iterator<Item = Value> + use<'h> {
        let column = self.history.columns[event];
        let (single, several) = match self.history.kinds[event] {
            Kind::Read => (Some(Value(column)), &[][..]),
            Kind::ReadList | Kind::Range => (None, self.history.compound(column).1),
            Kind::CasSucceeded => (Some(self.history.compound(column).1[0]), &[][..]),
            _ => (None, &[][..]),
        };
        single.into_iter().chain(several.iter().copied())
    }

    pub(super) fn events_before(&self, at: At) -> impl Iterator<Item = usize> + use<> {
        self.history.events_of[at.txn.index()].start as usize..at.event.0 as usize
    }

    pub(super) fn wrote_before(&self, at: At, value: u32) -> bool {
        self.events_before(at).any(|event| self.written(event) == Some(value))
    }
}

/// The event at hand.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) txn: TxnId,
    pub(super) event: EventId,
}
