//! What kinds of transactions there are.

use super::{Application, Length, MiniMix, RangeMix, WorkloadError};

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
    /// Reads and writes of registers that make room for new ones, as lists do above (Elle's rw-register).
    RwRegister {
        /// Events per transaction.
        length: Length,
        /// How many of them are reads.
        read_share: f64,
        /// After how many writes a key is retired.
        writes_per_key: u32,
    },
    /// Transactions of one kind of operation: reads, writes, inserts, deletes or ranges (Viper's Range). Keys come and go, and
    /// each that is there is as popular as any other.
    Ranges {
        /// Events per transaction.
        length: Length,
        /// How often each kind occurs.
        mix: RangeMix,
        /// How many keys a range has at most. Viper's have any number; long ones make large histories and say little more.
        widest: u32,
    },
    /// One read, write or compare-and-set per transaction (Jepsen's tests of single registers).
    CasRegister {
        /// The share of reads.
        reads: f64,
        /// The share of writes. What remains are compare-and-sets.
        writes: f64,
    },
    /// The transactions of an application. The keys of the workload are its scale: how many there are of what its data is built
    /// around. It has more keys than that, one for each row.
    Application(Application),
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

    /// Elle's defaults: one to four operations, half of them reads, 32 writes per key.
    pub const RW_REGISTER: Shape =
        Shape::RwRegister { length: Length::Between(1, 4), read_share: 0.5, writes_per_key: 32 };

    /// As many reads as writes as compare-and-sets.
    pub const CAS_REGISTER: Shape = Shape::CasRegister { reads: 1.0 / 3.0, writes: 1.0 / 3.0 };

    /// Viper's transactions of 8 operations, with ranges of at most ten keys.
    pub const fn ranges(mix: RangeMix) -> Shape {
        Shape::Ranges { length: Length::Fixed(8), mix, widest: 10 }
    }

    /// Whether its keys hold lists.
    pub fn has_lists(&self) -> bool {
        matches!(self, Shape::ListAppend { .. })
    }

    /// Whether it inserts or deletes keys or reads ranges of them.
    pub fn has_rows(&self) -> bool {
        match self {
            Shape::Ranges { .. } => true,
            Shape::Application(application) => application.has_rows(),
            _ => false,
        }
    }

    /// Whether it compares and sets.
    pub fn has_compare_and_set(&self) -> bool {
        matches!(self, Shape::CasRegister { .. })
    }

    /// Checks its numbers, and says how many keys it needs.
    pub(super) fn validate(&self) -> Result<u64, WorkloadError> {
        let mut needed = 1;
        match self {
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
            Shape::ListAppend { length, read_share, appends_per_key: writes }
            | Shape::RwRegister { length, read_share, writes_per_key: writes } => {
                length.validate()?;
                WorkloadError::check_share("share of reads", *read_share)?;
                if *writes == 0 {
                    return Err(WorkloadError::NoWrites);
                }
            }
            Shape::Ranges { length, mix, widest } => {
                length.validate()?;
                if mix.is_empty() || *widest == 0 {
                    return Err(WorkloadError::NoRanges);
                }
            }
            Shape::CasRegister { reads, writes } => {
                WorkloadError::check_share("share of reads", *reads)?;
                WorkloadError::check_share("share of writes", *writes)?;
                WorkloadError::check_share("share of reads and writes", reads + writes)?;
            }
            Shape::Application(application) => needed = application.least_scale(),
        }
        Ok(needed)
    }
}
