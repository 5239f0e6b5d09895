//! What transactions, events, keys and arrows are called in the attributes of a page.
//!
//! Numbers, in the order of the exhibit: they say nothing of the input, need no escapes, and are the same in drawings, texts and data.

use isonomy_checker::Party;
use isonomy_history::{EventId, History, Key, TxnId};

use isonomy_checker::events;

/// The names within an exhibit.
pub(super) struct Names {
    keys: Vec<Key>,
    txns: Vec<TxnId>,
    /// For each transaction the number of its first event, and which keys each event is about.
    events: Vec<(EventId, Vec<Vec<usize>>)>,
}

impl Names {
    pub(super) fn new(history: &History, keys: Vec<Key>, txns: &[TxnId]) -> Self {
        let about = |event: EventId| -> Vec<usize> {
            (0..keys.len()).filter(|&index| events::concerns(history, event, keys[index])).collect()
        };
        let events = txns.iter().map(|&txn| {
            let first = history.event_ids(txn).next().unwrap_or(EventId(0));
            (first, history.event_ids(txn).map(about).collect())
        });
        Names { events: events.collect(), keys, txns: txns.to_vec() }
    }

    /// The initial state has a name, too.
    pub(super) fn party(&self, party: Party) -> String {
        match party.and_then(|txn| self.txns.iter().position(|&other| other == txn)) {
            Some(index) => format!("t{index}"),
            None => "initial".into(),
        }
    }

    pub(super) fn event(&self, event: EventId) -> String {
        match self.find(event) {
            Some((txn, number)) => format!("t{txn}.{number}"),
            None => String::new(),
        }
    }

    pub(super) fn arrow(scene: usize, arrow: usize) -> String {
        format!("s{scene}e{arrow}")
    }

    pub(super) fn keys(&self, keys: impl Iterator<Item = Key>) -> String {
        let index = |key: Key| self.keys.iter().position(|&other| other == key);
        joined(keys.filter_map(index))
    }

    /// The keys that an event is about.
    pub(super) fn keys_of_event(&self, event: EventId) -> String {
        joined(self.find(event).into_iter().flat_map(|(txn, number)| self.events[txn].1[number].iter().copied()))
    }

    /// The keys that some event of a transaction is about.
    pub(super) fn keys_of(&self, party: Party) -> String {
        let Some(txn) = party.and_then(|txn| self.txns.iter().position(|&other| other == txn)) else {
            return joined(0..self.keys.len());
        };
        let mut keys: Vec<usize> = self.events[txn].1.iter().flatten().copied().collect();
        keys.sort_unstable();
        keys.dedup();
        joined(keys.into_iter())
    }

    fn find(&self, event: EventId) -> Option<(usize, usize)> {
        self.events.iter().enumerate().find_map(|(txn, (first, events))| {
            let number = event.0.checked_sub(first.0)? as usize;
            (number < events.len()).then_some((txn, number))
        })
    }
}

fn joined(keys: impl Iterator<Item = usize>) -> String {
    keys.map(|key| format!("k{key}")).collect::<Vec<_>>().join(" ")
}
