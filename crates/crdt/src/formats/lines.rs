//! Lines of a stream, one held at a time, and pieces of them for messages.

use std::io::{BufRead, BufReader, Read};

use super::ReadError;

/// Hands out the lines of a stream that are not blank.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    number: u32,
    /// The line at hand was looked at, but not handed out.
    kept: bool,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Lines { input: BufReader::with_capacity(1 << 16, input), line: Vec::new(), number: 0, kept: false }
    }

    /// The next line and its number, from 1.
    pub(super) fn next(&mut self) -> Result<Option<(u32, &str)>, ReadError> {
        if !self.kept && !self.advance()? {
            return Ok(None);
        }
        self.kept = false;
        match std::str::from_utf8(&self.line) {
            Ok(line) => Ok(Some((self.number, line))),
            Err(_) => Err(ReadError::Malformed {
                line: self.number,
                expected: "text in UTF-8".into(),
                found: excerpt(&String::from_utf8_lossy(&self.line)),
            }),
        }
    }

    /// The first byte of the first line, which is handed out nevertheless.
    pub(super) fn first_byte(&mut self) -> Result<Option<u8>, ReadError> {
        self.kept = self.advance()?;
        Ok(self.line.trim_ascii_start().first().copied())
    }

    fn advance(&mut self) -> Result<bool, ReadError> {
        loop {
            self.line.clear();
            if self.input.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(false);
            }
            self.number = self.number.checked_add(1).ok_or(ReadError::TooLarge)?;
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }
}

/// The beginning of a text for a message.
pub(super) fn excerpt(text: &str) -> Box<str> {
    const MOST: usize = 40;
    let text = text.trim_end();
    if text.is_empty() {
        return "the end of the line".into();
    }
    // What a terminal would not show as it is, is escaped.
    let mut shown = String::new();
    for c in text.chars().take(MOST) {
        if c.is_control() { shown.extend(c.escape_debug()) } else { shown.push(c) }
    }
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    format!("`{shown}`").into()
}
