//! What transactions ask for: programs of operations, drawn from a shape.
//!
//! A program names keys; values are the business of whoever runs it, who gives every write one of its own.

mod length;
mod mini;

pub use length::{InvalidLength, Length};
pub use mini::{InvalidMix, MiniMix, MiniShape};

use crate::distribution::{Distribution, InvalidDistribution, KeySampler};
use crate::rng::Rng;

/// Something a transaction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Read the key.
    Read(u64),
    /// Write a new value to the key.
    Write(u64),
    /// Put a new element at the end of the key's list.
    Append(u64),
    /// Read the key's whole list.
    ReadList(u64),
}

impl Operation {
    /// The key it is about.
    pub fn key(self) -> u64 {
        match self {
            Operation::Read(key) | Operation::Write(key) | Operation::Append(key) | Operation::ReadList(key) => key,
        }
    }

    /// Whether it changes the key.
    pub fn is_write(self) -> bool {
        matches!(self, Operation::Write(_) | Operation::Append(_))
    }
}

/// What kind of transactions there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Reads and writes at random (PolySI, C4, dbcop).
    General {
        /// Events per transaction.
        length: Length,
        /// How many of them are reads.
        read_share: f64,
        /// At most one read and one write per key and transaction, and no read after an own write: some checkers reject
        /// valid histories otherwise.
        single_access: bool,
    },
    /// Transactions that only read, only write, or write what they have just read (Cobra, MTC's GT).
    Mixed {
        /// Events per transaction. A read-modify-write is two.
        length: Length,
        /// The share of transactions that only read.
        read_only: f64,
        /// The share of transactions that only write. What remains are read-modify-writes.
        write_only: f64,
    },
    /// Transactions that only read or only write (Viper's BlindW).
    Blind {
        /// Events per transaction.
        length: Length,
        /// The share of transactions that only read.
        read_only: f64,
    },
    /// Mini-transactions: one or two reads, at most two writes, each of a key that was read before (MTC).
    Mini(MiniMix),
    /// Appends to and reads of lists (Elle). The keys of the workload are those in use at a time: each makes room for a new
    /// one after enough appends, so that lists stay short.
    ListAppend {
        /// Events per transaction.
        length: Length,
        /// How many of them are reads.
        read_share: f64,
        /// After how many appends a key is retired.
        appends_per_key: u32,
    },
}

impl Shape {
    /// Reads and writes at random, always so many.
    pub const fn general(length: u32, read_share: f64) -> Shape {
        Shape::General { length: Length::Fixed(length), read_share, single_access: false }
    }

    /// Cobra's mix: 20 % read-only, 40 % write-only, 40 % read-modify-write.
    pub const fn cobra(length: u32) -> Shape {
        Shape::Mixed { length: Length::Fixed(length), read_only: 0.2, write_only: 0.4 }
    }

    /// Elle's defaults: one to four operations, half of them reads, 32 appends per key.
    pub const LIST_APPEND: Shape =
        Shape::ListAppend { length: Length::Between(1, 4), read_share: 0.5, appends_per_key: 32 };

    /// Whether its keys hold lists.
    pub fn has_lists(&self) -> bool {
        matches!(self, Shape::ListAppend { .. })
    }
}

/// Which transactions, on which keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many keys there are.
    pub keys: u64,
    /// How popular each is.
    pub distribution: Distribution,
    /// What transactions do with them.
    pub shape: Shape,
}

/// Why there is no such workload.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// Too few keys for the shape.
    #[error("{needed} keys are needed at least, found {found}")]
    TooFewKeys {
        /// How many the shape needs.
        needed: u64,
        /// How many there are.
        found: u64,
    },
    /// More keys than 32 bits count.
    #[error("at most {most} keys are possible, found {found}")]
    TooManyKeys {
        /// The limit.
        most: u64,
        /// How many there are.
        found: u64,
    },
    /// A share is not one.
    #[error("the {what} is {value}; expected a number from 0 to 1")]
    Share {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: f64,
    },
    /// A length is none.
    #[error(transparent)]
    Length(#[from] InvalidLength),
    /// The distribution is none.
    #[error(transparent)]
    Distribution(#[from] InvalidDistribution),
    /// No mini-transaction has any weight.
    #[error("no mini-transaction has any weight")]
    NoMini,
    /// Keys are retired before they are used.
    #[error("a key must take at least one append before it is retired")]
    NoAppends,
}

impl WorkloadError {
    pub(crate) fn check_share(what: &'static str, value: f64) -> Result<(), WorkloadError> {
        if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(WorkloadError::Share { what, value }) }
    }
}

