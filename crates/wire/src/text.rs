//! Values that come as text, for a parameter of a certain type.

use isonomy_sql::{Datum, Type};

/// Reads a value as PostgreSQL writes it. What is only text to us, days and times and decimals, stays text: the engine reads it where it is
/// needed, as it reads literals.
pub(crate) fn parse(ty: Type, text: &str) -> Option<Datum> {
    let trimmed = text.trim();
    Some(match ty {
        Type::Boolean => Datum::Boolean(boolean(trimmed)?),
        Type::SmallInt => Datum::Integer(trimmed.parse::<i16>().ok()?.into()),
        Type::Integer => Datum::Integer(trimmed.parse::<i32>().ok()?.into()),
        Type::BigInt => Datum::Integer(trimmed.parse().ok()?),
        Type::Double => Datum::Double(trimmed.parse().ok()?),
        Type::Bytes => Datum::Bytes(bytes(text)?.into()),
        _ => Datum::Text(text.into()),
    })
}

/// `true`, or any beginning of it, `on`, `yes`, `1`; and their opposites.
fn boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let begins = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    match &text[..] {
        "1" => Some(true),
        "0" => Some(false),
        _ if begins("true", 1) || begins("yes", 1) || text == "on" => Some(true),
        _ if begins("false", 1) || begins("no", 1) || begins("off", 2) => Some(false),
        _ => None,
    }
}

/// `\x00ff`, or the older form in which unprintable bytes are `\377` and a backslash is `\\`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let pair = |pair: &[u8]| match *pair {
            [high, low] => Some(digit(high)? << 4 | digit(low)?),
            _ => None,
        };
        return digits.chunks(2).map(pair).collect();
    }
    let mut found = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Some(found),
            [b'\\', b'\\', rest @ ..] => {
                found.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                found.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest
            }
            [b'\\', ..] => return None,
            [byte, rest @ ..] => {
                found.push(*byte);
                rest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_type() {
        assert_eq!(parse(Type::Boolean, "t"), Some(Datum::Boolean(true)));
        assert_eq!(parse(Type::Boolean, "OFF"), Some(Datum::Boolean(false)));
        assert_eq!(parse(Type::Boolean, "o"), None);
        assert_eq!(parse(Type::Boolean, ""), None);
        assert_eq!(parse(Type::SmallInt, "40000"), None);
        assert_eq!(parse(Type::BigInt, " -7 "), Some(Datum::Integer(-7)));
        assert_eq!(parse(Type::Double, "Infinity"), Some(Datum::Double(f64::INFINITY)));
        assert_eq!(parse(Type::Text, " a"), Some(Datum::Text(" a".into())));
        assert_eq!(parse(Type::Bytes, "\\x00fF"), Some(Datum::Bytes([0, 255][..].into())));
        assert_eq!(parse(Type::Bytes, "a\\\\\\001"), Some(Datum::Bytes(b"a\\\x01"[..].into())));
        for bad in ["\\x0", "\\xzz", "\\x+1", "\\9", "\\x0é"] {
            assert_eq!(parse(Type::Bytes, bad), None, "{bad}");
        }
    }
}
