//! Values of SQL, and how they are written.

use std::fmt;
use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use rust_decimal::Decimal;

use crate::engine::Dialect;

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

impl Type {
    /// `smallint`, `integer` or `bigint`.
    pub fn is_integer(self) -> bool {
        matches!(self, Type::SmallInt | Type::Integer | Type::BigInt)
    }

    /// A type of numbers.
    pub fn is_number(self) -> bool {
        self.is_integer() || matches!(self, Type::Double | Type::Numeric)
    }

    /// A date, with or without a time.
    pub(crate) fn is_calendar(self) -> bool {
        matches!(self, Type::Date | Type::Timestamp | Type::TimestampTz)
    }

    /// Its name in PostgreSQL.
    pub fn name(self) -> &'static str {
        match self {
            Type::Boolean => "boolean",
            Type::SmallInt => "smallint",
            Type::Integer => "integer",
            Type::BigInt => "bigint",
            Type::Double => "double precision",
            Type::Numeric => "numeric",
            Type::Text => "text",
            Type::Bytes => "bytea",
            Type::Date => "date",
            Type::Time => "time without time zone",
            Type::Timestamp => "timestamp without time zone",
            Type::TimestampTz => "timestamp with time zone",
        }
    }

    /// Its name in MySQL.
    pub fn mysql_name(self) -> &'static str {
        match self {
            Type::Boolean => "tinyint(1)",
            Type::SmallInt => "smallint",
            Type::Integer => "int",
            Type::BigInt => "bigint",
            Type::Double => "double",
            Type::Numeric => "decimal",
            Type::Text => "text",
            Type::Bytes => "blob",
            Type::Date => "date",
            Type::Time => "time",
            Type::Timestamp => "datetime",
            Type::TimestampTz => "timestamp",
        }
    }
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
    /// Of type `numeric`.
    Numeric(Decimal),
    /// Of type `text`.
    Text(Arc<str>),
    /// Of type `bytea`.
    Bytes(Arc<[u8]>),
    /// Of type `date`.
    Date(Date),
    /// Of type `time`.
    Time(Time),
    /// Of type `timestamp`, or of type `timestamp with time zone`, in UTC.
    Timestamp(DateTime),
}

impl Datum {
    /// A text.
    pub fn from_text(text: impl AsRef<str>) -> Self {
        Datum::Text(text.as_ref().into())
    }

    /// Whether it is `NULL`.
    pub fn is_null(&self) -> bool {
        matches!(self, Datum::Null)
    }

    /// Its type, if it is not `NULL`. Of all integers it says `bigint`.
    pub fn ty(&self) -> Option<Type> {
        Some(match self {
            Datum::Null => return None,
            Datum::Boolean(_) => Type::Boolean,
            Datum::Integer(_) => Type::BigInt,
            Datum::Double(_) => Type::Double,
            Datum::Numeric(_) => Type::Numeric,
            Datum::Text(_) => Type::Text,
            Datum::Bytes(_) => Type::Bytes,
            Datum::Date(_) => Type::Date,
            Datum::Time(_) => Type::Time,
            Datum::Timestamp(_) => Type::Timestamp,
        })
    }

    /// How a server of this dialect writes it as text. They differ in booleans, `t` and `1`.
    pub fn text(&self, dialect: Dialect) -> String {
        match (self, dialect) {
            (Datum::Boolean(true), Dialect::PostgreSql) => "t".into(),
            (Datum::Boolean(false), Dialect::PostgreSql) => "f".into(),
            (Datum::Boolean(value), Dialect::MySql) => u8::from(*value).to_string(),
            (Datum::Bytes(bytes), Dialect::MySql) => String::from_utf8_lossy(bytes).into_owned(),
            _ => self.to_string(),
        }
    }
}

/// As it appears in recorded histories, and as PostgreSQL casts it to text.
impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Null => f.write_str("NULL"),
            Datum::Boolean(value) => write!(f, "{value}"),
            Datum::Integer(value) => write!(f, "{value}"),
            Datum::Double(value) => write_double(f, *value),
            Datum::Numeric(value) => write!(f, "{value}"),
            Datum::Text(value) => f.write_str(value),
            Datum::Bytes(value) => {
                f.write_str("\\x")?;
                value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Datum::Date(value) => write!(f, "{value}"),
            Datum::Time(value) => write!(f, "{value}"),
            Datum::Timestamp(value) => write!(f, "{} {}", value.date(), value.time()),
        }
    }
}

/// The shortest digits that read back as the same number, in plain notation where PostgreSQL uses that.
fn write_double(f: &mut fmt::Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        return f.write_str("NaN");
    }
    if value.is_infinite() {
        return f.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e15).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
        return write!(f, "{digits}e{sign}{exponent:0>2}");
    }
    write!(f, "{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_postgresql_does() {
        for (datum, text) in [
            (Datum::Boolean(true), "true"),
            (Datum::Double(1.0), "1"),
            (Datum::Double(0.1), "0.1"),
            (Datum::Double(1e20), "1e+20"),
            (Datum::Double(1.5e-7), "1.5e-07"),
            (Datum::Numeric(Decimal::new(150, 2)), "1.50"),
            (Datum::Bytes([1, 255].as_slice().into()), "\\x01ff"),
            (Datum::Timestamp(DateTime::constant(2024, 2, 29, 1, 2, 3, 500_000_000)), "2024-02-29 01:02:03.5"),
        ] {
            assert_eq!(datum.to_string(), text);
        }
        assert_eq!(Datum::Boolean(true).text(Dialect::MySql), "1");
        assert_eq!(Datum::Boolean(false).text(Dialect::PostgreSql), "f");
    }
}
