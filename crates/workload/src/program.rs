//! What transactions ask for: programs of operations, drawn from a shape.
//!
//! A program names keys; values are the business of whoever runs it, who gives every write one of its own. It is fixed before it
//! runs: where an application would look up which row to read next, the program reads the row that is most likely the one. So the
//! same program can be tried again after a conflict, and what is asked does not depend on the database.
//!
//! | file | what it draws |
//! | --- | --- |
//! | `plain` | transactions at random: general, mixed, blind, mini, single registers |
//! | `rotating` | Elle's: keys that are retired after so many writes |
//! | `ranges` | Viper's: keys that come and go |
//! | `application` | benchmarks, one file each: transaction types over tables |

mod application;
mod length;
mod mini;
mod plain;
mod ranges;
mod rotating;
mod shape;
mod source;

pub use application::Application;
pub use length::{InvalidLength, Length};
pub use mini::{InvalidMix, MiniMix, MiniShape};
pub use ranges::RangeMix;
pub use shape::Shape;

use crate::distribution::{Distribution, InvalidDistribution};
use application::Running;
use ranges::Ranges;
use rotating::Rotating;
use source::Source;

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
    /// Make the key, which is not there or was deleted, with a new value. If it is there, the transaction fails, and trying it
    /// again is of little use.
    Insert(u64),
    /// Delete the key, whether it is there or not: leave a tombstone.
    Delete(u64),
    /// Read all keys from `lo` to `hi`, both included.
    Range {
        /// The first key.
        lo: u64,
        /// The last key.
        hi: u64,
    },
    /// Set the key to a new value if it holds what is expected: what the same program read or wrote of it before, or else what
    /// the client knows last; see [`Knowledge`](crate::Knowledge).
    CompareAndSet(u64),
}

impl Operation {
    /// The key it is about; ranges are about several.
    pub fn key(self) -> Option<u64> {
        match self {
            Operation::Read(key)
            | Operation::Write(key)
            | Operation::Append(key)
            | Operation::ReadList(key)
            | Operation::Insert(key)
            | Operation::Delete(key)
            | Operation::CompareAndSet(key) => Some(key),
            Operation::Range { .. } => None,
        }
    }

    /// Whether it changes the key, or may.
    pub fn is_write(self) -> bool {
        match self {
            Operation::Write(_)
            | Operation::Append(_)
            | Operation::Insert(_)
            | Operation::Delete(_)
            | Operation::CompareAndSet(_) => true,
            Operation::Read(_) | Operation::ReadList(_) | Operation::Range { .. } => false,
        }
    }
}

/// Which transactions, on which keys.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// How many keys there are at first; of an application, its scale.
    pub keys: u64,
    /// How popular each is; of an application, each of what it is built around.
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
    #[error("a key must take at least one append or write before it is retired")]
    NoWrites,
    /// No kind of operation has any weight, or ranges have no keys.
    #[error("no operation has any weight, or ranges have no key")]
    NoRanges,
}

impl WorkloadError {
    pub(crate) fn check_share(what: &'static str, value: f64) -> Result<(), WorkloadError> {
        if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(WorkloadError::Share { what, value }) }
    }
}

/// So many keys are enough for the largest published workload, and leave room for fresh ones.
pub(crate) const MOST_KEYS: u64 = u32::MAX as u64;

impl Workload {
    /// Draws programs. The same workload and seed give the same programs.
    pub fn programs(&self, seed: u64) -> Result<Programs, WorkloadError> {
        let needed = self.shape.validate()?;
        if self.keys < needed {
            return Err(WorkloadError::TooFewKeys { needed, found: self.keys });
        }
        let check = |keys| match keys {
            0..=MOST_KEYS => Ok(keys),
            found => Err(WorkloadError::TooManyKeys { most: MOST_KEYS, found }),
        };
        let mut keys = check(self.keys)?;
        let mut fresh = keys;
        let kind = match self.shape {
            Shape::ListAppend { length, read_share, appends_per_key } => {
                Kind::Rotating(Rotating::lists(self.keys, length, read_share, appends_per_key))
            }
            Shape::RwRegister { length, read_share, writes_per_key } => {
                Kind::Rotating(Rotating::registers(self.keys, length, read_share, writes_per_key))
            }
            Shape::Ranges { length, mix, widest } => {
                // What is handed out as fresh must be in nobody's range.
                fresh = MOST_KEYS + 1;
                Kind::Ranges(Ranges::new(self.keys, length, mix, widest))
            }
            Shape::Application(application) => {
                let (running, rows) = application.start(self.keys);
                keys = check(rows)?;
                fresh = keys;
                Kind::Application(running)
            }
            _ => Kind::Plain(self.shape.clone()),
        };
        Ok(Programs { source: Source::new(seed, self.distribution.over(self.keys)?, fresh), keys, kind })
    }
}

/// Draws programs; see [`Workload::programs`].
#[derive(Clone, Debug)]
pub struct Programs {
    source: Source,
    keys: u64,
    kind: Kind,
}

