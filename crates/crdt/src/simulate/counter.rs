//! Counters, whose updates commute, so that delivering each once is enough.

use super::{Message, Update};

pub(super) struct Counter {
    /// Increments and decrements, by object.
    counts: Vec<(i64, i64)>,
}

impl Counter {
    pub(super) fn new(objects: usize) -> Self {
        Counter { counts: vec![(0, 0); objects] }
    }

    pub(super) fn count(&self, object: usize) -> i64 {
        self.counts[object].0 - self.counts[object].1
    }

    pub(super) fn apply(&mut self, message: &Message) {
        match message.update {
            Update::Increment(object) => self.counts[object].0 += 1,
            Update::Decrement(object) => self.counts[object].1 += 1,
            _ => unreachable!("counters count"),
        }
    }
}
