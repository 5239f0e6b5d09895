//! bincode: five numbers (id, sessions, variables, transactions, events), three texts (information, start, end; a length and
//! that many bytes), then the sessions, each list with its length before it:
//!
//! ```text
//! event        01 | 01 00 00 00 00 00 00 00 | 05 00 00 00 00 00 00 00 | 01
//!              is it a write, variable, value, did it succeed
//! transaction  number of events, events, did it succeed (one byte)
//! session      number of transactions, transactions
//! ```
//!
//! Lengths are only counted down, never trusted with memory: a wrong one runs into the end of the file.

use std::io::{BufReader, ErrorKind, Read};

use super::number;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::Outcome;
use crate::formats::ReadError;
use crate::names::Name;

const NUMBERS: usize = 5;
const TEXTS: usize = 3;
/// The longest text of a header that is believed.
const LONGEST: u64 = 1 << 14;

pub(super) fn detect(head: &[u8]) -> bool {
    let number_at = |at: usize| {
        let bytes = head.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().expect("8 bytes")))
    };
    let mut at = NUMBERS * 8;
    for _ in 0..TEXTS {
        let Some(length) = number_at(at).filter(|&length| length <= LONGEST) else { return false };
        at += 8;
        let Some(text) = head.get(at..at + length as usize) else { return false };
        if std::str::from_utf8(text).map_or(true, |text| text.chars().any(char::is_control)) {
            return false;
        }
        at += length as usize;
    }
    number_at(at).is_some_and(|sessions| sessions <= u64::from(u32::MAX))
}

pub(super) fn read(input: impl Read, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    let mut file = File { input: BufReader::with_capacity(1 << 16, input), offset: 0 };
    for _ in 0..NUMBERS {
        file.number("a header of five numbers")?;
    }
    for _ in 0..TEXTS {
        file.text()?;
    }
    let sessions = file.number("the number of sessions")?;
    for session in 1..=sessions {
        for _ in 0..file.number("the number of transactions of a session")? {
            builder.status()?;
            builder.begin(Name::Int(session as i64));
            for _ in 0..file.number("the number of events of a transaction")? {
                file.event(builder)?;
            }
            if !file.flag("whether a transaction succeeded")? {
                builder.set_outcome(Outcome::Aborted);
            }
        }
    }
    file.expect_end()
}

struct File<R> {
    input: BufReader<R>,
    offset: u64,
}

impl<R: Read> File<R> {
    fn event(&mut self, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
        let is_write = self.flag("whether an event is a write")?;
        let variable = number(self.number("a variable")?);
        let value = number(self.number("a value")?);
        if !self.flag("whether an event succeeded")? {
            return Ok(());
        }
        let key = variable.as_name().expect("a number has a name");
        let value = value.as_datum().expect("a number is a value");
        if is_write {
            builder.write(key, value);
        } else {
            builder.read(key, value);
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], ReadError> {
        let mut bytes = [0; N];
        match self.input.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(self.unexpected(expected, "the end of the file"));
            }
            Err(error) => return Err(error.into()),
        }
        self.offset += N as u64;
        Ok(bytes)
    }

    fn number(&mut self, expected: &'static str) -> Result<u64, ReadError> {
        self.bytes(expected).map(u64::from_le_bytes)
    }

    fn flag(&mut self, expected: &'static str) -> Result<bool, ReadError> {
        let [byte] = self.bytes(expected)?;
        if byte > 1 {
            self.offset -= 1;
            return Err(self.unexpected(&format!("{expected}, 0 or 1"), &byte.to_string()));
        }
        Ok(byte == 1)
    }

    fn text(&mut self) -> Result<(), ReadError> {
        let length = self.number("the length of a text")?;
        if length > LONGEST {
            self.offset -= 8;
            return Err(
                self.unexpected(&format!("a text of at most {LONGEST} bytes"), &format!("a length of {length}"))
            );
        }
        for _ in 0..length {
            self.bytes::<1>("a text")?;
        }
        Ok(())
    }

    fn expect_end(&mut self) -> Result<(), ReadError> {
        match self.input.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(self.unexpected("the end of the file after the last session", "more")),
        }
    }

    fn unexpected(&self, expected: &str, found: &str) -> ReadError {
        ReadError::malformed(Place::default(), expected, format!("{found}, at byte {}", self.offset))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::tests::load;
    use super::*;

    type Event = (u8, u64, u64, u8);

    pub(in super::super) fn file(sessions: &[&[(&[Event], u8)]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let number = |bytes: &mut Vec<u8>, n: usize| bytes.extend_from_slice(&(n as u64).to_le_bytes());
        (0..5).for_each(|n| number(&mut bytes, n));
        for text in ["Galera", "2019-04-02T11:06:21+02:00", ""] {
            number(&mut bytes, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
        number(&mut bytes, sessions.len());
        for session in sessions {
            number(&mut bytes, session.len());
            for (events, success) in *session {
                number(&mut bytes, events.len());
                for &(write, variable, value, success) in *events {
                    bytes.push(write);
                    bytes.extend_from_slice(&variable.to_le_bytes());
                    bytes.extend_from_slice(&value.to_le_bytes());
                    bytes.push(success);
                }
                bytes.push(*success);
            }
        }
        bytes
    }

    #[test]
    fn numbers_too_large_for_the_model_keep_apart() {
        let bytes = file(&[&[(&[(1, u64::MAX, u64::MAX, 1), (1, u64::MAX - 1, 1, 1)], 1)]]);
        assert!(detect(&bytes));
        let history = load(&bytes).unwrap();
        assert_eq!(history.key_name(crate::Key(0)), Name::Text("18446744073709551615"));
        assert_eq!(history.key_count(), 2);
    }

    #[test]
    fn wrong_lengths_and_flags_are_refused_with_their_byte() {
        const END: &str = "the end of the file";
        let good = file(&[&[(&[(1, 1, 1, 1)], 1)]]);
        let header = 5 * 8 + 3 * 8 + "Galera".len() + "2019-04-02T11:06:21+02:00".len();
        // In turn: the length of a text, the numbers of sessions, transactions and events.
        for (at, found) in
            [(40, "a length of 18446744073709551615"), (header, END), (header + 8, END), (header + 16, END)]
        {
            let mut bad = good.clone();
            bad[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
            let error = load(&bad).unwrap_err().to_string();
            assert!(error.contains(&format!("found {found}, at byte ")), "{error}");
        }
        for length in 0..good.len() {
            assert!(load(&good[..length]).is_err(), "{length}");
        }
        let flag = header + 24;
        let mut bad = good.clone();
        bad[flag] = 2;
        let error = load(&bad).unwrap_err().to_string();
        assert_eq!(error, format!("input: expected whether an event is a write, 0 or 1, found 2, at byte {flag}"));
        assert!(load(&[&good[..], b"x"].concat()).unwrap_err().to_string().contains("after the last session"));
    }
}
