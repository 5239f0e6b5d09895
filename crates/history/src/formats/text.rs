//! `text`: one operation a line, `r(key,value,session,txn)` or `w(key,value,session,txn)` (PolySI, Plume, AWDIT's `plume`).
//!
//! Transaction ids count in the whole file; their lines may be interrupted by other transactions. The id −1 marks an aborted
//! transaction: consecutive lines of it in one session are one. The value 0 is initial for keys to which nobody writes 0.

use std::io::{self, Read, Write};

use rustc_hash::FxHashMap;

use super::ReadError;
use super::lines::{Lines, excerpt};
use crate::builder::{HistoryBuilder, InitialRule};
use crate::error::Place;
use crate::event::Outcome;
use crate::history::{History, TxnId};
use crate::names::{Datum, Name};
use crate::record::{NamedEvent, Record, Sink};

const ABORTED: i64 = -1;
const EXPECTED: &str = "`r(key,value,session,txn)` or `w(key,value,session,txn)`";

pub(super) fn detect(head: &[u8]) -> bool {
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| parse(line.trim_ascii()).is_some_and(|(_, rest)| rest.is_empty()))
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut lines = Lines::new(input);
    let mut begun = Begun::default();
    let mut current = None;
    let mut number = 0;
    while let Some(mut block) = lines.block()? {
        while !block.is_empty() {
            number += 1;
            match parse(block) {
                Some((operation, rest)) => {
                    block = rest;
                    take(operation, number, &mut current, &mut begun, &mut builder)?;
                }
                None => {
                    let end = memchr::memchr(b'\n', block).map_or(block.len(), |end| end + 1);
                    let (line, rest) = block.split_at(end);
                    if !line.trim_ascii().is_empty() {
                        return Err(ReadError::malformed(
                            Place::line(number),
                            EXPECTED,
                            excerpt(line.trim_ascii_end()),
                        ));
                    }
                    block = rest;
                }
            }
        }
    }
    drop((begun, lines));
    Ok(builder.finish()?)
}

/// Adds an operation to its transaction, which the line before may have been of, too.
#[inline]
fn take(
    operation: Operation,
    number: u64,
    current: &mut Option<(i64, i64)>,
    begun: &mut Begun,
    builder: &mut HistoryBuilder,
) -> Result<(), ReadError> {
    if *current != Some((operation.session, operation.txn)) {
        *current = Some((operation.session, operation.txn));
        builder.status()?;
        if let Some(txn) = begun.get(operation.txn) {
            if builder.session_name(txn) != Name::Int(operation.session) {
                return Err(ReadError::malformed(
                    Place::line(number),
                    format!(
                        "transaction {} in session {}, where line {} put it",
                        operation.txn,
                        builder.session_name(txn),
                        builder.line(txn)
                    ),
                    format!("session {}", operation.session),
                ));
            }
            builder.resume(txn);
        } else {
            let txn = builder.begin(Name::Int(operation.session));
            builder.set_line(number);
            builder.set_label(operation.txn);
            if operation.txn == ABORTED {
                builder.set_outcome(Outcome::Aborted);
            } else {
                begun.insert(operation.txn, txn);
            }
        }
    }
    let (key, value) = (Name::Int(operation.key), Datum::Int(operation.value));
    if operation.is_write {
        builder.write(key, value);
    } else {
        builder.read(key, value);
    }
    Ok(())
}

/// The transactions met so far. Most files number them densely, so that an array will do.
#[derive(Default)]
struct Begun {
    dense: Vec<u32>,
    sparse: FxHashMap<i64, TxnId>,
    count: usize,
}

const ABSENT: u32 = u32::MAX;

impl Begun {
    fn get(&self, id: i64) -> Option<TxnId> {
        let dense = usize::try_from(id).ok().and_then(|index| self.dense.get(index));
        match dense {
            Some(&txn) if txn != ABSENT => Some(TxnId(txn)),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&id).copied(),
        }
    }

    fn insert(&mut self, id: i64, txn: TxnId) {
        self.count += 1;
        match usize::try_from(id) {
            Ok(index) if index < 4 * self.count + 1024 => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, ABSENT);
                }
                self.dense[index] = txn.0;
            }
            _ => drop(self.sparse.insert(id, txn)),
        }
    }
}

struct Operation {
    is_write: bool,
    key: i64,
    value: i64,
    session: i64,
    txn: i64,
}

