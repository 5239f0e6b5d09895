//! A pull parser for JSON: no tree, no allocation but for escaped strings, no recursion.
//!
//! `serde_json` reads a line of transactions at about a third of this speed, most of it in building values that are thrown away at once.

use std::borrow::Cow;

use super::ReadError;
use super::lines::excerpt;
use crate::error::Place;
use crate::names::{Datum, Name};

/// Where in the bytes something else was expected.
#[derive(Debug)]
pub(super) struct Unexpected {
    at: usize,
    expected: Cow<'static, str>,
}

impl Unexpected {
    pub(super) fn at(at: usize, expected: impl Into<Cow<'static, str>>) -> Self {
        Unexpected { at, expected: expected.into() }
    }

    /// The error for people, given the bytes parsed and where they stand.
    pub(super) fn in_bytes(self, bytes: &[u8], place: Place) -> ReadError {
        let rest = &bytes[self.at.min(bytes.len())..];
        let found = if rest.is_empty() { "the end of the input".into() } else { excerpt(rest) };
        ReadError::malformed(place, self.expected, found)
    }

    /// The same for bytes that may span several lines, given the number of the first.
    pub(super) fn in_lines(self, bytes: &[u8], first: u64) -> ReadError {
        let before = &bytes[..self.at.min(bytes.len())];
        let line = first + memchr::memchr_iter(b'\n', before).count() as u64;
        self.in_bytes(bytes, Place::line(line))
    }
}

/// A value without parts.
#[derive(Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    pub(super) fn as_name(&self) -> Option<Name<'_>> {
        match self {
            Scalar::Int(i) => Some(Name::Int(*i)),
            Scalar::Text(s) => Some(Name::Text(s)),
            Scalar::Null | Scalar::Bool(_) => None,
        }
    }

    pub(super) fn as_datum(&self) -> Option<Datum<'_>> {
        match self {
            Scalar::Null => Some(Datum::Initial),
            Scalar::Int(i) => Some(Datum::Int(*i)),
            Scalar::Text(s) => Some(Datum::Text(s)),
            Scalar::Bool(_) => None,
        }
    }
}

