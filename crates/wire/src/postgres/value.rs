//! Values, as text and in PostgreSQL's binary formats.

use std::fmt::Write as _;

use isonomy_sql::{Datum, Error, Type};

use super::{numeric, problem};
use crate::calendar::{Day, Moment, Time};
use crate::text;

/// How a value is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Text,
    Binary,
}

impl Format {
    pub(super) fn of(code: i16) -> Result<Self, Error> {
        match code {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            _ => Err(problem("08P01", format!("there is no format {code}"))),
        }
    }

    pub(super) fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
        }
    }
}

/// The number that clients know a type by.
pub(super) fn type_number(ty: Type) -> u32 {
    match ty {
        Type::Boolean => 16,
        Type::Bytes => 17,
        Type::BigInt => 20,
        Type::SmallInt => 21,
        Type::Integer => 23,
        Type::Text => 25,
        Type::Double => 701,
        Type::Date => 1082,
        Type::Time => 1083,
        Type::Timestamp => 1114,
        Type::TimestampTz => 1184,
        Type::Numeric => 1700,
    }
}

/// How many bytes a value of a type has, or -1.
pub(super) fn type_size(ty: Type) -> i16 {
    match ty {
        Type::Boolean => 1,
        Type::SmallInt => 2,
        Type::Integer | Type::Date => 4,
        Type::BigInt | Type::Double | Type::Time | Type::Timestamp | Type::TimestampTz => 8,
        Type::Numeric | Type::Text | Type::Bytes => -1,
    }
}

/// The type that a client means for a parameter, if it means one. What we do not have is text.
pub(super) fn type_of(number: u32) -> Option<Type> {
    Some(match number {
        // None, and `unknown`.
        0 | 705 => return None,
        16 => Type::Boolean,
        17 => Type::Bytes,
        20 => Type::BigInt,
        // Internal numbers have 32 bits and no sign.
        26 | 28 => Type::BigInt,
        21 => Type::SmallInt,
        23 => Type::Integer,
        700 | 701 => Type::Double,
        1082 => Type::Date,
        1083 => Type::Time,
        1114 => Type::Timestamp,
        1184 => Type::TimestampTz,
        1700 => Type::Numeric,
        _ => Type::Text,
    })
}

/// Writes a value with its length before it.
pub(super) fn encode(out: &mut Vec<u8>, datum: &Datum, ty: Type, format: Format) -> Result<(), Error> {
    if matches!(datum, Datum::Null) {
        out.extend((-1_i32).to_be_bytes());
        return Ok(());
    }
    let start = out.len();
    out.extend([0; 4]);
    match format {
        Format::Text => write_text(out, datum),
        Format::Binary => write_binary(out, datum, ty)
            .ok_or_else(|| problem("22P03", format!("{datum} has no binary form as a value of type {ty:?}")))?,
    }
    let length =
        i32::try_from(out.len() - start - 4).map_err(|_| problem("54000", "a value is too large to be sent"))?;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

fn write_text(out: &mut Vec<u8>, datum: &Datum) {
    match datum {
        Datum::Boolean(value) => out.push(if *value { b't' } else { b'f' }),
        Datum::Double(value) => out.extend(double(*value).as_bytes()),
        Datum::Text(text) => out.extend(text.as_bytes()),
        Datum::Bytes(bytes) => {
            out.extend(b"\\x");
            let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
            out.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
        }
        other => out.extend(other.to_string().as_bytes()),
    }
}

/// The shortest text that gives the number back, in PostgreSQL's manner.
fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').expect("it was asked for");
    match exponent.parse::<i32>().expect("it is a number") {
        -4..15 => value.to_string(),
        exponent => {
            let mut text = digits.to_owned();
            let sign = if exponent < 0 { '-' } else { '+' };
            let _ = write!(text, "e{sign}{:02}", exponent.abs());
            text
        }
    }
}

