//! Values of a JSON or EDN stream, one at a time, without holding the stream.
//!
//! A file that is one large array is read element by element: the bytes of each are found here, by brackets and quotes
//! alone, and parsed elsewhere.

use std::io::{ErrorKind, Read};

use super::ReadError;
use super::lines::excerpt;
use crate::error::Place;

const CHUNK: usize = 1 << 18;

/// What separates values, and what may stand between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Json,
    /// Commas are white space, `;` begins a comment, `\x` is a character.
    Edn,
}

/// See the [module](self).
pub(super) struct Stream<R> {
    input: R,
    syntax: Syntax,
    buffer: Vec<u8>,
    /// What of the buffer is still to be handed out.
    start: usize,
    end: usize,
    at_end: bool,
    /// The line of `buffer[start]`, from 1.
    line: u64,
    elements: Elements,
    /// What closes each bracket of the value at hand that is open.
    open: Vec<u8>,
}

/// How far [`Stream::next_element`] is.
#[derive(Clone, Copy)]
enum Elements {
    NotBegun,
    /// Values follow one another without brackets around them all.
    Bare,
    /// Inside of an array that this byte closes, after its first element.
    Inside(u8),
}

/// Where the scan of a value stands.
#[derive(Clone, Copy, PartialEq)]
enum Scan {
    Outside,
    Text,
    Escape,
    Character,
    Comment,
}

/// The bytes that matter inside of brackets and outside of texts, in either syntax.
const MEANS_SOMETHING: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\"[]{}()\\;";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

impl<R: Read> Stream<R> {
    pub(super) fn new(input: R, syntax: Syntax) -> Self {
        Stream {
            input,
            syntax,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            at_end: false,
            line: 1,
            elements: Elements::NotBegun,
            open: Vec::new(),
        }
    }