/// The operation on the first line, and what comes after that line.
#[inline]
fn parse(block: &[u8]) -> Option<(Operation, &[u8])> {
    let is_write = match block.first_chunk()? {
        b"w(" => true,
        b"r(" => false,
        _ => return None,
    };
    let mut rest = &block[2..];
    let key = number(&mut rest, b',')?;
    let value = number(&mut rest, b',')?;
    let session = number(&mut rest, b',')?;
    let txn = number(&mut rest, b')')?;
    let rest = match rest {
        [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => rest,
        _ => {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            if !rest[..end].trim_ascii().is_empty() {
                return None;
            }
            &rest[(end + 1).min(rest.len())..]
        }
    };
    Some((Operation { is_write, key, value, session, txn }, rest))
}

/// A number, the byte after it, and the rest.
#[inline(always)]
fn number(rest: &mut &[u8], end: u8) -> Option<i64> {
    // Eight digits at once, without a branch for each: numbers are short, and of unpredictable length.
    let (number, length) = match digits(rest)? {
        (high, 8) => {
            let (low, length) = digits(&rest[8..])?;
            if length == 8 {
                return long_number(rest, end);
            }
            (high * POWERS[length] + low, 8 + length)
        }
        short => short,
    };
    if length == 0 || rest[length] != end {
        return long_number(rest, end);
    }
    *rest = &rest[length + 1..];
    Some(number as i64)
}

const POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The number that the first up to eight bytes begin with, and how many digits it has. The input is padded with zeros.
#[inline(always)]
fn digits(bytes: &[u8]) -> Option<(u64, usize)> {
    let word = match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    };
    let digits = word ^ 0x3030_3030_3030_3030;
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let length = others.trailing_zeros() as usize / 8;
    if length == bytes.len() {
        return None;
    }
    let mut number = if length == 0 { 0 } else { digits << (64 - 8 * length) };
    number = (number.wrapping_mul(10) + (number >> 8)) & 0x00ff_00ff_00ff_00ff;
    number = (number.wrapping_mul(100) + (number >> 16)) & 0x0000_ffff_0000_ffff;
    number = number.wrapping_mul(10_000).wrapping_add(number >> 32);
    Some((number & 0xffff_ffff, length))
}

/// A number with a sign, or of more than fifteen digits.
fn long_number(rest: &mut &[u8], end: u8) -> Option<i64> {
    let bytes = *rest;
    let first = usize::from(bytes.first() == Some(&b'-'));
    let length = bytes[first..].iter().take_while(|b| b.is_ascii_digit()).count();
    if length == 0 || bytes.get(first + length) != Some(&end) {
        return None;
    }
    *rest = &bytes[first + length + 1..];
    std::str::from_utf8(&bytes[..first + length]).ok()?.parse().ok()
}

/// Writes `text`. It holds committed and aborted transactions of plain reads and writes of numbers; anything else is refused.
pub struct TextWriter<W> {
    out: W,
    next: i64,
    line: Vec<u8>,
}

impl<W: Write> TextWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        TextWriter { out, next: 0, line: Vec::new() }
    }
}

impl<W: Write> Sink for TextWriter<W> {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let cannot =
            |what: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("format text cannot hold {what}"));
        let txn = match record.outcome {
            Outcome::Committed => {
                self.next += 1;
                self.next - 1
            }
            Outcome::Aborted => ABORTED,
            Outcome::Indeterminate => return Err(cannot("a transaction of unknown outcome")),
        };
        let Name::Int(session) = record.session else { return Err(cannot("a session that is not a number")) };
        for event in &record.events {
            let (kind, key, value) = match *event {
                NamedEvent::Read(key, value) => (b'r', key, value),
                NamedEvent::Write(_, Datum::Int(0)) => return Err(cannot("a write of 0, its initial value")),
                NamedEvent::Write(key, value) => (b'w', key, value),
                _ => return Err(cannot("other events than reads and writes")),
            };
            let Name::Int(key) = key else { return Err(cannot("a key that is not a number")) };
            let value = match value {
                Datum::Int(i) => i,
                Datum::Initial => 0,
                Datum::Text(_) => return Err(cannot("a value that is not a number")),
            };
            self.line.clear();
            self.line.extend_from_slice(&[kind, b'(']);
            for (number, end) in [(key, b','), (value, b','), (session, b','), (txn, b')')] {
                self.line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                self.line.push(end);
            }
            self.line.push(b'\n');
            self.out.write_all(&self.line)?;
        }
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read() {
        for i in [
            0,
            7,
            10,
            12,
            99,
            100,
            123,
            1234,
            12_345,
            123_456,
            1_234_567,
            12_345_678,
            123_456_789,
            i64::MAX,
            -1,
            i64::MIN,
        ] {
            for tail in ["", "w(1,", "1234567890"] {
                let text = format!("{i},{tail}");
                let mut rest = text.as_bytes();
                assert_eq!(number(&mut rest, b','), Some(i), "{text}");
                assert_eq!(rest, tail.as_bytes());
            }
        }
        for bad in ["", ",", "-,", "1", "1)", "12345678", "x1,", "1x,", "9223372036854775808,", "1 ,"] {
            assert_eq!(number(&mut bad.as_bytes(), b','), None, "{bad}");
        }
    }
}
