//! `cobra`: a directory of Cobra's logs, one file `T<n>.log` for each client thread, which is a session.
//!
//! A log is a row of records, each a tag byte and big-endian numbers of 8 bytes:
//!
//! ```text
//! S txn                            the transaction begins
//! W write_id key value             it wrote; key and value are hashes
//! R writer_txn write_id key value  it read what that write wrote
//! C txn                            it committed
//! A txn                            it aborted (Cobra's own clients leave such transactions out)
//! ```
//!
//! A read names the write that it saw, so a version is known by its write id, not by the hash of its value, which need not
//! be unique. Writer or write id 0xbebeebee (loaded before the run) and 0xdeadbeef (no such key) mean the initial state.
//! A read of a write that no log holds is a read out of thin air, as in every format.
//!
//! A transaction that neither commits nor aborts before the next one begins, or before the log ends, is indeterminate: the
//! client wrote down no outcome. A log that ends in the middle of a record is refused. Numbers are signed, as in Java.

use std::io::Read;

use super::ReadError;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::Outcome;
use crate::history::History;
use crate::names::{Datum, Name};

const LOADED: i64 = 0xbebe_ebee;
const ABSENT: i64 = 0xdead_beef;

pub(super) fn read(
    files: Vec<(String, Box<dyn Read + '_>)>,
    mut builder: HistoryBuilder,
) -> Result<History, ReadError> {
    for (name, input) in files {
        builder.set_file(&name);
        let mut log = Log { name: &name, input, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0 };
        log.read(&mut builder)?;
    }
    Ok(builder.finish()?)
}

/// The session of a log by its file's name: the number in `T12.log`, or the whole name.
pub(super) fn session_of_file(file: &str, letter: char) -> Name<'_> {
    let number = file.strip_prefix(letter).and_then(|rest| rest.strip_suffix(".log"));
    match number.and_then(|digits| digits.parse::<i64>().ok().filter(|i| i.to_string() == digits)) {
        Some(i) => Name::Int(i),
        None => Name::Text(file),
    }
}

const CHUNK: usize = 1 << 16;

struct Log<'f, R> {
    name: &'f str,
    input: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the file the buffer begins.
    offset: u64,
}

