//! Rows: what columns there are, and values as text or binary.

use isonomy_sql::{Column, Datum, Type};

use super::fields::{put_counted, put_number};
use super::handshake::UTF8;
use super::packet::Packets;
use super::reply::{State, end};
use super::{Stop, problem};
use crate::calendar::{Day, Moment, Time};

/// How rows are written.
#[derive(Clone, Copy)]
pub(super) enum Shape<'c> {
    Text,
    /// Binary, by the types of the columns that the client was told.
    Binary(&'c [Column]),
}

/// The character set of what is no text.
const BINARY: u8 = 63;

/// Writes a whole answer.
pub(super) fn write(
    packets: &mut Packets,
    columns: &[Column],
    rows: &[Vec<Datum>],
    shape: Shape<'_>,
    state: State,
) -> Result<(), Stop> {
    let columns = match shape {
        Shape::Binary(promised) if promised.len() == columns.len() => promised,
        _ => columns,
    };
    // Everything that can fail comes first: an error between rows is allowed, but a row cannot be taken back.
    let mut payload = Vec::new();
    put_number(&mut payload, columns.len() as u64);
    packets.write(&payload);
    definitions(packets, columns, state);
    for row in rows {
        payload.clear();
        match shape {
            Shape::Text => row.iter().for_each(|datum| text_value(&mut payload, datum)),
            Shape::Binary(_) => binary_row(&mut payload, columns, row)?,
        }
        packets.write(&payload);
        packets.relieve()?;
    }
    packets.write(&end(state));
    Ok(())
}

/// Writes what each column is, and the end of this list.
pub(super) fn definitions(packets: &mut Packets, columns: &[Column], state: State) {
    for column in columns {
        packets.write(&definition(column));
    }
    packets.write(&end(state));
}

/// What a column is.
pub(super) fn definition(column: &Column) -> Vec<u8> {
    let mut out = Vec::new();
    put_counted(&mut out, b"def");
    // Schema, table, and the table's own name.
    out.extend([0; 3]);
    put_counted(&mut out, column.name.as_bytes());
    put_counted(&mut out, column.name.as_bytes());
    let kind = Kind::of(column.ty);
    out.extend([0x0c, if column.ty == Type::Text { UTF8 } else { BINARY }, 0]);
    out.extend(kind.width.to_le_bytes());
    out.push(kind.code);
    out.extend(if column.ty == Type::Bytes { 0x0080_u16 } else { 0 }.to_le_bytes());
    out.push(kind.decimals);
    out.extend([0; 2]);
    out
}

/// A type, as MySQL has it.
struct Kind {
    code: u8,
    /// How wide values are shown; clients also tell booleans by it.
    width: u32,
    decimals: u8,
}

impl Kind {
    fn of(ty: Type) -> Self {
        let (code, width, decimals) = match ty {
            Type::Boolean => (1, 1, 0),
            Type::SmallInt => (2, 6, 0),
            Type::Integer => (3, 11, 0),
            Type::BigInt => (8, 20, 0),
            Type::Double => (5, 22, 31),
            Type::Numeric => (246, 67, 30),
            Type::Text => (253, 65_535 * 4, 0),
            Type::Bytes => (252, u32::MAX, 0),
            Type::Date => (10, 10, 0),
            Type::Time => (11, 17, 6),
            Type::Timestamp => (12, 26, 6),
            Type::TimestampTz => (7, 26, 6),
        };
        Kind { code, width, decimals }
    }
}

fn text_value(out: &mut Vec<u8>, datum: &Datum) {
    match datum {
        Datum::Null => out.push(0xfb),
        Datum::Boolean(value) => put_counted(out, if *value { b"1" } else { b"0" }),
        Datum::Text(text) => put_counted(out, text.as_bytes()),
        Datum::Bytes(bytes) => put_counted(out, bytes),
        other => put_counted(out, other.to_string().as_bytes()),
    }
}

fn binary_row(out: &mut Vec<u8>, columns: &[Column], row: &[Datum]) -> Result<(), Stop> {
    out.push(0);
    // A bit for each NULL, after two that nobody uses.
    let nulls = out.len();
    out.resize(nulls + (row.len() + 2).div_ceil(8), 0);
    for (index, (datum, column)) in row.iter().zip(columns).enumerate() {
        if matches!(datum, Datum::Null) {
            out[nulls + (index + 2) / 8] |= 1 << ((index + 2) % 8);
            continue;
        }
        binary_value(out, datum, column.ty).ok_or_else(|| {
            problem(1366, "HY000", format!("{datum} has no binary form as a value of type {:?}", column.ty))
        })?;
    }
    Ok(())
}

/// `None` if the value is none of the type.
fn binary_value(out: &mut Vec<u8>, datum: &Datum, ty: Type) -> Option<()> {
    match ty {
        Type::Boolean => out.extend(i8::try_from(integer(datum)?).ok()?.to_le_bytes()),
        Type::SmallInt => out.extend(i16::try_from(integer(datum)?).ok()?.to_le_bytes()),
        Type::Integer => out.extend(i32::try_from(integer(datum)?).ok()?.to_le_bytes()),
        Type::BigInt => out.extend(integer(datum)?.to_le_bytes()),
        Type::Double => {
            let value = match datum {
                Datum::Double(value) => *value,
                other => other.to_string().parse().ok()?,
            };
            out.extend(value.to_le_bytes());
        }
        Type::Numeric | Type::Text | Type::Bytes => text_value(out, datum),
        Type::Date => put_moment(out, Day::parse(&datum.to_string())?, Time::default()),
        Type::Time => put_time(out, Time::parse(&datum.to_string())?),
        Type::Timestamp | Type::TimestampTz => {
            let moment = Moment::parse(&datum.to_string())?;
            put_moment(out, moment.day, moment.time);
        }
    }
    Some(())
}

fn integer(datum: &Datum) -> Option<i64> {
    match datum {
        Datum::Integer(value) => Some(*value),
        Datum::Boolean(value) => Some(i64::from(*value)),
        other => other.to_string().parse().ok(),
    }
}

/// A day and a time, as short as it can be.
fn put_moment(out: &mut Vec<u8>, day: Day, time: Time) {
    let [low, high] = day.year.to_le_bytes();
    let mut parts = vec![low, high, day.month, day.day];
    if time != Time::default() {
        parts.extend([time.hour, time.minute, time.second]);
        if time.micros > 0 {
            parts.extend(time.micros.to_le_bytes());
        }
    }
    put_counted(out, &parts);
}

/// A time; here it could be negative, and have days.
fn put_time(out: &mut Vec<u8>, time: Time) {
    let mut parts = Vec::new();
    if time != Time::default() {
        parts.extend([0, 0, 0, 0, 0, time.hour, time.minute, time.second]);
        if time.micros > 0 {
            parts.extend(time.micros.to_le_bytes());
        }
    }
    put_counted(out, &parts);
}
