//! Values of SQL.

use std::fmt;
use std::sync::Arc;

/// The type of a column or of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `boolean`.
    Boolean,
    /// `smallint`.
    SmallInt,
    /// `integer`.
    Integer,
    /// `bigint`.
    BigInt,
    /// `real`, `double precision`.
    Double,
    /// `numeric`.
    Numeric,
    /// `text`, `varchar`, `char`, and all that is only text to us.
    Text,
    /// `bytea`, `blob`.
    Bytes,
    /// `date`.
    Date,
    /// `time`.
    Time,
    /// `timestamp`, `datetime`.
    Timestamp,
    /// `timestamp with time zone`.
    TimestampTz,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// `NULL`.
    Null,
    /// Of type `boolean`.
    Boolean(bool),
    /// Of an integer type.
    Integer(i64),
    /// Of type `double precision`.
    Double(f64),
    /// Of type `text`.
    Text(Arc<str>),
    /// Of type `bytea`.
    Bytes(Arc<[u8]>),
    // The SQL implementer adds Numeric, Date, Time, Timestamp with types of well-kept crates.
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
