//! `awdit`: the text in which AWDIT keeps its tests.
//!
//! ```text
//! w 0 1
//! -----
//! r 0 1
//! w 1 1
//! =====
//! r 1 1
//! ```
//!
//! One operation a line, `r key value` or `w key value`. A line of dashes ends a transaction, a line of equals signs ends
//! a session and its transaction, and so does the end of the file. As in AWDIT, transactions and sessions without
//! operations do not count, and sessions are numbered from 0. The value 0 is initial for keys to which nobody writes 0.

use std::io::Read;

use super::ReadError;
use super::lines::{Lines, excerpt};
use crate::builder::{HistoryBuilder, InitialRule};
use crate::error::Place;
use crate::history::History;
use crate::names::{Datum, Name};

const EXPECTED: &str = "`r key value`, `w key value`, `-----` or `=====`";

pub(super) fn detect(head: &[u8]) -> bool {
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty());
    matches!(first.and_then(parse), Some(Line::Operation { .. }))
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut lines = Lines::new(input);
    let mut session = 0;
    let (mut session_is_empty, mut transaction_is_empty) = (true, true);
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { break };
        match parse(line) {
            Some(Line::Operation { is_write, key, value }) => {
                if transaction_is_empty {
                    builder.status()?;
                    builder.begin(Name::Int(session));
                    builder.set_line(number);
                    (session_is_empty, transaction_is_empty) = (false, false);
                }
                if is_write {
                    builder.write(Name::Int(key), Datum::Int(value));
                } else {
                    builder.read(Name::Int(key), Datum::Int(value));
                }
            }
            Some(Line::EndOfTransaction) => transaction_is_empty = true,
            Some(Line::EndOfSession) => {
                session += i64::from(!session_is_empty);
                (session_is_empty, transaction_is_empty) = (true, true);
            }
            None if line.trim_ascii().is_empty() => {}
            None => return Err(ReadError::malformed(Place::line(number), EXPECTED, excerpt(line))),
        }
    }
    drop(lines);
    Ok(builder.finish()?)
}

enum Line {
    Operation { is_write: bool, key: i64, value: i64 },
    EndOfTransaction,
    EndOfSession,
}

fn parse(line: &[u8]) -> Option<Line> {
    let line = line.trim_ascii();
    let only = |byte: u8| line.iter().all(|&b| b == byte);
    match line.first()? {
        b'-' if only(b'-') => return Some(Line::EndOfTransaction),
        b'=' if only(b'=') => return Some(Line::EndOfSession),
        _ => {}
    }
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_write = match words.next()? {
        b"w" => true,
        b"r" => false,
        _ => return None,
    };
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<i64>().ok();
    let (key, value) = (number()?, number()?);
    words.next().is_none().then_some(Line::Operation { is_write, key, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<History, ReadError> {
        read(text.as_bytes(), HistoryBuilder::new())
    }

    #[test]
    fn the_end_of_the_file_ends_a_session() {
        for end in ["", "\n", "\n\n", "\n-----", "\n=====\n", "\n-----\n=====\n"] {
            let history = load(&format!("w 0 1\n-----\nr 0 1\nw 1 1\n=====\nr 1 1{end}")).unwrap();
            let counts: Vec<usize> = history.sessions().map(|s| history.transactions_of(s).len()).collect();
            assert_eq!(counts, [2, 1], "{end:?}");
            assert_eq!(history.event_count(), 4);
        }
        assert_eq!(load("").unwrap().transaction_count(), 0);
    }

    #[test]
    fn empty_transactions_and_sessions_do_not_count() {
        let history = load("=====\n\n-----\nw 0 1\r\n-----\n-----\n=====\n=====\nr 0 0\n").unwrap();
        assert_eq!((history.sessions().len(), history.transaction_count()), (2, 2));
        assert_eq!(history.place(history.transactions().next().unwrap()).line, 4);
    }

    #[test]
    fn bad_lines_are_named() {
        for bad in ["w 0", "w 0 1 2", "x 0 1", "w 0 x", "--=", "w(0,1,2,3)", "w 0 99999999999999999999"] {
            let error = load(&format!("w 0 1\n{bad}\n")).unwrap_err().to_string();
            assert_eq!(error, format!("line 2: expected {EXPECTED}, found `{bad}`"));
        }
    }

    #[test]
    fn detection() {
        assert!(detect(b"\n r 12 0\nr 60"));
        for other in ["", "-----\n", "w(1,2,3,4)", "{}", "w 1"] {
            assert!(!detect(other.as_bytes()), "{other}");
        }
    }
}