    /// The next byte that is not white space; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        let edn = self.syntax == Syntax::Edn;
        let mut comment = false;
        loop {
            while self.start < self.end {
                match self.buffer[self.start] {
                    b'\n' => {
                        self.line += 1;
                        comment = false;
                    }
                    _ if comment => {}
                    b' ' | b'\t' | b'\r' => {}
                    b',' if edn => {}
                    b';' if edn => comment = true,
                    byte => return Ok(Some(byte)),
                }
                self.start += 1;
            }
            if !self.refill()? {
                return Ok(None);
            }
        }
    }

    /// Steps over a byte if it is next.
    pub(super) fn take(&mut self, byte: u8) -> Result<bool, ReadError> {
        let found = self.peek()? == Some(byte);
        self.start += usize::from(found);
        Ok(found)
    }

    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), ReadError> {
        if self.take(byte)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// After an element of a JSON array or object: whether another follows. Steps over the comma or the closing byte.
    pub(super) fn more(&mut self, close: u8) -> Result<bool, ReadError> {
        if self.take(b',')? {
            return Ok(true);
        }
        self.expect(close, if close == b']' { "`,` or `]`" } else { "`,` or `}`" })?;
        Ok(false)
    }

    pub(super) fn expect_end(&mut self) -> Result<(), ReadError> {
        if self.peek()?.is_none() { Ok(()) } else { Err(self.unexpected("the end of the input")) }
    }

    /// What is wrong with the next bytes.
    pub(super) fn unexpected(&self, expected: impl Into<Box<str>>) -> ReadError {
        let rest = &self.buffer[self.start..self.end];
        let found = if rest.is_empty() { "the end of the input".into() } else { excerpt(&rest[..rest.len().min(256)]) };
        ReadError::malformed(Place::line(self.line), expected, found)
    }

    /// Steps to the next element of an array that is the whole input, or to the next of several values that are; whether
    /// there is one. The caller then takes it with [`value`](Self::value).
    pub(super) fn next_element(&mut self) -> Result<bool, ReadError> {
        let next = self.peek()?;
        let edn = self.syntax == Syntax::Edn;
        let (first, close) = match self.elements {
            Elements::NotBegun => {
                let close = match next {
                    Some(b'[') => b']',
                    Some(b'(') if edn => b')',
                    _ => {
                        self.elements = Elements::Bare;
                        return Ok(next.is_some());
                    }
                };
                self.start += 1;
                (true, close)
            }
            Elements::Bare => return Ok(next.is_some()),
            Elements::Inside(close) => (false, close),
        };
        self.elements = Elements::Inside(close);
        if self.take(close)? {
            self.elements = Elements::Bare;
            self.expect_end()?;
            return Ok(false);
        }
        if !first && !edn {
            self.expect(b',', "`,` or `]`")?;
        }
        match self.peek()? {
            None => Err(self.unexpected(if close == b']' { "`]`" } else { "`)`" })),
            Some(_) => Ok(true),
        }
    }

    /// The next value whole, and the line on which it begins.
    ///
    /// In EDN this is everything up to the end of the first collection, tags and discarded forms included.
    pub(super) fn value(&mut self, expected: &'static str) -> Result<(u64, &[u8]), ReadError> {
        let edn = self.syntax == Syntax::Edn;
        if self.peek()?.is_none() {
            return Err(self.unexpected(expected));
        }
        self.open.clear();
        let mut scan = Scan::Outside;
        let mut length = 0;
        'scan: loop {
            while self.start + length < self.end {
                if scan == Scan::Outside && !self.open.is_empty() {
                    // Most bytes mean nothing here.
                    let rest = &self.buffer[self.start + length..self.end];
                    length += rest.iter().position(|&byte| MEANS_SOMETHING[byte as usize]).unwrap_or(rest.len());
                }
                let Some(&byte) = self.buffer[..self.end].get(self.start + length) else { break };
                match scan {
                    Scan::Text => match byte {
                        b'\\' => scan = Scan::Escape,
                        b'"' => {
                            scan = Scan::Outside;
                            if !edn && self.open.is_empty() {
                                length += 1;
                                break 'scan;
                            }
                        }
                        _ => {}
                    },
                    Scan::Escape => scan = Scan::Text,
                    Scan::Character => scan = Scan::Outside,
                    Scan::Comment => {
                        if byte == b'\n' {
                            scan = Scan::Outside;
                        }
                    }
                    Scan::Outside => match byte {
                        b'"' => scan = Scan::Text,
                        b'[' => self.open.push(b']'),
                        b'{' => self.open.push(b'}'),
                        b'(' if edn => self.open.push(b')'),
                        b'\\' if edn => scan = Scan::Character,
                        b';' if edn => scan = Scan::Comment,
                        b']' | b'}' | b')' => match self.open.pop() {
                            Some(close) if close == byte => {
                                if self.open.is_empty() {
                                    length += 1;
                                    break 'scan;
                                }
                            }
                            Some(close) => {
                                self.advance(length);
                                return Err(self.unexpected(format!("`{}`", char::from(close))));
                            }
                            None => break 'scan,
                        },
                        b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if !edn && self.open.is_empty() => break 'scan,
                        _ => {}
                    },
                }
                length += 1;
            }
            if !self.refill()? {
                if self.open.is_empty() && matches!(scan, Scan::Outside | Scan::Comment) {
                    break;
                }
                let close = self.open.last().map_or("`\"`".into(), |&close| format!("`{}`", char::from(close)));
                self.advance(length);
                return Err(self.unexpected(close));
            }
        }
        if length == 0 {
            return Err(self.unexpected(expected));
        }
        let (line, value) = (self.line, self.start..self.start + length);
        self.advance(length);
        Ok((line, &self.buffer[value]))
    }

    fn advance(&mut self, length: usize) {
        let passed = &self.buffer[self.start..self.start + length];
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.start += length;
    }

    /// Reads on, keeping what is not handed out; whether there was more.
    fn refill(&mut self) -> Result<bool, ReadError> {
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(read > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, so that every value meets a refill.
    struct Slowly<'a>(&'a [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = self.0.len().min(1);
            out[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn elements(text: &str, syntax: Syntax) -> Result<Vec<(u64, String)>, ReadError> {
        let mut stream = Stream::new(Slowly(text.as_bytes()), syntax);
        let mut found = Vec::new();
        while stream.next_element()? {
            let (line, bytes) = stream.value("a value")?;
            found.push((line, String::from_utf8_lossy(bytes).into_owned()));
        }
        Ok(found)
    }

    fn check(text: &str, syntax: Syntax, expected: &[(u64, &str)]) {
        let found = elements(text, syntax).unwrap();
        let found: Vec<(u64, &str)> = found.iter().map(|(line, value)| (*line, value.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn elements_of_one_array_and_of_lines() {
        for text in ["", " \n", "[]", " [ \n ] "] {
            check(text, Syntax::Json, &[]);
        }
        check(
            "[{\"a\":\"]}\\\"\"},\n 7 ,\"x\",[[]]]",
            Syntax::Json,
            &[(1, "{\"a\":\"]}\\\"\"}"), (2, "7"), (2, "\"x\""), (2, "[[]]")],
        );
        check("{\n}\n\n{} 5", Syntax::Json, &[(1, "{\n}"), (4, "{}"), (4, "5")]);
        check(
            "; [\n{:a \\} :b \"}\"} ; }\n,#_{} #x{}",
            Syntax::Edn,
            &[(2, "{:a \\} :b \"}\"}"), (3, "#_{}"), (3, "#x{}")],
        );
        check("[{:a 1}\n {} ; ]\n]", Syntax::Edn, &[(1, "{:a 1}"), (2, "{}")]);
    }

    #[test]
    fn broken_brackets_are_refused_with_their_line() {
        for (text, line) in
            [("[1", 1), ("[1\n2]", 2), ("[1,]", 1), ("[{\n]", 2), ("[1]\n2", 2), ("[\"a", 1), ("]", 1), ("1,2", 1)]
        {
            let error = elements(text, Syntax::Json).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: expected ")), "{text}: {error}");
        }
        for text in ["[{}", "{]", "[{})", "({}]"] {
            assert!(elements(text, Syntax::Edn).is_err(), "{text}");
        }
    }
}
