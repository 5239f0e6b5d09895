//! A pull parser for EDN, with the calls of the one for JSON: no tree, no recursion.
//!
//! Commas are white space, `;` begins a comment, `#_` discards the next form. Tags are stepped over and what they tag is
//! taken as it is (`#inst "…"`, `#jepsen.history.Op{…}`). Brackets are known to match: the stream has seen to that.

use std::borrow::Cow;

use crate::formats::json::{self, Scalar, Unexpected};

/// A position in EDN text.
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

    pub(super) fn unexpected(&self, expected: &'static str) -> Unexpected {
        Unexpected::at(self.at, expected)
    }

    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// The first byte of the next form or the closing bracket, after tags and discarded forms; 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        loop {
            self.skip_space();
            if self.byte() != b'#' {
                return self.byte();
            }
            match self.bytes.get(self.at + 1) {
                Some(b'{' | b'#' | b'"') => return b'#',
                Some(b'_') => {
                    self.at += 2;
                    if self.skip().is_err() {
                        // A form to discard is missing. Whoever asks for the next form is told so.
                        self.at = self.bytes.len();
                    }
                }
                _ => self.skip_token(),
            }
        }
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b',' => self.at += 1,
                b';' => {
                    let rest = &self.bytes[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Steps over bytes until one that ends a symbol or number; over one at least.
    fn skip_token(&mut self) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or(&[]);
        self.at = (self.at + 1 + rest.iter().take_while(|&&b| !ends_token(b)).count()).min(self.bytes.len());
    }

    pub(super) fn expect_end(&mut self) -> Result<(), Unexpected> {
        self.peek();
        if self.at >= self.bytes.len() { Ok(()) } else { Err(self.unexpected("the end of the form")) }
    }

    /// Opens a map, a vector, or a list in place of a vector: whether it has a first element.
    pub(super) fn open(&mut self, open: u8, close: u8, expected: &'static str) -> Result<bool, Unexpected> {
        match self.peek() {
            byte if byte == open || (byte == b'(' && open == b'[') => self.at += 1,
            _ => return Err(self.unexpected(expected)),
        }
        self.more(close)
    }

    /// Whether another element follows; steps over the closing bracket if not.
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Unexpected> {
        match self.peek() {
            0 if self.at >= self.bytes.len() => Err(self.unexpected(if close == b']' { "`]`" } else { "`}`" })),
            byte if byte == close || (byte == b')' && close == b']') => {
                self.at += 1;
                Ok(false)
            }
            b']' | b'}' | b')' => Err(self.unexpected(if close == b']' { "`]`" } else { "`}`" })),
            _ => Ok(true),
        }
    }

    /// The key of a map. One that is no keyword and no string is empty.
    pub(super) fn field(&mut self) -> Result<Cow<'a, str>, Unexpected> {
        if matches!(self.peek(), b':' | b'"')
            && let Scalar::Text(name) = self.scalar("a key")?
        {
            return Ok(name);
        }
        self.skip()?;
        Ok(Cow::Borrowed(""))
    }

    pub(super) fn scalar(&mut self, expected: &'static str) -> Result<Scalar<'a>, Unexpected> {
        let first = self.peek();
        let start = self.at;
        match first {
            b'"' => {
                // EDN's strings are JSON's.
                let mut text = json::Cursor::new(self.bytes);
                text.advance(start);
                let string = text.string(expected)?;
                self.at = text.position();
                return Ok(Scalar::Text(string));
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'#' => return Err(self.unexpected(expected)),
            b'0'..=b'9' => {
                if let Some(number) = self.short_number() {
                    return Ok(Scalar::Int(number));
                }
                self.skip_token();
            }
            0 if start >= self.bytes.len() => return Err(self.unexpected(expected)),
            _ => self.skip_token(),
        }
        let token = std::str::from_utf8(&self.bytes[start..self.at]);
        let token = token.map_err(|_| Unexpected::at(start, "text in UTF-8"))?;
        let digits = token.strip_prefix(['+', '-']).unwrap_or(token);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let number = token.strip_suffix('N').unwrap_or(token).parse();
            return number.map(Scalar::Int).map_err(|_| Unexpected::at(start, "an integer of at most 64 bits"));
        }
        Ok(match token {
            "nil" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            _ => Scalar::Text(token.strip_prefix([':', '\\']).unwrap_or(token).into()),
        })
    }

    /// Steps over a number of a few digits and no sign: most of what there is to read.
    fn short_number(&mut self) -> Option<i64> {
        const DIGITS: usize = 18;
        let rest = &self.bytes[self.at..];
        let mut number = 0;
        for (i, &byte) in rest.iter().take(DIGITS + 1).enumerate() {
            if i < DIGITS && byte.is_ascii_digit() {
                number = number * 10 + i64::from(byte - b'0');
            } else if ends_token(byte) {
                self.at += i;
                return Some(number);
            } else {
                return None;
            }
        }
        None
    }

    /// Steps over one form.
    pub(super) fn skip(&mut self) -> Result<(), Unexpected> {
        let mut depth = 0usize;
        // Each form to discard at this place comes before the one to step over.
        let mut forms = 1usize;
        loop {
            self.skip_space();
            match self.byte() {
                0 if self.at >= self.bytes.len() => return Err(self.unexpected("a form")),
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    depth += 1;
                    continue;
                }
                b')' | b']' | b'}' => {
                    if depth == 0 {
                        return Err(self.unexpected("a form"));
                    }
                    self.at += 1;
                    depth -= 1;
                }
                b'"' => drop(self.scalar("a string")?),
                // A character may be one that ends tokens.
                b'\\' => {
                    self.at = (self.at + 1).min(self.bytes.len());
                    self.skip_token();
                }
                b'#' => match self.bytes.get(self.at + 1) {
                    Some(b'_') => {
                        self.at += 2;
                        forms += usize::from(depth == 0);
                        continue;
                    }
                    Some(b'{') => {
                        self.at += 1;
                        continue;
                    }
                    // `##Inf` and `##NaN` are forms, `#"…"` is a pattern.
                    Some(b'#') => self.skip_token(),
                    Some(b'"') => {
                        self.at += 1;
                        self.scalar("a string")?;
                    }
                    _ => {
                        self.skip_token();
                        continue;
                    }
                },
                _ => self.skip_token(),
            }
            if depth == 0 {
                forms -= 1;
                if forms == 0 {
                    return Ok(());
                }
            }
        }
    }
}

