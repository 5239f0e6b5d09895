//! The names that rows and cells have in the store.
//!
//! They appear in recorded histories, so they are meant to be read: `accounts/7` says whether the row exists, `accounts/7.balance` holds a
//! cell, `accounts#name/alice` holds the key of the row that has this unique value. The values of a composite key are separated by commas.
//! A separator inside a text is escaped by `%` and its code, and so is `%` itself.

use std::fmt::Write;

use crate::datum::Datum;
use crate::engine::Dialect;
use crate::error::Result;
use crate::order::Row;
use crate::types::ColumnType;

const SEPARATORS: [char; 6] = ['/', ',', '.', '#', '%', '@'];

/// `7`, or `1,2,3`: the values of a key.
pub(crate) fn key_text(key: &Row) -> String {
    let mut text = String::new();
    for (index, datum) in key.0.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match datum {
            Datum::Text(value) => escape(value, &mut text),
            // 1.0 and 1.00 are the same key.
            Datum::Numeric(value) => escape(&value.normalize().to_string(), &mut text),
            other => escape(&other.to_string(), &mut text),
        }
    }
    text
}

/// What [`key_text`] was made from.
pub(crate) fn parse_key(text: &str, types: &[ColumnType]) -> Result<Row> {
    let parts = text.split(',').zip(types);
    let values = parts
        .map(|(part, column)| crate::cast::cast(Datum::Text(unescape(part).into()), column.ty, Dialect::PostgreSql));
    Ok(Row(values.collect::<Result<_>>()?))
}

fn escape(text: &str, out: &mut String) {
    // A text that is the word NULL is not confused with anything: keys have no NULL.
    for letter in text.chars() {
        if SEPARATORS.contains(&letter) || letter.is_control() || letter.is_whitespace() {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(out, "%{byte:02x}");
            }
        } else {
            out.push(letter);
        }
    }
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail.get(..2).and_then(|code| std::str::from_utf8(code).ok())) {
            (b'%', Some(code)) => {
                bytes.push(u8::from_str_radix(code, 16).unwrap_or(b'?'));
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::Type;

    #[test]
    fn keys_round_trip() {
        let types = [Type::Text, Type::Integer, Type::Timestamp].map(ColumnType::plain);
        let time = crate::time::parse_timestamp("2024-01-02 03:04:05.6").unwrap();
        let key = Row::new(vec![Datum::from_text("a/b, c.d%"), Datum::Integer(-3), Datum::Timestamp(time)]);
        let text = key_text(&key);
        assert_eq!(text, "a%2fb%2c%20c%2ed%25,-3,2024-01-02%2003:04:05%2e6");
        assert_eq!(parse_key(&text, &types).unwrap(), key);
    }
}
