//! A transaction that has not ended.

use isonomy_workload::StoreLevel;
use rustc_hash::FxHashMap;

use crate::keys::{KeyId, ValueId, Version};
use crate::options::Choice;
use crate::order::{Node, Past};
use crate::strong::Strong;
use crate::weak::Weak;

/// What happened in a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// It read what another transaction left, or the initial state.
    Read {
        key: KeyId,
        version: Option<Version>,
        /// How many versions it could have been.
        allowed: u32,
        /// What was committed last, if that is another version.
        newest: Option<Version>,
    },
    /// It read what it wrote itself.
    Own(KeyId, ValueId),
    Wrote(KeyId, ValueId),
}

impl Event {
    pub(crate) fn key(&self) -> KeyId {
        match *self {
            Event::Read { key, .. } | Event::Own(key, _) | Event::Wrote(key, _) => key,
        }
    }

    /// What was read or written; `None` is the initial state.
    pub(crate) fn value(&self) -> Option<ValueId> {
        match *self {
            Event::Read { version, .. } => version.map(|version| version.value),
            Event::Own(_, value) | Event::Wrote(_, value) => Some(value),
        }
    }
}

/// What a transaction sees.
#[derive(Debug)]
pub(crate) enum Snapshot {
    Weak(Weak),
    Strong(Strong),
}

#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) session: u32,
    pub(crate) number: u32,
    pub(crate) level: StoreLevel,
    pub(crate) choice: Choice,
    pub(crate) start: i64,
    /// What happened before it.
    pub(crate) past: Past,
    pub(crate) snapshot: Snapshot,
    /// What keys held that hold the same whenever they are read again.
    pub(crate) known: FxHashMap<KeyId, Option<Version>>,
    /// Whose writes it read.
    pub(crate) sources: Vec<Node>,
    /// How often it read from others.
    pub(crate) reads: u32,
    pub(crate) events: Vec<Event>,
    writes: Vec<(KeyId, ValueId)>,
    /// Where the writes of a key are, the last one at the end.
    places: FxHashMap<KeyId, Vec<u32>>,
}

/// A place in a transaction to go back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savepoint {
    writes: usize,
    events: usize,
}

impl Open {
    pub(crate) fn new(
        session: u32,
        number: u32,
        level: StoreLevel,
        choice: Choice,
        start: i64,
        past: Past,
        snapshot: Snapshot,
    ) -> Self {
        Open {
            session,
            number,
            level,
            choice,
            start,
            past,
            snapshot,
            known: FxHashMap::default(),
            sources: Vec::new(),
            reads: 0,
            events: Vec::new(),
            writes: Vec::new(),
            places: FxHashMap::default(),
        }
    }

    /// What it wrote to a key itself.
    pub(crate) fn own(&self, key: KeyId) -> Option<ValueId> {
        let place = *self.places.get(&key)?.last()?;
        Some(self.writes[place as usize].1)
    }

    pub(crate) fn write(&mut self, key: KeyId, value: ValueId) {
        self.places.entry(key).or_default().push(self.writes.len() as u32);
        self.writes.push((key, value));
        self.events.push(Event::Wrote(key, value));
    }

    /// The last write of each key, in the order in which keys were first written.
    pub(crate) fn final_writes(&self) -> Vec<(KeyId, ValueId)> {
        let is_last = |place: u32, key: KeyId| self.places[&key].last() == Some(&place);
        let writes = self.writes.iter().zip(0u32..);
        writes.filter(|&(write, place)| is_last(place, write.0)).map(|(&write, _)| write).collect()
    }

    pub(crate) fn savepoint(&self) -> Savepoint {
        Savepoint { writes: self.writes.len(), events: self.events.len() }
    }

    /// Takes writes back, as if they had never been; what was read from others stays read.
    pub(crate) fn rollback_to(&mut self, savepoint: Savepoint) {
        for (key, _) in self.writes.drain(savepoint.writes.min(self.writes.len())..) {
            if let Some(places) = self.places.get_mut(&key) {
                places.pop();
            }
        }
        let mut place = 0;
        self.events.retain(|event| {
            place += 1;
            place <= savepoint.events || matches!(event, Event::Read { .. })
        });
    }
}
