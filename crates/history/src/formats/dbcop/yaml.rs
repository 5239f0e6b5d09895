//! YAML of the structures of 2019, as people write it and serde prints it: block style, `events` before `success`.
//!
//! ```text
//! - - events:
//!     - write:    true
//!       variable: 0
//!       value:    1
//!       success:  true
//!     success:    true
//!   - events: []
//!     success: false
//! ```
//!
//! This is not a parser of YAML: a dash in the first column begins a session, a dash before `events` a transaction, a dash
//! below it an event. Whether `success` is the event's or the transaction's is told by its column.

use std::io::Read;

use super::number;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::Outcome;
use crate::formats::ReadError;
use crate::formats::lines::{Lines, excerpt};
use crate::names::Name;

pub(super) fn detect(head: &[u8]) -> bool {
    let mut lines = head.split(|&b| b == b'\n').map(without_comment).filter(|line| !line.is_empty() && *line != b"---");
    let first = match lines.next() {
        Some(b"-") => lines.next(),
        Some(line) if line.starts_with(b"-") => Some(line),
        _ => None,
    };
    let Some(first) = first.and_then(Line::parse) else { return false };
    first.dashes.iter().flatten().count() > 0 && first.key == b"events"
}

fn without_comment(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|&b| b == b'#').unwrap_or(line.len());
    line[..end].trim_ascii_end()
}

pub(super) fn read(input: impl Read, builder: &mut HistoryBuilder) -> Result<(), ReadError> {
    let mut lines = Lines::new(input);
    let mut reader = Reader { builder, session: 0, transaction: None, event: None };
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { break };
        let text = without_comment(line);
        if text.is_empty() || text == b"---" {
            continue;
        }
        let outcome = match Line::parse(text) {
            Some(line) => reader.line(&line, number),
            None => Err("`- - events:`, `- write: true` or such a line"),
        };
        outcome.map_err(|expected| ReadError::malformed(Place::line(number), expected, excerpt(line)))?;
        reader.builder.status()?;
    }
    let ended = reader.end_transaction();
    ended.map_err(|expected| ReadError::malformed(Place::line(lines.number()), expected, "the end of the file"))
}

/// A line: dashes, then perhaps a key and a value.
struct Line<'a> {
    /// The columns of the dashes.
    dashes: [Option<usize>; 3],
    column: usize,
    key: &'a [u8],
    value: &'a [u8],
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut dashes = [None; 3];
        let mut found = 0;
        let mut column = 0;
        loop {
            column += line[column..].iter().take_while(|&&b| b == b' ').count();
            let rest = &line[column..];
            if !(rest == b"-" || rest.starts_with(b"- ")) {
                break;
            }
            *dashes.get_mut(found)? = Some(column);
            found += 1;
            column += 1;
        }
        let rest = &line[column..];
        if rest.is_empty() {
            return Some(Line { dashes, column, key: rest, value: rest });
        }
        let colon = memchr::memchr(b':', rest)?;
        let value = &rest[colon + 1..];
        if !(value.is_empty() || value.starts_with(b" ")) {
            return None;
        }
        Some(Line { dashes, column, key: &rest[..colon], value: value.trim_ascii() })
    }
}

struct Reader<'b> {
    builder: &'b mut HistoryBuilder,
    session: i64,
    transaction: Option<Transaction>,
    event: Option<Event>,
}

struct Transaction {
    /// The column of `events`.
    column: usize,
    success: Option<bool>,
}

#[derive(Default)]
struct Event {
    write: Option<bool>,
    variable: Option<u64>,
    value: Option<u64>,
    success: Option<bool>,
}