/// So many keys are enough for the largest published workload, and leave room for fresh ones.
pub(crate) const MOST_KEYS: u64 = u32::MAX as u64;

impl Workload {
    fn validate(&self) -> Result<(), WorkloadError> {
        let mut needed = 1;
        match &self.shape {
            Shape::General { length, read_share, single_access } => {
                length.validate()?;
                WorkloadError::check_share("share of reads", *read_share)?;
                if *single_access {
                    needed = u64::from(length.longest());
                }
            }
            Shape::Mixed { length, read_only, write_only } => {
                length.validate()?;
                WorkloadError::check_share("share of read-only transactions", *read_only)?;
                WorkloadError::check_share("share of write-only transactions", *write_only)?;
                WorkloadError::check_share(
                    "share of transactions that only read or only write",
                    read_only + write_only,
                )?;
            }
            Shape::Blind { length, read_only } => {
                length.validate()?;
                WorkloadError::check_share("share of read-only transactions", *read_only)?;
            }
            Shape::Mini(mix) => {
                needed = mix.keys().ok_or(WorkloadError::NoMini)?;
            }
            Shape::ListAppend { length, read_share, appends_per_key } => {
                length.validate()?;
                WorkloadError::check_share("share of reads", *read_share)?;
                if *appends_per_key == 0 {
                    return Err(WorkloadError::NoAppends);
                }
            }
        }
        if self.keys < needed {
            return Err(WorkloadError::TooFewKeys { needed, found: self.keys });
        }
        if self.keys > MOST_KEYS {
            return Err(WorkloadError::TooManyKeys { most: MOST_KEYS, found: self.keys });
        }
        Ok(())
    }

    /// Draws programs. The same workload and seed give the same programs.
    pub fn programs(&self, seed: u64) -> Result<Programs, WorkloadError> {
        self.validate()?;
        let lists = match self.shape {
            Shape::ListAppend { .. } => (0..self.keys).map(|key| List { key, appends: 0 }).collect(),
            _ => Vec::new(),
        };
        Ok(Programs {
            keys: self.distribution.over(self.keys)?,
            shape: self.shape.clone(),
            rng: Rng::stream(seed, 1),
            lists,
            next_key: self.keys,
        })
    }
}

/// Draws programs; see [`Workload::programs`].
#[derive(Clone, Debug)]
pub struct Programs {
    keys: KeySampler,
    shape: Shape,
    rng: Rng,
    /// The lists in use.
    lists: Vec<List>,
    /// The first key that nobody has used.
    next_key: u64,
}

#[derive(Clone, Debug)]
struct List {
    key: u64,
    appends: u32,
}

impl Programs {
    /// Replaces what is in `program` by the next one. It has one operation at least.
    pub fn draw(&mut self, program: &mut Vec<Operation>) {
        program.clear();
        match self.shape {
            Shape::General { length, read_share, single_access } => {
                for _ in 0..length.draw(&mut self.rng) {
                    let is_read = self.rng.chance(read_share);
                    let key = if single_access { self.unused_key(program, is_read) } else { self.key() };
                    program.push(if is_read { Operation::Read(key) } else { Operation::Write(key) });
                }
            }
            Shape::Mixed { length, read_only, write_only } => {
                let kind = self.rng.unit();
                let length = length.draw(&mut self.rng) as usize;
                if kind < read_only {
                    program.extend((0..length).map(|_| Operation::Read(self.key())));
                } else if kind < read_only + write_only {
                    program.extend((0..length).map(|_| Operation::Write(self.key())));
                } else {
                    while program.len() < length {
                        let key = self.key();
                        program.extend([Operation::Read(key), Operation::Write(key)]);
                    }
                    // An odd length ends with a read alone; a length of 1 would not be a read-modify-write.
                    program.truncate(length.max(2));
                }
            }
            Shape::Blind { length, read_only } => {
                let is_read = self.rng.chance(read_only);
                let length = length.draw(&mut self.rng);
                program.extend((0..length).map(|_| {
                    let key = self.key();
                    if is_read { Operation::Read(key) } else { Operation::Write(key) }
                }));
            }
            Shape::Mini(ref mix) => {
                let shape = mix.draw(&mut self.rng);
                let first = self.keys.draw(&mut self.rng);
                let second = if shape.keys() == 2 { self.key_other_than(first) } else { first };
                program.extend(shape.operations([first, second]));
            }
            Shape::ListAppend { length, read_share, appends_per_key } => {
                for _ in 0..length.draw(&mut self.rng) {
                    let at = self.key() as usize;
                    let list = &mut self.lists[at];
                    if self.rng.chance(read_share) {
                        program.push(Operation::ReadList(list.key));
                    } else {
                        program.push(Operation::Append(list.key));
                        list.appends += 1;
                        if list.appends == appends_per_key {
                            *list = List { key: self.next_key, appends: 0 };
                            self.next_key += 1;
                        }
                    }
                }
            }
        }
    }

