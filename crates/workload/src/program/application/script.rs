//! A program in the making.

use crate::program::Operation;
use crate::program::source::Source;

/// Writes a program, and draws what it needs to know.
pub(super) struct Script<'a> {
    source: &'a mut Source,
    program: &'a mut Vec<Operation>,
}

impl<'a> Script<'a> {
    pub(super) fn new(source: &'a mut Source, program: &'a mut Vec<Operation>) -> Self {
        Script { source, program }
    }

    pub(super) fn read(&mut self, key: u64) {
        self.program.push(Operation::Read(key));
    }

    pub(super) fn write(&mut self, key: u64) {
        self.program.push(Operation::Write(key));
    }

    /// Writes a key in dependence on what it holds.
    pub(super) fn update(&mut self, key: u64) {
        self.read(key);
        self.write(key);
    }

    /// Inserts a row that was not there before.
    pub(super) fn insert(&mut self) -> u64 {
        let key = self.source.fresh_key();
        self.program.push(Operation::Insert(key));
        key
    }

    pub(super) fn delete(&mut self, key: u64) {
        self.program.push(Operation::Delete(key));
    }

    /// One of what the application is built around, popular ones more often.
    pub(super) fn popular(&mut self) -> u64 {
        self.source.key()
    }

    /// Another one.
    pub(super) fn popular_other_than(&mut self, other: u64) -> u64 {
        self.source.key_other_than(other)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.source.rng.below(bound)
    }

    /// True with this probability.
    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.source.rng.chance(probability)
    }
}