impl Reader<'_> {
    fn line(&mut self, line: &Line<'_>, number: u64) -> Result<(), &'static str> {
        let begins_session = line.dashes[0] == Some(0);
        if begins_session {
            self.end_transaction()?;
            self.session += 1;
        }
        if line.key.is_empty() {
            return if begins_session && line.dashes[1].is_none() { Ok(()) } else { Err("`- events:` after a dash") };
        }
        if line.key == b"events" {
            let dashes = line.dashes.iter().flatten().count();
            if self.session == 0 || dashes != 1 + usize::from(begins_session) {
                return Err("`- - events:`, or `- events:` for another transaction of the session");
            }
            self.end_transaction()?;
            if !(line.value.is_empty() || line.value == b"[]") {
                return Err("`events:` and its events below, or `events: []`");
            }
            self.builder.begin(Name::Int(self.session));
            self.builder.set_line(number);
            self.transaction = Some(Transaction { column: line.column, success: None });
            return Ok(());
        }
        let transaction = self.transaction.as_mut().ok_or("`- - events:`")?;
        if line.dashes[0].is_none() && line.column == transaction.column {
            let success = flag(line.value);
            return match (line.key, success, transaction.success) {
                (b"success", Some(_), None) => {
                    transaction.success = success;
                    self.end_event()
                }
                _ => Err("`success: true` or `success: false`, once"),
            };
        }
        if transaction.success.is_some() {
            return Err("another transaction or session");
        }
        match line.dashes {
            [Some(dash), None, None] if dash >= transaction.column => {
                self.end_event()?;
                self.event = Some(Event::default());
            }
            [None, ..] if line.column > transaction.column => {}
            _ => return Err("an event, or the `success` of the transaction"),
        }
        let event = self.event.as_mut().ok_or("`- write: …`, the beginning of an event")?;
        let known = match line.key {
            b"write" => set(&mut event.write, flag(line.value)),
            b"variable" => set(&mut event.variable, digits(line.value)),
            b"value" => set(&mut event.value, digits(line.value)),
            b"success" => set(&mut event.success, flag(line.value)),
            _ => false,
        };
        if known { Ok(()) } else { Err("`write`, `variable`, `value` or `success`, each once, and its value") }
    }

    fn end_event(&mut self) -> Result<(), &'static str> {
        let Some(event) = self.event.take() else { return Ok(()) };
        let Event { write: Some(write), variable: Some(variable), value: Some(value), success: Some(success) } = event
        else {
            return Err("`write`, `variable`, `value` and `success` of the event before");
        };
        let (variable, value) = (number(variable), number(value));
        let key = variable.as_name().expect("a number has a name");
        let value = value.as_datum().expect("a number is a value");
        match (success, write) {
            (false, _) => {}
            (true, true) => self.builder.write(key, value),
            (true, false) => self.builder.read(key, value),
        }
        Ok(())
    }

    fn end_transaction(&mut self) -> Result<(), &'static str> {
        self.end_event()?;
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        match transaction.success {
            Some(true) => {}
            Some(false) => self.builder.set_outcome(Outcome::Aborted),
            None => return Err("`success` of the transaction before"),
        }
        Ok(())
    }
}

/// Whether there was no value, and there is one now.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    let fits = field.is_none() && value.is_some();
    *field = value;
    fits
}

fn flag(value: &[u8]) -> Option<bool> {
    match value {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

fn digits(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::load;
    use crate::Outcome;

    const EVENT: &str = "      - value: 1\n        write: true\n        variable: 0\n        success: true\n";

    #[test]
    fn sessions_transactions_and_events() {
        let text = format!(
            "---\n# x\n-\n  - events: # y\n{EVENT}    success: true\n  - events: []\n    success: false\n- - events:\n    success: true\n"
        );
        let history = load(text.as_bytes()).unwrap();
        let counts: Vec<usize> = history.sessions().map(|s| history.transactions_of(s).len()).collect();
        assert_eq!((counts, history.event_count()), (vec![2, 1], 1));
        assert_eq!(history.outcome(crate::TxnId(1)), Outcome::Aborted);
        assert_eq!(history.place(crate::TxnId(1)).line, 10);
    }

    #[test]
    fn bad_lines_are_refused() {
        let begin = "- - events:\n";
        for bad in [
            "- events:\n    success: true\n".to_string(),
            format!("{begin}{EVENT}"),
            format!("{begin}{EVENT}    success: maybe\n"),
            format!("{begin}{EVENT}    success: true\n    success: true\n"),
            format!("{begin}{EVENT}    success: true\n{EVENT}"),
            format!("{begin}{}    success: true\n", EVENT.replace("variable: 0", "variable: -1")),
            format!("{begin}{}    success: true\n", EVENT.replace("write: true", "value: 1")),
            format!("{begin}{}    success: true\n", EVENT.replace("        write: true\n", "")),
            format!("{begin}      write: true\n"),
            format!("{begin}x\n"),
            format!("{begin}- - - - a: 1\n"),
        ] {
            assert!(load(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
