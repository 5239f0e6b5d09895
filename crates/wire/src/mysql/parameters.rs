//! The parameters of a prepared statement, as they come in its execution.

use isonomy_sql::{Datum, Error, Type};
use rustc_hash::FxHashMap;

use super::fields::{Fields, malformed};
use crate::calendar::{Day, Moment, Time};
use crate::text;

/// The type that a client declares for a parameter: its code, and whether it has no sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    code: u8,
    unsigned: bool,
}

/// Reads the parameters. Their types come with the first execution, and are kept for the next ones.
pub(super) fn read(
    fields: &mut Fields<'_>,
    types: &[Type],
    declared: &mut Vec<Declared>,
    ahead: &FxHashMap<u16, Vec<u8>>,
) -> Result<Vec<Datum>, Error> {
    if types.is_empty() {
        return Ok(Vec::new());
    }
    let nulls = fields.bytes(types.len().div_ceil(8))?;
    if fields.byte()? == 1 {
        let pair = |fields: &mut Fields<'_>| {
            fields.array().map(|[code, flags]| Declared { code, unsigned: flags & 0x80 != 0 })
        };
        *declared = types.iter().map(|_| pair(fields)).collect::<Result<_, _>>()?;
    }
    if declared.len() != types.len() {
        return Err(malformed());
    }
    let mut parameters = Vec::with_capacity(types.len());
    for (index, (&declared, &ty)) in declared.iter().zip(types).enumerate() {
        let sent = u16::try_from(index).ok().and_then(|index| ahead.get(&index));
        parameters.push(if let Some(bytes) = sent {
            text_or_bytes(bytes, ty)
        } else if nulls[index / 8] & 1 << (index % 8) != 0 {
            Datum::Null
        } else {
            value(fields, declared, ty)?
        });
    }
    Ok(parameters)
}

fn value(fields: &mut Fields<'_>, declared: Declared, ty: Type) -> Result<Datum, Error> {
    let Declared { code, unsigned } = declared;
    Ok(match code {
        1 if unsigned => Datum::Integer(fields.byte()?.into()),
        1 => Datum::Integer(fields.byte()?.cast_signed().into()),
        2 | 13 if unsigned => Datum::Integer(fields.short()?.into()),
        2 | 13 => Datum::Integer(fields.short()?.cast_signed().into()),
        3 | 9 if unsigned => Datum::Integer(fields.long()?.into()),
        3 | 9 => Datum::Integer(fields.long()?.cast_signed().into()),
        // What does not fit is read where it is needed, as a literal would be.
        8 if unsigned => {
            let value = u64::from_le_bytes(fields.array()?);
            i64::try_from(value).map_or_else(|_| Datum::Text(value.to_string().into()), Datum::Integer)
        }
        8 => Datum::Integer(i64::from_le_bytes(fields.array()?)),
        4 => Datum::Double(f32::from_le_bytes(fields.array()?).into()),
        5 => Datum::Double(f64::from_le_bytes(fields.array()?)),
        6 => Datum::Null,
        7 | 10 | 12 => Datum::Text(moment(fields.counted()?, code == 10).ok_or_else(malformed)?.into()),
        11 => Datum::Text(time(fields.counted()?).ok_or_else(malformed)?.into()),
        0 | 15 | 16 | 245..=255 => text_or_bytes(fields.counted()?, ty),
        _ => return Err(malformed()),
    })
}

/// Clients send text and bytes alike; what the statement wants decides, and else whether it is UTF-8.
fn text_or_bytes(bytes: &[u8], ty: Type) -> Datum {
    match str::from_utf8(bytes) {
        _ if ty == Type::Bytes => Datum::Bytes(bytes.into()),
        Ok(value) => text::parse(ty, value).unwrap_or_else(|| Datum::Text(value.into())),
        Err(_) => Datum::Bytes(bytes.into()),
    }
}

