//! Why a history cannot exist.

use std::fmt;

/// Where in the input something stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, where a history has several; the caller knows its name otherwise.
    pub file: Option<Box<str>>,
    /// The line, from 1; or 0 where there are none.
    pub line: u64,
}

impl Place {
    /// A line of the only file.
    pub fn line(line: u64) -> Self {
        Place { file: None, line }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), 0) => f.write_str(file),
            (Some(file), line) => write!(f, "{file}, line {line}"),
            (None, 0) => f.write_str("input"),
            (None, line) => write!(f, "line {line}"),
        }
    }
}

/// A transaction, for a message: where it stands and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteAt {
    /// Where the transaction stands.
    pub place: Place,
    /// The name of its session.
    pub session: Box<str>,
    /// Its position in the session, from 1.
    pub transaction: u32,
}

impl fmt::Display for WriteAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (session {}, transaction {})", self.place, self.session, self.transaction)
    }
}

/// Why a history cannot exist. Each variant says where, and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// Two writes of one key have the same value, so that a read of it would have two writers.
    #[error(
        "{second}: writes {value} to key {key}, which {first} also writes; every write of a key needs its own value"
    )]
    RepeatedValue {
        /// The key.
        key: Box<str>,
        /// The value.
        value: Box<str>,
        /// The write met first.
        first: Box<WriteAt>,
        /// The write met second.
        second: Box<WriteAt>,
    },
    /// A write sets a key to the value that it is declared to hold at first.
    #[error(
        "{write}: writes {value} to key {key}, which is its initial value; every write of a key needs its own value \
         (declare another initial value in the header)"
    )]
    RepeatedInitial {
        /// The key.
        key: Box<str>,
        /// The value.
        value: Box<str>,
        /// The write.
        write: WriteAt,
    },
    /// One key is used as a register and as a list.
    #[error("{at}: key {key} is used as a list here and as a plain value elsewhere; a key is one or the other")]
    MixedKey {
        /// The key.
        key: Box<str>,
        /// A transaction that uses it as a list.
        at: WriteAt,
    },
    /// A range returned a key that is not in it.
    #[error("{at}: the range {lo}..{hi} returns key {key}, which is not in it")]
    RowOutsideRange {
        /// The transaction.
        at: WriteAt,
        /// The first key of the range.
        lo: Box<str>,
        /// The last key of the range.
        hi: Box<str>,
        /// The key returned.
        key: Box<str>,
    },
    /// A range returned a key twice.
    #[error("{at}: a range returns key {key} twice")]
    RepeatedRow {
        /// The transaction.
        at: WriteAt,
        /// The key returned.
        key: Box<str>,
    },
    /// The times of a transaction run backwards.
    #[error(
        "{at}: times run backwards: {earlier} is followed by {later}; expected start ≤ began ≤ committing ≤ finish"
    )]
    TimesBackwards {
        /// The transaction.
        at: WriteAt,
        /// The time that should come first.
        earlier: i64,
        /// The time that should come later.
        later: i64,
    },
    /// The history needs more memory than it may have.
    #[error("the history needs more than {limit} MiB of memory; give it more (--memory), or check a part of it")]
    TooLarge {
        /// The limit, in MiB.
        limit: usize,
    },
    /// More keys, transactions or events than the compact ids can count.
    #[error("the history has more {what} than {limit}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The most there may be.
        limit: u64,
    },
}
