//! Events, outcomes and times.

use crate::history::{Key, Value};
use crate::names::Name;

/// How a transaction ended, as far as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// The commit was acknowledged.
    Committed,
    /// The abort was acknowledged.
    Aborted,
    /// The client never learnt.
    Indeterminate,
}

/// When a transaction ran, in nanoseconds of any clock the sessions share.
///
/// The begin lies in `start..=began`, the commit in `committing..=finish`. Where an inner bound is absent the
/// begin is at `start` and the commit at `finish`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Before the begin was sent.
    pub start: Option<i64>,
    /// When the begin had surely taken effect: the reply to the first read.
    pub began: Option<i64>,
    /// Before the commit was sent.
    pub committing: Option<i64>,
    /// When the reply to the commit had arrived.
    pub finish: Option<i64>,
}

impl Times {
    /// The times in the order in which they must run.
    pub fn in_order(self) -> [Option<i64>; 4] {
        [self.start, self.began, self.committing, self.finish]
    }

    /// The earliest and latest moment of the begin, if the start is known.
    pub fn begin(self) -> Option<(i64, i64)> {
        self.start.map(|start| (start, self.began.unwrap_or(start)))
    }

    /// The earliest and latest moment of the commit, if the finish is known.
    pub fn commit(self) -> Option<(i64, i64)> {
        self.finish.map(|finish| (self.committing.unwrap_or(finish), finish))
    }
}

/// Where an event stands in [`History`](crate::History): its index among all events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(pub u32);

/// Something a client observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'h> {
    /// The key held this value.
    Read(Value),
    /// The key was set to this value.
    Write(Value),
    /// This element was put at the end of the key's list.
    Append(Value),
    /// The key held exactly this list.
    ReadList {
        /// The key read.
        key: Key,
        /// Its elements, first to last.
        elements: &'h [Value],
    },
    /// The key, absent or deleted before, was set to this value.
    Insert(Value),
    /// The key was deleted; the value is the tombstone that took its place.
    Delete(Value),
    /// A range of keys was read.
    Range {
        /// The first key of the range.
        lo: Name<'h>,
        /// The last key of the range, included.
        hi: Name<'h>,
        /// What was returned, tombstones too. A key of the history in the range that is not here was in its initial state.
        rows: &'h [Value],
    },
    /// The key was compared with a value and, where equal, set to another.
    CompareAndSet {
        /// What the key should have held.
        expected: Value,
        /// What it was to be set to.
        new: Value,
        /// Whether it held what was expected, and was set.
        succeeded: bool,
    },
}

/// The `kind` column. A compound event's other column is an index into [`Compound`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    Read,
    Write,
    Append,
    Insert,
    Delete,
    ReadList,
    Range,
    CasSucceeded,
    CasFailed,
}

impl Kind {
    /// Whether the event's column is an index into the compounds.
    pub(crate) fn is_compound(self) -> bool {
        matches!(self, Kind::ReadList | Kind::Range | Kind::CasSucceeded | Kind::CasFailed)
    }

    /// Whether the event sets one key to the one value in its column.
    pub(crate) fn is_plain_write(self) -> bool {
        matches!(self, Kind::Write | Kind::Append | Kind::Insert | Kind::Delete)
    }
}

/// What of an event does not fit in one column: a list's elements, a range's rows, the two values of a compare-and-set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compound {
    /// The key of a list read.
    pub(crate) key: u32,
    /// The bounds of a range, as ids of bound names.
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    /// Where its values stand among all compounds' values.
    pub(crate) start: u32,
    pub(crate) end: u32,
}
