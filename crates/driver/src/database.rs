//! What a database under test can be asked.

use std::fmt;

use crate::error::Error;

/// A key. Workloads number theirs.
pub type Key = u64;

/// A value. Every write of a run has one of its own.
pub type Value = i64;

/// A key and what it holds.
pub type Row = (Key, Value);

/// What a workload may need. Every database has transactions of reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ability {
    /// Lists that grow at their end.
    Lists,
    /// Inserts, deletes and ranges of keys.
    Ranges,
    /// Compare-and-set of one key.
    CompareAndSet,
}

/// The isolation that a database is asked for, in its own words: `serializable`, `repeatable read`, `snapshot`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolation {
    /// As its documentation writes it.
    pub name: String,
    /// The level, by the name that Isonomy has for it, that this documentation promises; `None` if it promises nothing that has a name.
    pub promises: Option<&'static str>,
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// What is under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// `PostgreSQL`.
    pub product: String,
    /// `15.18`, as the server tells it.
    pub version: String,
    /// What it was asked for.
    pub isolation: Isolation,
}

/// A system under test.
pub trait Database: Send + Sync {
    /// What it is.
    fn describe(&self) -> Result<Description, Error>;

    /// Whether it has what a workload needs.
    fn can(&self, ability: Ability) -> bool;

    /// Makes the tables, without rows: whatever an earlier run left is removed.
    fn prepare(&self) -> Result<(), Error>;

    /// A new client. Sessions are numbered from 0; where there are several nodes, sessions are spread over them by number.
    fn connect(&self, session: u32) -> Result<Box<dyn Session>, Error>;

    /// Whether a session is connected to a node that only answers reads, a replica: its transactions must not write.
    fn reads_only(&self, session: u32) -> bool {
        let _ = session;
        false
    }
}

/// A client of a database. Between [`begin`](Session::begin) and [`commit`](Session::commit) or [`rollback`](Session::rollback) it is in a
/// transaction; all else is called there only.
///
/// An error of kind [`Error::Aborted`] ends the transaction, as far as the database is concerned; `rollback` is called nevertheless, and
/// makes the session ready for the next `begin`. After [`Error::Lost`] the session is of no use.
pub trait Session: Send {
    /// Begins a transaction, at the isolation that the database was made with. It may be lazy: nothing need be sent before the first
    /// operation.
    fn begin(&mut self) -> Result<(), Error>;

    /// What a key holds; `None` if it was never written.
    fn read(&mut self, key: Key) -> Result<Option<Value>, Error>;

    /// Sets what a key holds, whether it was there or not.
    fn write(&mut self, key: Key, value: Value) -> Result<(), Error>;

    /// Puts an element at the end of a list.
    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        let _ = (key, element);
        Err(unsupported("lists"))
    }

    /// The elements of a list; none if nothing was appended.
    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        let _ = key;
        Err(unsupported("lists"))
    }

    /// Makes a key that is not there, or one that was deleted. If it is there, that is [`Error::Aborted`].
    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        let _ = (key, value);
        Err(unsupported("inserts"))
    }

    /// Deletes a key: leaves a tombstone, which has a value of its own so that whoever sees it can tell which delete it was.
    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        let _ = (key, tombstone);
        Err(unsupported("deletes"))
    }

    /// The rows of all keys from `lo` to `hi`, both included, by key; tombstones too.
    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        let _ = (lo, hi);
        Err(unsupported("ranges"))
    }

    /// Sets what a key holds if it holds what is expected, at once; `None` expects that it was never written. Whether it did.
    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        let _ = (key, expected, new);
        Err(unsupported("compare-and-set"))
    }

    /// Commits. [`Error::Aborted`] means that it surely had no effect.
    fn commit(&mut self) -> Result<(), Error>;

    /// Gives the transaction up.
    fn rollback(&mut self) -> Result<(), Error>;
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported(format!("this database has no {what}"))
}