    /// A key that no program has used or will use.
    pub fn fresh_key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key - 1
    }

    fn key(&mut self) -> u64 {
        self.keys.draw(&mut self.rng)
    }

    /// Popular keys are met again and again, so after a few draws take the next key that will do.
    fn key_where(&mut self, fine: impl Fn(u64) -> bool) -> u64 {
        let mut key = self.key();
        for _ in 0..16 {
            if fine(key) {
                return key;
            }
            key = self.key();
        }
        while !fine(key) {
            key = (key + 1) % self.keys.keys();
        }
        key
    }

    fn key_other_than(&mut self, other: u64) -> u64 {
        self.key_where(|key| key != other)
    }

    fn unused_key(&mut self, program: &[Operation], is_read: bool) -> u64 {
        self.key_where(|key| !program.iter().any(|o| o.key() == key && (is_read || o.is_write())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(keys: u64, shape: Shape, count: usize) -> Vec<Vec<Operation>> {
        let workload = Workload { keys, distribution: Distribution::ZIPFIAN, shape };
        let mut programs = workload.programs(5).expect("the workload is valid");
        let one = |_| {
            let mut program = Vec::new();
            programs.draw(&mut program);
            program
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn single_access_holds_on_few_keys() {
        let shape = Shape::General { length: Length::Fixed(15), read_share: 0.5, single_access: true };
        for program in draw(15, shape, 500) {
            assert_eq!(program.len(), 15);
            for (at, operation) in program.iter().enumerate() {
                let clash = |o: &Operation| o.key() == operation.key() && (!operation.is_write() || o.is_write());
                assert!(!program[..at].iter().any(clash), "{program:?}");
            }
        }
    }

    #[test]
    fn shares_are_about_right() {
        let reads = draw(100, Shape::general(8, 0.95), 1000).concat().iter().filter(|o| !o.is_write()).count();
        assert!((7500..7700).contains(&reads), "{reads}");
        let programs = draw(100, Shape::cobra(9), 1000);
        let count = |kind: fn(&[Operation]) -> bool| programs.iter().filter(|p| kind(p)).count();
        let only_read = count(|p| p.iter().all(|o| !o.is_write()));
        let only_write = count(|p| p.iter().all(|o| o.is_write()));
        let modify = |p: &[Operation]| {
            p.chunks_exact(2).all(|c| c[0].key() == c[1].key() && !c[0].is_write() && c[1].is_write())
        };
        assert!((150..250).contains(&only_read) && (350..450).contains(&only_write), "{only_read} {only_write}");
        assert!(programs.iter().filter(|p| modify(p)).count() >= 1000 - only_read - only_write);
        let blind = draw(100, Shape::Blind { length: Length::Fixed(8), read_only: 0.9 }, 1000);
        assert!(blind.iter().all(|p| p.iter().all(|o| o.is_write() == p[0].is_write())));
    }

    #[test]
    fn lists_are_retired() {
        let mut appends = std::collections::BTreeMap::new();
        for operation in draw(10, Shape::LIST_APPEND, 5000).concat() {
            if operation.is_write() {
                *appends.entry(operation.key()).or_insert(0) += 1;
            }
        }
        assert!(appends.len() > 50 && appends.values().all(|&n| n <= 32), "{appends:?}");
    }

    #[test]
    fn wrong_workloads_are_refused() {
        let check = |keys, shape| Workload { keys, distribution: Distribution::Uniform, shape }.programs(0).map(|_| ());
        assert_eq!(check(0, Shape::general(8, 0.5)), Err(WorkloadError::TooFewKeys { needed: 1, found: 0 }));
        assert_eq!(check(1, Shape::Mini(MiniMix::ALL)), Err(WorkloadError::TooFewKeys { needed: 2, found: 1 }));
        assert_eq!(check(1, Shape::Mini(MiniMix { weights: [0; 20] })), Err(WorkloadError::NoMini));
        assert!(check(1, Shape::general(8, 1.5)).is_err());
        assert!(check(1, Shape::general(0, 0.5)).is_err());
    }
}
