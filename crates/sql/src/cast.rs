//! How a value of one type becomes one of another.
//!
//! [`cast`] is what `CAST` does, [`store`] what writing to a column does: it also keeps lengths and scales. Overflow is an error in both.

use std::sync::Arc;

use jiff::civil::{DateTime, Time};
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};
use rust_decimal::{Decimal, RoundingStrategy};

use crate::datum::{Datum, Type};
use crate::engine::Dialect;
use crate::error::{Error, Kind, Result};
use crate::time;
use crate::types::ColumnType;

/// `CAST(value AS ty)`.
pub(crate) fn cast(value: Datum, ty: Type, dialect: Dialect) -> Result<Datum> {
    Ok(match (value, ty) {
        (Datum::Null, _) => Datum::Null,
        (value, Type::Boolean) => Datum::Boolean(to_boolean(&value, dialect)?),
        (value, Type::SmallInt) => within(to_integer(&value, ty, dialect)?, i16::MIN.into(), i16::MAX.into(), ty)?,
        (value, Type::Integer) => within(to_integer(&value, ty, dialect)?, i32::MIN.into(), i32::MAX.into(), ty)?,
        (value, Type::BigInt) => Datum::Integer(to_integer(&value, ty, dialect)?),
        (value, Type::Double) => Datum::Double(to_double(&value, dialect)?),
        (value, Type::Numeric) => Datum::Numeric(to_decimal(&value, dialect)?),
        (value @ Datum::Text(_), Type::Text) => value,
        (value @ Datum::Boolean(_), Type::Text) if dialect == Dialect::MySql => Datum::from_text(value.text(dialect)),
        (Datum::Bytes(bytes), Type::Text) if dialect == Dialect::MySql => {
            Datum::Text(String::from_utf8_lossy(&bytes).into())
        }
        (value, Type::Text) => Datum::from_text(value.to_string()),
        (value @ Datum::Bytes(_), Type::Bytes) => value,
        (Datum::Text(text), Type::Bytes) => Datum::Bytes(to_bytes(&text)?),
        (value @ Datum::Date(_), Type::Date) => value,
        (Datum::Timestamp(time), Type::Date) => Datum::Date(time.date()),
        (Datum::Text(text), Type::Date) => Datum::Date(time::parse_date(&text)?),
        (value @ Datum::Time(_), Type::Time) => value,
        (Datum::Timestamp(time), Type::Time) => Datum::Time(time.time()),
        (Datum::Text(text), Type::Time) => Datum::Time(time::parse_time(&text)?),
        (value @ Datum::Timestamp(_), Type::Timestamp | Type::TimestampTz) => value,
        (Datum::Date(date), Type::Timestamp | Type::TimestampTz) => {
            Datum::Timestamp(DateTime::from_parts(date, Time::midnight()))
        }
        (Datum::Text(text), Type::Timestamp | Type::TimestampTz) => Datum::Timestamp(time::parse_timestamp(&text)?),
        (value, ty) => return Err(cannot(&value, ty)),
    })
}

/// What a column of this type holds after `value` was assigned to it.
pub(crate) fn store(value: Datum, column: &ColumnType, dialect: Dialect) -> Result<Datum> {
    let value = cast(value, column.ty, dialect)?;
    Ok(match value {
        Datum::Text(text) => Datum::Text(fit(text, column)?),
        Datum::Numeric(number) => match column.precision {
            Some((precision, scale)) => Datum::Numeric(fit_scale(number, precision, scale)?),
            None => Datum::Numeric(number),
        },
        // Columns of both servers end at microseconds.
        Datum::Timestamp(time) => {
            let whole = time.subsec_nanosecond() / 1000 * 1000;
            Datum::Timestamp(time.with().subsec_nanosecond(whole).build().unwrap_or(time))
        }
        other => other,
    })
}

fn fit(text: Arc<str>, column: &ColumnType) -> Result<Arc<str>> {
    let Some(length) = column.length else { return Ok(text) };
    let length = length as usize;
    if text.len() <= length {
        return Ok(text);
    }
    match text.char_indices().nth(length) {
        None => Ok(text),
        // Blanks beyond the end are cut off without a word, as the standard wants.
        Some((end, _)) if text[end..].chars().all(|letter| letter == ' ') => Ok(text[..end].into()),
        Some(_) => Err(Kind::TooLong.error(format!("value too long for type character varying({length})"))),
    }
}