/// A day, with a time that may be left out.
fn moment(bytes: &[u8], only_day: bool) -> Option<String> {
    // The zero of MySQL is no day; it is passed on for the engine to judge.
    let zero = if only_day { "0000-00-00" } else { "0000-00-00 00:00:00" };
    let (day, time) = match *bytes {
        [] => return Some(zero.into()),
        [a, b, month, day] => (Day::new(u16::from_le_bytes([a, b]), month, day)?, Time::default()),
        [a, b, month, day, hour, minute, second, ref micros @ ..] => {
            let micros = if micros.is_empty() { 0 } else { u32::from_le_bytes(micros.try_into().ok()?) };
            (Day::new(u16::from_le_bytes([a, b]), month, day)?, Time::new(hour, minute, second, micros)?)
        }
        _ => return None,
    };
    Some(if only_day { day.to_string() } else { Moment { day, time }.to_string() })
}

/// A time, perhaps negative or of several days; such are passed on as MySQL prints them.
fn time(bytes: &[u8]) -> Option<String> {
    let (negative, days, time) = match *bytes {
        [] => (0, 0, Time::default()),
        [negative, a, b, c, d, hour, minute, second, ref micros @ ..] => {
            let micros = if micros.is_empty() { 0 } else { u32::from_le_bytes(micros.try_into().ok()?) };
            (negative, u32::from_le_bytes([a, b, c, d]), Time::new(hour, minute, second, micros)?)
        }
        _ => return None,
    };
    let sign = if negative != 0 { "-" } else { "" };
    if days == 0 {
        return Some(format!("{sign}{time}"));
    }
    let hours = u64::from(days) * 24 + u64::from(time.hour);
    let rest = time.to_string();
    Some(format!("{sign}{hours}{}", &rest[2..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(code: u8, flags: u8, value: &[u8], ty: Type) -> Result<Datum, Error> {
        let payload = [&[0, 1, code, flags], value].concat();
        read(&mut Fields(&payload), &[ty], &mut Vec::new(), &FxHashMap::default()).map(|mut all| all.remove(0))
    }

    #[test]
    fn parameters_are_of_all_types() {
        let text = |text: &str| Datum::Text(text.into());
        for (code, flags, value, expected) in [
            (1, 0, &[255][..], Datum::Integer(-1)),
            (1, 0x80, &[255], Datum::Integer(255)),
            (2, 0, &[0xfe, 0xff], Datum::Integer(-2)),
            (3, 0x80, &[255; 4], Datum::Integer(u32::MAX.into())),
            (8, 0, &[255; 8], Datum::Integer(-1)),
            (8, 0x80, &[255; 8], text("18446744073709551615")),
            (5, 0, &0.5_f64.to_le_bytes(), Datum::Double(0.5)),
            (6, 0, &[], Datum::Null),
            (10, 0, &[4, 0xe8, 7, 2, 29], text("2024-02-29")),
            (12, 0, &[7, 0xe8, 7, 2, 29, 1, 2, 3], text("2024-02-29 01:02:03")),
            (12, 0, &[11, 0xe8, 7, 2, 29, 1, 2, 3, 0x40, 0x42, 0x0f, 0], text("no such time")),
            (11, 0, &[8, 1, 2, 0, 0, 0, 1, 2, 3], text("-49:02:03")),
            (253, 0, b"\x02ab", text("ab")),
            (252, 0, b"\x01\xff", Datum::Bytes([255][..].into())),
        ] {
            match one(code, flags, value, Type::Text) {
                Ok(found) => assert_eq!(found, expected, "{code}"),
                // A million microseconds are too many.
                Err(_) => assert_eq!(expected, text("no such time")),
            }
        }
        assert_eq!(one(253, 0, b"\x0212", Type::Integer).unwrap(), Datum::Integer(12));
        assert_eq!(one(253, 0, b"\x02ab", Type::Bytes).unwrap(), Datum::Bytes(b"ab"[..].into()));
    }

    #[test]
    fn what_is_cut_off_is_malformed() {
        for (code, value) in
            [(1, &[][..]), (3, &[1, 2]), (8, &[]), (253, b"\x05ab"), (12, &[3, 0, 0, 0]), (11, &[1, 0]), (200, &[1])]
        {
            assert!(one(code, 0, value, Type::Text).is_err(), "{code}");
        }
        // Types must have come at some time.
        let unbound = read(&mut Fields(&[0, 0, 1]), &[Type::Text], &mut Vec::new(), &FxHashMap::default());
        assert!(unbound.is_err());
    }
}