impl<R: Read> Log<'_, R> {
    fn read(&mut self, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
        let session = session_of_file(self.name, 'T');
        let mut current: Option<i64> = None;
        loop {
            if !self.has(1)? {
                break;
            }
            let tag = self.buffer[self.start];
            let numbers = match tag {
                b'S' | b'C' | b'A' => 1,
                b'W' => 3,
                b'R' => 4,
                _ => {
                    return Err(
                        self.unexpected("a record that begins with S, W, R, C or A", &format!("byte {tag:#04x}"))
                    );
                }
            };
            if !self.has(1 + 8 * numbers)? {
                let rest = self.end - self.start;
                return Err(self.unexpected(
                    &format!("a record {} of {} bytes", char::from(tag), 1 + 8 * numbers),
                    &format!("{rest} bytes and the end of the file"),
                ));
            }
            let mut fields = [0; 4];
            for (field, bytes) in fields.iter_mut().zip(self.buffer[self.start + 1..][..8 * numbers].chunks_exact(8)) {
                *field = i64::from_be_bytes(bytes.try_into().expect("chunks of 8 bytes"));
            }
            match (tag, current) {
                (b'S', _) => {
                    builder.status()?;
                    current = Some(fields[0]);
                    builder.begin(session);
                    builder.set_label(fields[0]);
                    builder.set_outcome(Outcome::Indeterminate);
                }
                (b'C' | b'A', Some(txn)) if txn == fields[0] => {
                    builder.set_outcome(if tag == b'C' { Outcome::Committed } else { Outcome::Aborted });
                    current = None;
                }
                (b'C' | b'A', Some(txn)) => {
                    return Err(self.unexpected(&format!("the end of transaction {txn}"), &format!("of {}", fields[0])));
                }
                (_, None) => {
                    return Err(
                        self.unexpected("a record S, which begins a transaction", &format!("{}", char::from(tag)))
                    );
                }
                (b'W', Some(_)) => builder.write(Name::Int(fields[1]), Datum::Int(fields[0])),
                (_, Some(_)) => {
                    let initial = fields[..2].iter().any(|&field| field == LOADED || field == ABSENT);
                    let value = if initial { Datum::Initial } else { Datum::Int(fields[1]) };
                    builder.read(Name::Int(fields[2]), value);
                }
            }
            self.start += 1 + 8 * numbers;
        }
        Ok(())
    }

    /// Whether at least this many bytes follow; if so they are in the buffer.
    fn has(&mut self, bytes: usize) -> Result<bool, ReadError> {
        while self.end - self.start < bytes {
            self.buffer.copy_within(self.start..self.end, 0);
            self.offset += self.start as u64;
            self.end -= self.start;
            self.start = 0;
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) => return Ok(false),
                result => self.end += result?,
            }
        }
        Ok(true)
    }

    fn unexpected(&self, expected: &str, found: &str) -> ReadError {
        let place = Place { file: Some(self.name.into()), line: 0 };
        ReadError::malformed(place, expected, format!("{found}, at byte {}", self.offset + self.start as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::FaultKind;

    fn record(tag: u8, numbers: &[i64]) -> Vec<u8> {
        std::iter::once(tag).chain(numbers.iter().flat_map(|n| n.to_be_bytes())).collect()
    }

    fn load(files: &[(&str, &[Vec<u8>])]) -> Result<History, ReadError> {
        let files = files
            .iter()
            .map(|(name, records)| {
                let input: Box<dyn Read> = Box::new(std::io::Cursor::new(records.concat()));
                (name.to_string(), input)
            })
            .collect();
        read(files, HistoryBuilder::new())
    }

    #[test]
    fn a_read_sees_the_write_that_it_names() {
        let history = load(&[
            ("T1.log", &[record(b'S', &[10]), record(b'W', &[7, -5, 99]), record(b'C', &[10])]),
            (
                "T12.log",
                &[
                    record(b'S', &[20]),
                    record(b'R', &[10, 7, -5, 99]),
                    record(b'R', &[LOADED, LOADED, 6, 1]),
                    record(b'R', &[ABSENT, ABSENT, 8, 0]),
                    record(b'R', &[30, 9, -5, 98]),
                    record(b'C', &[20]),
                ],
            ),
        ])
        .unwrap();
        assert_eq!((history.transaction_count(), history.event_count()), (2, 5));
        let reader = history.transactions().nth(1).unwrap();
        assert_eq!(history.transaction_name(reader).to_string(), "T20");
        assert_eq!(history.session_name(history.session_of(reader)), Name::Int(12));
        assert_eq!(history.place(reader).to_string(), "T12.log");
        let from: Vec<_> = history.derived().reads(reader).iter().map(|read| read.from()).collect();
        assert_eq!(from, [Some(crate::TxnId(0)), None, None]);
        let faults: Vec<FaultKind> = history.derived().faults().iter().map(|fault| fault.kind).collect();
        assert_eq!(faults, [FaultKind::NonRepeatable, FaultKind::ThinAir]);
    }

    #[test]
    fn outcomes_that_nobody_wrote_down_are_unknown() {
        let history = load(&[(
            "T1.log",
            &[
                record(b'S', &[1]),
                record(b'W', &[1, 1, 1]),
                record(b'S', &[2]),
                record(b'A', &[2]),
                record(b'S', &[3]),
                record(b'C', &[3]),
                record(b'S', &[4]),
            ],
        )])
        .unwrap();
        let outcomes: Vec<Outcome> = history.transactions().map(|txn| history.outcome(txn)).collect();
        use Outcome::*;
        assert_eq!(outcomes, [Indeterminate, Aborted, Committed, Indeterminate]);
    }

    #[test]
    fn broken_logs_are_refused_with_file_and_byte() {
        let begin = || record(b'S', &[1]);
        for (records, byte) in [
            (vec![record(b'W', &[1, 1, 1])], 0),
            (vec![record(b'C', &[1])], 0),
            (vec![begin(), record(b'C', &[2])], 9),
            (vec![begin(), record(b'X', &[1])], 9),
            (vec![begin(), record(b'W', &[1, 1])], 9),
            (vec![b"S".to_vec()], 0),
        ] {
            let error = load(&[("T7.log", &records)]).unwrap_err().to_string();
            assert!(error.starts_with("T7.log: expected ") && error.ends_with(&format!(", at byte {byte}")), "{error}");
        }
        assert_eq!(load(&[("T7.log", &[])]).unwrap().transaction_count(), 0);
    }

    #[test]
    fn sessions_are_named_by_their_files() {
        assert_eq!(session_of_file("T12.log", 'T'), Name::Int(12));
        for other in ["T012.log", "T.log", "J1.log", "T1", ""] {
            assert_eq!(session_of_file(other, 'T'), Name::Text(other));
        }
    }
}