/// A position in JSON text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What has not been stepped over.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at.min(self.bytes.len())..]
    }

    /// Steps over bytes that the caller has looked at.
    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn unexpected(&self, expected: impl Into<Cow<'static, str>>) -> Unexpected {
        Unexpected::at(self.at, expected)
    }

    /// The next byte that is not white space; 0 at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return byte;
            }
            self.at += 1;
        }
        0
    }

    /// Steps over a byte if it is next.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Unexpected> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    pub(super) fn expect_end(&mut self) -> Result<(), Unexpected> {
        if self.peek() == 0 && self.at >= self.bytes.len() {
            Ok(())
        } else {
            Err(self.unexpected("the end of the line"))
        }
    }

    /// After an element of an array or object: whether another follows. Steps over the comma or the closing byte.
    #[inline]
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Unexpected> {
        match self.peek() {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            byte if byte == close && byte != 0 => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected(if close == b']' { "`,` or `]`" } else { "`,` or `}`" })),
        }
    }

    /// Opens an array or object: whether it has a first element.
    #[inline]
    pub(super) fn open(&mut self, open: u8, close: u8, expected: &'static str) -> Result<bool, Unexpected> {
        self.expect(open, expected)?;
        Ok(!self.take(close))
    }

    /// A field's name and its colon.
    pub(super) fn field(&mut self) -> Result<Cow<'a, str>, Unexpected> {
        let name = self.string("the name of a field")?;
        self.expect(b':', "`:`")?;
        Ok(name)
    }

    #[inline]
    pub(super) fn string(&mut self, expected: &'static str) -> Result<Cow<'a, str>, Unexpected> {
        self.expect(b'"', expected)?;
        let start = self.at;
        let Some(length) = memchr::memchr2(b'"', b'\\', &self.bytes[start..]) else {
            return Err(Unexpected::at(start - 1, "a string that ends"));
        };
        if self.bytes[start + length] == b'"' {
            self.at = start + length + 1;
            let text = &self.bytes[start..start + length];
            return match std::str::from_utf8(text) {
                Ok(text) => Ok(Cow::Borrowed(text)),
                Err(_) => Err(Unexpected::at(start - 1, "text in UTF-8")),
            };
        }
        self.escaped_string(start).map(Cow::Owned)
    }

    fn escaped_string(&mut self, start: usize) -> Result<String, Unexpected> {
        let mut text = Vec::new();
        self.at = start;
        loop {
            let byte = *self.bytes.get(self.at).ok_or(Unexpected::at(start - 1, "a string that ends"))?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let character = self.escape()?;
                    text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte => text.push(byte),
            }
        }
        String::from_utf8(text).map_err(|_| Unexpected::at(start - 1, "text in UTF-8"))
    }

    fn escape(&mut self) -> Result<char, Unexpected> {
        let at = self.at;
        let byte = self.bytes.get(at).copied().unwrap_or(0);
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => byte.into(),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex(at)?;
                if (0xd800..0xdc00).contains(&code) && self.bytes.get(self.at..self.at + 2) == Some(b"\\u") {
                    self.at += 2;
                    let low = self.hex(at)?;
                    if (0xdc00..0xe000).contains(&low) {
                        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    }
                }
                char::from_u32(code).ok_or(Unexpected::at(at, "a Unicode character"))?
            }
            _ => return Err(Unexpected::at(at, "an escape of JSON")),
        })
    }

    fn hex(&mut self, at: usize) -> Result<u32, Unexpected> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        code.ok_or(Unexpected::at(at, "four hexadecimal digits"))
    }

    #[inline]
    pub(super) fn int(&mut self, expected: &'static str) -> Result<i64, Unexpected> {
        self.peek();
        let start = self.at;
        let negative = self.bytes.get(start) == Some(&b'-');
        let mut at = start + usize::from(negative);
        let first = at;
        let mut number: i64 = 0;
        while let Some(digit) = self.bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
            // Negative numbers are built from below, so that the least one fits.
            let digit = i64::from(digit);
            let next =
                number.checked_mul(10).and_then(|n| if negative { n.checked_sub(digit) } else { n.checked_add(digit) });
            number = next.ok_or(Unexpected::at(start, "an integer of at most 64 bits"))?;
            at += 1;
        }
        if at == first {
            return Err(Unexpected::at(start, expected));
        }
        if matches!(self.bytes.get(at), Some(b'.' | b'e' | b'E')) {
            return Err(Unexpected::at(start, "an integer, not a fraction"));
        }
        self.at = at;
        Ok(number)
    }

    #[inline]
    pub(super) fn scalar(&mut self, expected: &'static str) -> Result<Scalar<'a>, Unexpected> {
        match self.peek() {
            b'"' => self.string(expected).map(Scalar::Text),
            b'-' | b'0'..=b'9' => self.int(expected).map(Scalar::Int),
            b'n' => self.word("null", expected).map(|()| Scalar::Null),
            b't' => self.word("true", expected).map(|()| Scalar::Bool(true)),
            b'f' => self.word("false", expected).map(|()| Scalar::Bool(false)),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn word(&mut self, word: &str, expected: &'static str) -> Result<(), Unexpected> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    /// Shows the fields of an object and where their values begin, as far as the object is there: the head of a file may
    /// end in the middle of it.
    pub(super) fn fields_so_far(mut self, mut show: impl FnMut(&str, Self)) {
        let mut fields = || -> Result<(), Unexpected> {
            let mut more = self.open(b'{', b'}', "an object")?;
            while more {
                let name = self.field()?;
                show(&name, self);
                self.skip()?;
                more = self.more(b'}')?;
            }
            Ok(())
        };
        // What is wrong with it is for the reader to say.
        let _ = fields();
    }

    /// Steps over one value of any kind.
    pub(super) fn skip(&mut self) -> Result<(), Unexpected> {
        // What closes each array and object that is open.
        let mut open: Vec<u8> = Vec::new();
        loop {
            match self.peek() {
                byte @ (b'[' | b'{') => {
                    let close = if byte == b'[' { b']' } else { b'}' };
                    self.at += 1;
                    if !self.take(close) {
                        open.push(close);
                        if close == b'}' {
                            self.field()?;
                        }
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let rest = &self.bytes[self.at..];
                    self.at +=
                        rest.iter().take_while(|b| matches!(b, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
                }
                _ => drop(self.scalar("a JSON value")?),
            }
            loop {
                let Some(&close) = open.last() else { return Ok(()) };
                if self.more(close)? {
                    if close == b'}' {
                        self.field()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }
}

/// Writes a string as JSON.
pub(super) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unescaped() {
        let text = r#" "aé\n\u00e9\ud83d\ude00\"" "#;
        assert_eq!(Cursor::new(text.as_bytes()).string("").unwrap(), "aé\né😀\"");
        assert!(Cursor::new(b"\"a").string("").is_err());
        assert!(Cursor::new(br#""\ud83d""#).string("").is_err());
        assert!(Cursor::new(br#""\x""#).string("").is_err());
    }

    #[test]
    fn integers_are_exact_or_refused() {
        for i in [0, 7, -7, i64::MAX, i64::MIN] {
            assert_eq!(Cursor::new(i.to_string().as_bytes()).int("").unwrap(), i);
        }
        for bad in ["", "-", "x", "1.5", "1e3", "9223372036854775808", "-9223372036854775809"] {
            assert!(Cursor::new(bad.as_bytes()).int("").is_err(), "{bad}");
        }
    }

    #[test]
    fn skipping_steps_over_exactly_one_value() {
        for value in ["1.5e-3", "null", r#""]""#, "[]", "{}", r#"[1,{"a":[[],{}],"b":"}"},[2]]"#] {
            let text = format!("{value},");
            let mut cursor = Cursor::new(text.as_bytes());
            cursor.skip().unwrap();
            assert_eq!(cursor.position(), value.len());
        }
        for bad in ["", "[", "[1", "[1,]", "{", r#"{"a"}"#, r#"{"a":}"#, "]", "[}"] {
            assert!(Cursor::new(bad.as_bytes()).skip().is_err(), "{bad}");
        }
        let deep = "[".repeat(1 << 20);
        assert!(Cursor::new(deep.as_bytes()).skip().is_err());
    }
}
