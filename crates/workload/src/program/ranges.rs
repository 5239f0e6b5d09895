//! Viper's Range workloads: keys come and go, and ranges of them are read.
//!
//! A transaction does one kind of thing, eight times. An insert takes the number after the largest, or a key that was deleted; a
//! delete, read or write takes any key that is there; a range takes any interval. After Zhang et al., "Viper: A Fast Snapshot
//! Isolation Checker", EuroSys 2023, §7, where intervals have any width.
//!
//! Programs are drawn before they run, so a key is taken to be there, or gone, only some draws later. Else a write would
//! often come before the insert of its key, which then fails.

use std::collections::VecDeque;

use super::source::Source;
use super::{Length, Operation};

/// How often transactions of each kind occur, relative to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeMix {
    /// Transactions that read.
    pub read: u32,
    /// Transactions that write.
    pub write: u32,
    /// Transactions that insert.
    pub insert: u32,
    /// Transactions that delete.
    pub delete: u32,
    /// Transactions that read ranges.
    pub range: u32,
}

impl RangeMix {
    /// Range-B: all equally often.
    pub const BALANCED: RangeMix = RangeMix { read: 1, write: 1, insert: 1, delete: 1, range: 1 };
    /// Range-RQH: half ranges.
    pub const RANGE_HEAVY: RangeMix = RangeMix { range: 4, ..RangeMix::BALANCED };
    /// Range-IDH: 35 % inserts, 35 % deletes.
    pub const INSERT_DELETE_HEAVY: RangeMix = RangeMix { read: 10, write: 10, insert: 35, delete: 35, range: 10 };

    fn weights(self) -> [u32; 5] {
        [self.read, self.write, self.insert, self.delete, self.range]
    }

    pub(super) fn is_empty(self) -> bool {
        self.weights() == [0; 5]
    }
}

/// After how many further inserts or deletes a key is taken to be there, or gone.
const SETTLED: usize = 200;

#[derive(Clone, Debug)]
pub(super) struct Ranges {
    length: Length,
    mix: RangeMix,
    widest: u32,
    /// The number after the largest key.
    end: u64,
    /// Keys that are there.
    present: Vec<u64>,
    /// Keys that were inserted lately.
    arriving: VecDeque<u64>,
    /// Keys that were deleted.
    gone: VecDeque<u64>,
}

impl Ranges {
    pub(super) fn new(keys: u64, length: Length, mix: RangeMix, widest: u32) -> Self {
        let (present, arriving, gone) = ((0..keys).collect(), VecDeque::new(), VecDeque::new());
        Ranges { length, mix, widest, end: keys, present, arriving, gone }
    }

    pub(super) fn draw(&mut self, source: &mut Source, program: &mut Vec<Operation>) {
        let kind = source.choose(self.mix.weights().into_iter());
        for _ in 0..self.length.draw(&mut source.rng) {
            let operation = match kind {
                0 => self.any(source).map(Operation::Read),
                1 => self.any(source).map(Operation::Write),
                2 => None,
                3 => self.delete(source),
                _ => Some(self.range(source)),
            };
            // Where nothing is there, all that can be done is to insert.
            let operation = operation.unwrap_or_else(|| self.insert(source));
            program.push(operation);
        }
    }

    fn any(&self, source: &mut Source) -> Option<u64> {
        (!self.present.is_empty()).then(|| self.present[source.rng.index(self.present.len())])
    }

    fn insert(&mut self, source: &mut Source) -> Operation {
        let again = self.gone.len() > SETTLED && source.rng.chance(0.5);
        let deleted = if again { self.gone.pop_front() } else { None };
        let key = deleted.unwrap_or_else(|| {
            self.end += 1;
            self.end - 1
        });
        self.arriving.push_back(key);
        if self.arriving.len() > SETTLED {
            self.present.extend(self.arriving.pop_front());
        }
        Operation::Insert(key)
    }

    fn delete(&mut self, source: &mut Source) -> Option<Operation> {
        if self.present.is_empty() {
            return None;
        }
        let key = self.present.swap_remove(source.rng.index(self.present.len()));
        self.gone.push_back(key);
        Some(Operation::Delete(key))
    }

    fn range(&self, source: &mut Source) -> Operation {
        let lo = source.rng.below(self.end);
        let hi = lo + source.rng.below(u64::from(self.widest));
        Operation::Range { lo, hi: hi.min(self.end - 1) }
    }
}