fn ends_token(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b',' | b';' | b'"' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(text: &str) -> Result<Scalar<'_>, Unexpected> {
        Cursor::new(text.as_bytes()).scalar("a value")
    }

    #[test]
    fn scalars() {
        for (text, expected) in [
            ("nil", Scalar::Null),
            (" ,; x\n true", Scalar::Bool(true)),
            ("-12]", Scalar::Int(-12)),
            ("+7N", Scalar::Int(7)),
            ("123456789012345678 ", Scalar::Int(123_456_789_012_345_678)),
            ("1234567890123456789 ", Scalar::Int(1_234_567_890_123_456_789)),
            ("42", Scalar::Int(42)),
            (":x/y ", Scalar::Text("x/y".into())),
            ("sym", Scalar::Text("sym".into())),
            ("- ", Scalar::Text("-".into())),
            ("\"a\\nb\"", Scalar::Text("a\nb".into())),
            ("#inst \"2020\"", Scalar::Text("2020".into())),
            ("#_ #_ {:a 1} [2] #x #y 3", Scalar::Int(3)),
        ] {
            assert_eq!(scalar(text).unwrap(), expected, "{text}");
        }
        for bad in ["", "]", "[1]", "{}", "#{1}", "1.5", "1/2", "9223372036854775808", "\"a", "#_", "#_ 1", "##Inf"] {
            assert!(scalar(bad).is_err(), "{bad}");
        }
        assert!(Cursor::new(b"\xff").scalar("").is_err());
    }

    #[test]
    fn skipping_steps_over_exactly_one_form() {
        for form in [
            "1.5M",
            "nil",
            "\"]\"",
            "[]",
            "#{1 #{2}}",
            "{:a (1 \\) \\newline)}",
            "#_ 1 2",
            "#_ #_ [1] 2 [3]",
            "#a #b [1]",
            "##Inf",
            "[#_ #_ 1 2]",
            "#\"x]\"",
        ] {
            let text = format!("{form} x");
            let mut cursor = Cursor::new(text.as_bytes());
            cursor.skip().unwrap();
            assert_eq!(cursor.position(), form.len(), "{form}");
        }
        for bad in ["", "[", "]", "[1", "#_", "#_ 1", "#x", "\"a"] {
            assert!(Cursor::new(bad.as_bytes()).skip().is_err(), "{bad}");
        }
        let deep = "[".repeat(1 << 20);
        assert!(Cursor::new(deep.as_bytes()).skip().is_err());
    }

    #[test]
    fn collections() {
        let mut cursor = Cursor::new(b"#op{:a (1, 2) ; )\n #_ 5 \"b\" [] 7 8}");
        assert!(cursor.open(b'{', b'}', "").unwrap());
        assert_eq!(cursor.field().unwrap(), "a");
        assert!(cursor.open(b'[', b']', "").unwrap());
        cursor.skip().unwrap();
        assert!(cursor.more(b']').unwrap());
        cursor.skip().unwrap();
        assert!(!cursor.more(b']').unwrap());
        assert!(cursor.more(b'}').unwrap());
        assert_eq!(cursor.field().unwrap(), "b");
        assert!(!cursor.open(b'[', b']', "").unwrap());
        assert!(cursor.more(b'}').unwrap());
        assert_eq!(cursor.field().unwrap(), "");
        cursor.skip().unwrap();
        assert!(!cursor.more(b'}').unwrap());
        cursor.expect_end().unwrap();
    }
}
