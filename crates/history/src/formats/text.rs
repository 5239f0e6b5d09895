//! `text`: one operation a line, `r(key,value,session,txn)` or `w(key,value,session,txn)` (PolySI, Plume, AWDIT's `plume`).
//!
//! Transaction ids count in the whole file; their lines may be interrupted by other transactions. The id −1 marks an aborted
//! transaction: consecutive lines of it in one session are one. The value 0 is initial for keys to which nobody writes 0.

use std::io::{self, Read, Write};

use rustc_hash::FxHashMap;

use super::ReadError;
use super::lines::{Lines, excerpt};
use super::numbers::number;
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
    first.and_then(|line| parse_access(line)).and_then(|(_, rest)| parse_owner(rest)).is_some()
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut lines = Lines::new(input);
    let mut begun = Begun::default();
    // How the last line ended: the session, the transaction and the line feed. Most lines end like the one before.
    let mut tail = Vec::new();
    let mut number = 0;
    while let Some(mut block) = lines.block()? {
        while !block.is_empty() {
            number += 1;
            let Some((access, end)) = parse_access(block) else {
                block = skip_blank(block, number)?;
                continue;
            };
            let same = !tail.is_empty() && end.starts_with(&tail) && end.get(tail.len()) == Some(&b'\n');
            if !same {
                let Some((owner, rest)) = parse_owner(end) else {
                    block = skip_blank(block, number)?;
                    continue;
                };
                tail.clear();
                // A last line without a line feed could be the beginning of any.
                tail.extend_from_slice(end[..end.len() - rest.len()].strip_suffix(b"\n").unwrap_or(&[]));
                enter(owner, number, &mut begun, &mut builder)?;
                block = rest;
            } else {
                block = &end[tail.len() + 1..];
            }
            let (key, value) = (Name::Int(access.key), Datum::Int(access.value));
            if access.is_write {
                builder.write(key, value);
            } else {
                builder.read(key, value);
            }
        }
    }
    drop((begun, lines));
    Ok(builder.finish()?)
}

/// What comes after a line that is no operation: it must be blank.
fn skip_blank(block: &[u8], number: u64) -> Result<&[u8], ReadError> {
    let end = memchr::memchr(b'\n', block).map_or(block.len(), |end| end + 1);
    let (line, rest) = block.split_at(end);
    if line.trim_ascii().is_empty() {
        return Ok(rest);
    }
    Err(ReadError::malformed(Place::line(number), EXPECTED, excerpt(line.trim_ascii_end())))
}

/// Goes to a transaction, which is new or was begun before.
fn enter(owner: Owner, number: u64, begun: &mut Begun, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    builder.status()?;
    if owner.txn == ABORTED {
        // All aborted transactions have this number; consecutive lines of a session are one.
        if builder.last_is(Name::Int(owner.session), Outcome::Aborted) {
            return Ok(());
        }
    } else if let Some(txn) = begun.get(owner.txn) {
        if builder.session_name(txn) != Name::Int(owner.session) {
            return Err(ReadError::malformed(
                Place::line(number),
                format!(
                    "transaction {} in session {}, where line {} put it",
                    owner.txn,
                    builder.session_name(txn),
                    builder.line(txn)
                ),
                format!("session {}", owner.session),
            ));
        }
        builder.resume(txn);
        return Ok(());
    }
    let txn = builder.begin(Name::Int(owner.session));
    builder.set_line(number);
    builder.set_label(owner.txn);
    if owner.txn == ABORTED {
        builder.set_outcome(Outcome::Aborted);
    } else {
        begun.insert(owner.txn, txn);
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

struct Access {
    is_write: bool,
    key: i64,
    value: i64,
}

struct Owner {
    session: i64,
    txn: i64,
}

/// The first half of a line, and what comes after it.
#[inline]
fn parse_access(block: &[u8]) -> Option<(Access, &[u8])> {
    let is_write = match block.first_chunk()? {
        b"w(" => true,
        b"r(" => false,
        _ => return None,
    };
    let mut rest = &block[2..];
    let key = number(&mut rest, b',')?;
    let value = number(&mut rest, b',')?;
    Some((Access { is_write, key, value }, rest))
}

/// The second half of a line, and what comes after the line.
fn parse_owner(mut rest: &[u8]) -> Option<(Owner, &[u8])> {
    let session = number(&mut rest, b',')?;
    let txn = number(&mut rest, b')')?;
    let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    let (blank, rest) = rest.split_at(end);
    blank.trim_ascii().is_empty().then_some((Owner { session, txn }, rest))
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