fn fit_scale(number: Decimal, precision: u32, scale: u32) -> Result<Decimal> {
    let mut rounded = number.round_dp_with_strategy(scale, RoundingStrategy::MidpointAwayFromZero);
    rounded.rescale(scale);
    let whole = Decimal::from_i128_with_scale(10_i128.pow(precision.saturating_sub(scale).min(28)), 0);
    if precision < 28 && rounded.abs() >= whole || rounded.scale() != scale && !number.is_zero() {
        let message = format!("numeric field overflow: {number} does not fit numeric({precision},{scale})");
        return Err(Kind::OutOfRange.error(message));
    }
    Ok(rounded)
}

fn within(value: i64, low: i64, high: i64, ty: Type) -> Result<Datum> {
    if (low..=high).contains(&value) { Ok(Datum::Integer(value)) } else { Err(out_of_range(ty)) }
}

/// Checks the result of arithmetic on integers against the bounds of its type.
pub(crate) fn integer_in(value: i64, ty: Type) -> Result<Datum> {
    match ty {
        Type::SmallInt => within(value, i16::MIN.into(), i16::MAX.into(), ty),
        Type::Integer => within(value, i32::MIN.into(), i32::MAX.into(), ty),
        _ => Ok(Datum::Integer(value)),
    }
}

/// A number that its type cannot hold.
pub(crate) fn out_of_range(ty: Type) -> Error {
    Kind::OutOfRange.error(format!("{} out of range", ty.name()))
}

/// A truth value. MySQL takes every number for one.
pub(crate) fn to_boolean(value: &Datum, dialect: Dialect) -> Result<bool> {
    match value {
        Datum::Boolean(value) => Ok(*value),
        Datum::Integer(number) => Ok(*number != 0),
        Datum::Double(number) if dialect == Dialect::MySql => Ok(*number != 0.0),
        Datum::Numeric(number) if dialect == Dialect::MySql => Ok(!number.is_zero()),
        Datum::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "t" | "true" | "yes" | "y" | "on" | "1" => Ok(true),
            "f" | "false" | "no" | "n" | "off" | "0" => Ok(false),
            other if dialect == Dialect::MySql => Ok(number_prefix(other) != 0.0),
            _ => Err(invalid_text(text, Type::Boolean)),
        },
        other => Err(cannot(other, Type::Boolean)),
    }
}

fn to_integer(value: &Datum, ty: Type, dialect: Dialect) -> Result<i64> {
    match value {
        Datum::Integer(value) => Ok(*value),
        Datum::Boolean(value) => Ok((*value).into()),
        Datum::Double(value) => {
            // PostgreSQL rounds half to even here, and away from zero for numeric.
            let rounded = value.round_ties_even();
            // 2^63 itself is not an i64, and the largest f64 below it is.
            let inside = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
            if inside { Ok(rounded as i64) } else { Err(out_of_range(ty)) }
        }
        Datum::Numeric(value) => {
            let rounded = value.round_dp_with_strategy(0, RoundingStrategy::MidpointAwayFromZero);
            rounded.to_i64().ok_or_else(|| out_of_range(ty))
        }
        Datum::Text(text) => {
            let trimmed = text.trim();
            trimmed.parse().or_else(|_| match (dialect, trimmed.parse::<Decimal>()) {
                (Dialect::MySql, _) => to_integer(&Datum::Double(number_prefix(trimmed)), ty, dialect),
                (_, Ok(number)) if number.fract().is_zero() && !trimmed.contains('.') => Err(out_of_range(ty)),
                _ => Err(invalid_text(text, ty)),
            })
        }
        other => Err(cannot(other, ty)),
    }
}

/// A number as floating point.
pub(crate) fn to_double(value: &Datum, dialect: Dialect) -> Result<f64> {
    match value {
        Datum::Integer(value) => Ok(*value as f64),
        Datum::Double(value) => Ok(*value),
        Datum::Numeric(value) => value.to_f64().ok_or_else(|| out_of_range(Type::Double)),
        Datum::Boolean(value) if dialect == Dialect::MySql => Ok(f64::from(u8::from(*value))),
        Datum::Text(text) => {
            let trimmed = text.trim();
            trimmed.parse().or_else(|_| match dialect {
                Dialect::MySql => Ok(number_prefix(trimmed)),
                Dialect::PostgreSql => Err(invalid_text(text, Type::Double)),
            })
        }
        other => Err(cannot(other, Type::Double)),
    }
}

