//! Lines of a stream, without holding the stream.

use std::io::Read;

use super::ReadError;

const CHUNK: usize = 1 << 20;

/// Hands out the lines of a stream, each as bytes without its line feed, in one growing buffer.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What of the buffer is still to be handed out.
    start: usize,
    end: usize,
    /// Up to where it holds no line feed.
    searched: usize,
    at_end: bool,
    number: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Lines { input, buffer: vec![0; CHUNK], start: 0, end: 0, searched: 0, at_end: false, number: 0 }
    }

    /// The number of the line handed out last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` after the last. A final line feed ends the last line and begins none.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, ReadError> {
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..self.end]) {
                let line = self.start..self.searched + found;
                self.start = line.end + 1;
                self.searched = self.start;
                self.number += 1;
                return Ok(Some(without_return(&self.buffer[line])));
            }
            self.searched = self.end;
            if self.at_end {
                if self.start == self.end {
                    return Ok(None);
                }
                let line = self.start..self.end;
                self.start = self.end;
                self.number += 1;
                return Ok(Some(without_return(&self.buffer[line])));
            }
            self.refill()?;
        }
    }

    /// All whole lines that are at hand, line feeds included, at least one; `None` after the last. The last line of the stream may lack its
    /// line feed. The caller counts lines.
    pub(super) fn block(&mut self) -> Result<Option<&[u8]>, ReadError> {
        loop {
            let whole = match memchr::memrchr(b'\n', &self.buffer[self.start..self.end]) {
                Some(last) => self.start + last + 1,
                None if self.at_end => self.end,
                None => {
                    self.searched = self.end;
                    self.refill()?;
                    continue;
                }
            };
            if self.start == whole {
                return Ok(None);
            }
            let block = self.start..whole;
            self.start = whole;
            self.searched = whole;
            return Ok(Some(&self.buffer[block]));
        }
    }

    fn refill(&mut self) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.searched -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A piece of input for a message: text, and not too long.
pub(super) fn excerpt(bytes: &[u8]) -> Box<str> {
    const MOST: usize = 60;
    if bytes.is_empty() {
        return "nothing".into();
    }
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST {
        shown.push('…');
    }
    format!("`{shown}`").into()
}