/// Who draws, with what has to be remembered from one program to the next.
#[derive(Clone, Debug)]
enum Kind {
    Plain(Shape),
    Rotating(Rotating),
    Ranges(Ranges),
    Application(Running),
}

impl Programs {
    /// Replaces what is in `program` by the next one. It has one operation at least.
    pub fn draw(&mut self, program: &mut Vec<Operation>) {
        program.clear();
        let source = &mut self.source;
        match &mut self.kind {
            Kind::Plain(shape) => plain::draw(shape, source, program),
            Kind::Rotating(rotating) => rotating.draw(source, program),
            Kind::Ranges(ranges) => ranges.draw(source, program),
            Kind::Application(running) => {
                running.draw(source, program);
            }
        }
        debug_assert!(!program.is_empty(), "a transaction does something");
    }

    /// How many keys there are from the start, numbered from 0: of an application, the rows of all its tables.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// A key that no program has used or will use.
    pub fn fresh_key(&mut self) -> u64 {
        self.source.fresh_key()
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
    fn keys_come_and_go() {
        let (mut there, mut gone) = (std::collections::BTreeSet::from_iter(0..100), std::collections::BTreeSet::new());
        let (mut again, mut kinds) = (0, [0; 5]);
        for program in draw(100, Shape::ranges(RangeMix::INSERT_DELETE_HEAVY), 5000) {
            assert_eq!(program.len(), 8);
            for operation in program {
                match operation {
                    Operation::Read(key) | Operation::Write(key) => {
                        kinds[usize::from(operation.is_write())] += 1;
                        assert!(there.contains(&key));
                    }
                    Operation::Insert(key) => {
                        kinds[2] += 1;
                        again += usize::from(gone.remove(&key));
                        assert!(there.insert(key), "{key} is there");
                    }
                    Operation::Delete(key) => {
                        kinds[3] += 1;
                        assert!(there.remove(&key) && gone.insert(key), "{key} is not there");
                    }
                    Operation::Range { lo, hi } => {
                        kinds[4] += 1;
                        assert!(
                            lo <= hi && hi - lo < 10 && hi <= there.iter().chain(&gone).copied().max().unwrap_or(0)
                        );
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(again > 1000, "{again}");
        let shares = kinds.map(|n| n * 100 / 40_000);
        assert!(shares.iter().zip([10, 10, 35, 35, 10]).all(|(&a, b)| (b - 2..=b + 2).contains(&a)), "{shares:?}");
    }

    #[test]
    fn registers_are_single_operations_or_retired() {
        let programs = draw(10, Shape::CAS_REGISTER, 3000);
        let count = |kind: fn(&Operation) -> bool| programs.iter().filter(|p| p.len() == 1 && kind(&p[0])).count();
        let reads = count(|o| matches!(o, Operation::Read(_)));
        let writes = count(|o| matches!(o, Operation::Write(_)));
        let sets = count(|o| matches!(o, Operation::CompareAndSet(_)));
        assert!([reads, writes, sets].iter().all(|n| (900..1100).contains(n)) && reads + writes + sets == 3000);
        let registers = draw(10, Shape::RW_REGISTER, 5000).concat();
        let writes = |key| registers.iter().filter(|&&o| o == Operation::Write(key)).count();
        let keys = registers.iter().filter_map(|o| o.key()).max().expect("there are operations");
        assert!(keys > 50 && (0..=keys).all(|key| writes(key) <= 32));
    }

    #[test]
    fn wrong_workloads_are_refused() {
        use WorkloadError as E;
        let check = |keys, shape| Workload { keys, distribution: Distribution::Uniform, shape }.programs(0).map(|_| ());
        assert_eq!(check(0, Shape::general(8, 0.5)), Err(E::TooFewKeys { needed: 1, found: 0 }));
        assert_eq!(check(1, Shape::Mini(MiniMix::ALL)), Err(E::TooFewKeys { needed: 2, found: 1 }));
        assert_eq!(check(1, Shape::Mini(MiniMix { weights: [0; 20] })), Err(E::NoMini));
        assert!(check(1, Shape::general(8, 1.5)).is_err());
        assert!(check(1, Shape::general(0, 0.5)).is_err());
        let register = Shape::RwRegister { length: Length::Fixed(1), read_share: 0.5, writes_per_key: 0 };
        assert_eq!(check(1, register), Err(E::NoWrites));
        let nothing = RangeMix { read: 0, write: 0, insert: 0, delete: 0, range: 0 };
        assert_eq!(check(1, Shape::ranges(nothing)), Err(E::NoRanges));
        assert!(check(1, Shape::CasRegister { reads: 0.7, writes: 0.7 }).is_err());
        let application = |keys, application| check(keys, Shape::Application(application));
        assert_eq!(application(1, Application::Bank), Err(E::TooFewKeys { needed: 2, found: 1 }));
        // Rows count, not warehouses.
        assert!(matches!(application(100_000, Application::TpcC), Err(E::TooManyKeys { .. })));
    }
}