/// A number as a decimal fraction.
pub(crate) fn to_decimal(value: &Datum, dialect: Dialect) -> Result<Decimal> {
    match value {
        Datum::Integer(value) => Ok(Decimal::from(*value)),
        Datum::Numeric(value) => Ok(*value),
        Datum::Double(value) => Decimal::from_f64(*value).ok_or_else(|| out_of_range(Type::Numeric)),
        Datum::Boolean(value) if dialect == Dialect::MySql => Ok(Decimal::from(u8::from(*value))),
        Datum::Text(text) => {
            let trimmed = text.trim();
            let parsed = trimmed.parse().or_else(|_| Decimal::from_scientific(trimmed));
            parsed.or_else(|_| match dialect {
                Dialect::MySql => Decimal::from_f64(number_prefix(trimmed)).ok_or_else(|| out_of_range(Type::Numeric)),
                Dialect::PostgreSql => Err(invalid_text(text, Type::Numeric)),
            })
        }
        other => Err(cannot(other, Type::Numeric)),
    }
}

/// The number that a text begins with, as MySQL takes it; zero if there is none.
pub(crate) fn number_prefix(text: &str) -> f64 {
    let text = text.trim_start();
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).take(40);
    let longest = ends.filter_map(|end| text[..end].parse::<f64>().ok()).last();
    longest.filter(|number| number.is_finite()).unwrap_or(0.0)
}

/// `\x01ff`, or the bytes of the text.
fn to_bytes(text: &str) -> Result<Arc<[u8]>> {
    let Some(digits) = text.strip_prefix("\\x") else { return Ok(text.as_bytes().into()) };
    hex(digits).ok_or_else(|| invalid_text(text, Type::Bytes))
}

/// The bytes that hexadecimal digits stand for.
pub(crate) fn hex(digits: &str) -> Option<Arc<[u8]>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let nibble = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    digits.chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn invalid_text(text: &str, ty: Type) -> Error {
    let short: String = text.chars().take(60).collect();
    Kind::InvalidText.error(format!("invalid input syntax for type {}: \"{short}\"", ty.name()))
}

fn cannot(value: &Datum, ty: Type) -> Error {
    let from = value.ty().map_or("unknown", Type::name);
    Error { code: "42846", mysql: 1292, message: format!("cannot cast type {from} to {}", ty.name()), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(value: Datum, ty: Type) -> String {
        cast(value, ty, Dialect::PostgreSql).map_or_else(|error| error.code.to_owned(), |datum| datum.to_string())
    }

    #[test]
    fn casts_follow_postgresql() {
        let text = |text: &str| Datum::from_text(text);
        for (value, ty, expected) in [
            (text(" 42 "), Type::Integer, "42"),
            (text("4x"), Type::Integer, "22P02"),
            (text("99999999999"), Type::Integer, "22003"),
            (text("99999999999999999999"), Type::BigInt, "22003"),
            (Datum::Double(2.5), Type::Integer, "2"),
            (Datum::Double(1e300), Type::BigInt, "22003"),
            (Datum::Double(f64::NAN), Type::BigInt, "22003"),
            (text("2.50"), Type::Numeric, "2.50"),
            (text("maybe"), Type::Boolean, "22P02"),
            (text("on"), Type::Boolean, "true"),
            (Datum::Boolean(true), Type::Integer, "1"),
            (Datum::Boolean(true), Type::Date, "42846"),
            (text("\\x0aFF"), Type::Bytes, "\\x0aff"),
            (text("\\x0"), Type::Bytes, "22P02"),
            (text("2024-13-01"), Type::Date, "22007"),
        ] {
            assert_eq!(shown(value.clone(), ty), expected, "{value:?} as {ty:?}");
        }
        assert_eq!(number_prefix("12abc"), 12.0);
    }

    #[test]
    fn columns_keep_their_bounds() {
        let column = |ty, length, precision| ColumnType { ty, length, precision };
        let put = |value, column: &ColumnType| {
            store(value, column, Dialect::PostgreSql)
                .map_or_else(|error| error.code.to_owned(), |datum| datum.to_string())
        };
        let money = column(Type::Numeric, None, Some((5, 2)));
        assert_eq!(put(Datum::Integer(7), &money), "7.00");
        assert_eq!(put(Datum::Double(1.005), &money), "1.01");
        assert_eq!(put(Datum::Integer(1000), &money), "22003");
        let name = column(Type::Text, Some(3), None);
        assert_eq!(put(Datum::from_text("äöü  "), &name), "äöü");
        assert_eq!(put(Datum::from_text("abcd"), &name), "22001");
    }
}