/// `None` if the value is none of the type.
fn write_binary(out: &mut Vec<u8>, datum: &Datum, ty: Type) -> Option<()> {
    match ty {
        Type::Boolean => match datum {
            Datum::Boolean(value) => out.push(u8::from(*value)),
            Datum::Integer(value) => out.push(u8::from(*value != 0)),
            _ => return None,
        },
        Type::SmallInt => out.extend(i16::try_from(integer(datum)?).ok()?.to_be_bytes()),
        Type::Integer => out.extend(i32::try_from(integer(datum)?).ok()?.to_be_bytes()),
        Type::BigInt => out.extend(integer(datum)?.to_be_bytes()),
        Type::Double => {
            let value = match datum {
                Datum::Double(value) => *value,
                other => other.to_string().parse().ok()?,
            };
            out.extend(value.to_be_bytes());
        }
        Type::Numeric => out.extend(numeric::to_binary(&datum.to_string())?),
        Type::Bytes => match datum {
            Datum::Bytes(bytes) => out.extend(&bytes[..]),
            Datum::Text(text) => out.extend(text.as_bytes()),
            _ => return None,
        },
        Type::Date => out.extend(Day::parse(&datum.to_string())?.number().to_be_bytes()),
        Type::Time => out.extend(Time::parse(&datum.to_string())?.number().to_be_bytes()),
        Type::Timestamp | Type::TimestampTz => out.extend(Moment::parse(&datum.to_string())?.number().to_be_bytes()),
        Type::Text => write_text(out, datum),
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

/// Reads a parameter of the type with this number.
pub(super) fn decode(bytes: &[u8], number: u32, format: Format) -> Result<Datum, Error> {
    let ty = type_of(number).unwrap_or(Type::Text);
    match format {
        Format::Text => {
            let value = str::from_utf8(bytes).map_err(|_| problem("22021", "the text is not UTF-8"))?;
            text::parse(ty, value).ok_or_else(|| problem("22P02", format!("`{value}` is no value of type {ty:?}")))
        }
        Format::Binary => from_binary(bytes, number)
            .ok_or_else(|| problem("22P03", format!("a parameter is not in the binary format of type {ty:?}"))),
    }
}

fn from_binary(bytes: &[u8], number: u32) -> Option<Datum> {
    let text = |bytes| str::from_utf8(bytes).ok().map(|text| Datum::Text(text.into()));
    Some(match number {
        16 => Datum::Boolean(<[u8; 1]>::try_from(bytes).ok()? != [0]),
        17 => Datum::Bytes(bytes.into()),
        20 => Datum::Integer(i64::from_be_bytes(bytes.try_into().ok()?)),
        21 => Datum::Integer(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        23 => Datum::Integer(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        26 | 28 => Datum::Integer(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        700 => Datum::Double(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        701 => Datum::Double(f64::from_be_bytes(bytes.try_into().ok()?)),
        1082 => text(Day::from_number(i32::from_be_bytes(bytes.try_into().ok()?))?.to_string().as_bytes())?,
        1083 => text(Time::from_number(i64::from_be_bytes(bytes.try_into().ok()?))?.to_string().as_bytes())?,
        1114 => text(moment(bytes)?.to_string().as_bytes())?,
        1184 => text(format!("{}+00", moment(bytes)?).as_bytes())?,
        1700 => text(numeric::from_binary(bytes)?.as_bytes())?,
        // A UUID has no text in its binary form.
        2950 => text(uuid(bytes)?.as_bytes())?,
        // The binary form of `jsonb` begins with its version.
        3802 => text(bytes.strip_prefix(&[1])?)?,
        _ => text(bytes)?,
    })
}

fn moment(bytes: &[u8]) -> Option<Moment> {
    Moment::from_number(i64::from_be_bytes(bytes.try_into().ok()?))
}

fn uuid(bytes: &[u8]) -> Option<String> {
    let digits = format!("{:032x}", u128::from_be_bytes(bytes.try_into().ok()?));
    let part = |from: usize, to: usize| &digits[from..to];
    Some([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_short() {
        let cases = [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e15, "1e+15"),
            (-2.5e-7, "-2.5e-07"),
            (1e100, "1e+100"),
            (0.0, "0"),
            (-0.0, "-0"),
        ];
        for (value, text) in cases {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn binary_values_come_through() {
        for (ty, datum) in [
            (Type::Boolean, Datum::Boolean(true)),
            (Type::SmallInt, Datum::Integer(-3)),
            (Type::Integer, Datum::Integer(i32::MIN.into())),
            (Type::BigInt, Datum::Integer(i64::MAX)),
            (Type::Double, Datum::Double(-0.25)),
            (Type::Text, Datum::Text("é\u{0}".into())),
            (Type::Bytes, Datum::Bytes([0, 255][..].into())),
        ] {
            let mut out = Vec::new();
            encode(&mut out, &datum, ty, Format::Binary).unwrap();
            assert_eq!(decode(&out[4..], type_number(ty), Format::Binary).unwrap(), datum);
            out.clear();
            encode(&mut out, &datum, ty, Format::Text).unwrap();
            assert_eq!(decode(&out[4..], type_number(ty), Format::Text).unwrap(), datum);
        }
        for number in [16, 20, 21, 23, 26, 700, 701, 1082, 1083, 1114, 1184, 1700, 2950, 3802] {
            assert!(decode(&[], number, Format::Binary).is_err(), "{number}");
            assert!(decode(&[255; 3], number, Format::Binary).is_err(), "{number}");
        }
        let uuid = decode(&[0x12; 16], 2950, Format::Binary).unwrap();
        assert_eq!(uuid, Datum::Text("12121212-1212-1212-1212-121212121212".into()));
    }
}
