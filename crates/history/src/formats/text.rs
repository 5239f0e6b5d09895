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
    first.is_some_and(|line| parse(line.trim_ascii()).is_some())
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut lines = Lines::new(input);
    let mut begun: FxHashMap<i64, Begun> = FxHashMap::default();
    let mut current = None;
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { break };
        let Some(operation) = parse(line) else {
            if line.trim_ascii().is_empty() {
                continue;
            }
            return Err(ReadError::malformed(Place::line(number), EXPECTED, excerpt(line)));
        };
        if current != Some((operation.session, operation.txn)) {
            current = Some((operation.session, operation.txn));
            builder.status()?;
            if let Some(known) = begun.get(&operation.txn) {
                if known.session != operation.session {
                    return Err(ReadError::malformed(
                        Place::line(number),
                        format!(
                            "transaction {} in session {}, where line {} put it",
                            operation.txn, known.session, known.line
                        ),
                        format!("session {}", operation.session),
                    ));
                }
                builder.resume(known.txn);
            } else {
                let txn = builder.begin(Name::Int(operation.session));
                builder.set_line(number);
                builder.set_label(operation.txn);
                if operation.txn == ABORTED {
                    builder.set_outcome(Outcome::Aborted);
                } else {
                    begun.insert(operation.txn, Begun { txn, session: operation.session, line: number });
                }
            }
        }
        let (key, value) = (Name::Int(operation.key), Datum::Int(operation.value));
        if operation.is_write {
            builder.write(key, value);
        } else {
            builder.read(key, value);
        }
    }
    drop((begun, lines));
    Ok(builder.finish()?)
}

struct Begun {
    txn: TxnId,
    session: i64,
    line: u64,
}

struct Operation {
    is_write: bool,
    key: i64,
    value: i64,
    session: i64,
    txn: i64,
}

#[inline]
fn parse(line: &[u8]) -> Option<Operation> {
    let (&kind, rest) = line.split_first()?;
    let is_write = match kind {
        b'w' => true,
        b'r' => false,
        _ => return None,
    };
    let mut rest = rest.strip_prefix(b"(")?;
    let key = number(&mut rest, b',')?;
    let value = number(&mut rest, b',')?;
    let session = number(&mut rest, b',')?;
    let txn = number(&mut rest, b')')?;
    rest.trim_ascii().is_empty().then_some(Operation { is_write, key, value, session, txn })
}

/// A number, the byte after it, and the rest.
#[inline]
fn number(rest: &mut &[u8], end: u8) -> Option<i64> {
    let bytes = *rest;
    let negative = bytes.first() == Some(&b'-');
    let digits = usize::from(negative);
    let mut at = digits;
    let mut number: i64 = 0;
    while let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        number = number.checked_mul(10)?.checked_add(i64::from(digit))?;
        at += 1;
    }
    if at == digits || bytes.get(at) != Some(&end) {
        return None;
    }
    *rest = &bytes[at + 1..];
    Some(if negative { -number } else { number })
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
