//! `hist`: a notation for people and tests, a session a line.
//!
//! ```text
//! # alice sees bob's write
//! alice: [r(x,_) w(x,1)] [r(y,"two words")]@10..20
//! bob:   [w(y,"two words")]! [append(z,1)]? [list(z,[1])]@10..12..18..20
//! carol: [insert(k,1) delete(k,2) range(a,m,[k=2]) cas(c,1,2) cas(c,1,3)!]
//! ```
//!
//! `_` is the initial state, `[…]!` aborted, `[…]?` indeterminate, `cas(…)!` failed. Times are `@start..finish` or
//! `@start..began..committing..finish`, each of which may be left empty. ` / ` may stand for the line break. A session
//! may be continued on a later line.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};

use rustc_hash::FxHashMap;

use super::ReadError;
use super::json::{Cursor, Scalar, Unexpected, write_string};
use super::lines::Lines;
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::{Outcome, Times};
use crate::history::History;
use crate::names::{Datum, Name};
use crate::record::{NamedEvent, Record, Sink};

pub(super) fn detect(head: &[u8]) -> bool {
    let lines = head.split(|&b| b == b'\n');
    let first = lines.map(|line| code(line).trim_ascii()).find(|line| !line.is_empty());
    first.is_some_and(|line| {
        let mut parser = Parser { cursor: Cursor::new(line), line };
        parser.scalar().is_ok() && parser.cursor.take(b':') && matches!(parser.cursor.peek(), b'[' | b'/' | 0)
    })
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    let mut lines = Lines::new(input);
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { break };
        let line = code(line);
        let mut parser = Parser { cursor: Cursor::new(line), line };
        let outcome = parser.sessions(number, &mut builder);
        outcome.map_err(|wrong| wrong.in_bytes(line, Place::line(number)))?;
        builder.status()?;
    }
    Ok(builder.finish()?)
}

/// A line without its comment. A `#` within quotes is no comment.
fn code(line: &[u8]) -> &[u8] {
    let mut quoted = false;
    let mut escaped = false;
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            b'#' if !quoted => return &line[..at],
            b'"' if !escaped => quoted = !quoted,
            _ => {}
        }
        escaped = quoted && byte == b'\\' && !escaped;
    }
    line
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    line: &'a [u8],
}

const NAME: &str = "a name: an integer, a word or a quoted string";
const EVENT: &str = "an event: r, w, append, list, insert, delete, range or cas";

impl<'a> Parser<'a> {
    fn sessions(&mut self, number: u64, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
        while self.cursor.peek() != 0 || self.cursor.position() < self.line.len() {
            if self.cursor.take(b'/') {
                continue;
            }
            let at = self.cursor;
            let session = self.scalar()?;
            let session = session.as_name().ok_or_else(|| at.unexpected(NAME))?;
            self.cursor.expect(b':', "`:` after the name of a session")?;
            while self.cursor.take(b'[') {
                builder.begin(session);
                builder.set_line(number);
                self.transaction(builder)?;
            }
            if !matches!(self.cursor.peek(), 0 | b'/') {
                return Err(self.cursor.unexpected("a transaction `[…]`, ` / ` or the end of the line"));
            }
        }
        Ok(())
    }

    fn transaction(&mut self, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
        while !self.cursor.take(b']') {
            self.event(builder)?;
        }
        loop {
            if self.cursor.take(b'!') {
                builder.set_outcome(Outcome::Aborted);
            } else if self.cursor.take(b'?') {
                builder.set_outcome(Outcome::Indeterminate);
            } else if self.cursor.take(b'@') {
                builder.set_times(self.times()?);
            } else {
                return Ok(());
            }
        }
    }

    fn times(&mut self) -> Result<Times, Unexpected> {
        let mut times = Vec::new();
        loop {
            let given = matches!(self.cursor.peek(), b'-' | b'0'..=b'9');
            times.push(if given { Some(self.time()?) } else { None });
            if !self.dots() {
                break;
            }
        }
        match times[..] {
            [start, finish] => Ok(Times { start, finish, ..Times::default() }),
            [start, began, committing, finish] => Ok(Times { start, began, committing, finish }),
            _ => Err(self.cursor.unexpected("times: `@start..finish` or `@start..began..committing..finish`")),
        }
    }

    /// A number that may be followed by the two dots of a range, which the JSON cursor would take for a fraction.
    fn time(&mut self) -> Result<i64, Unexpected> {
        let start = self.cursor.position();
        let rest = &self.line[start..];
        let length = rest.iter().take_while(|b| matches!(b, b'-' | b'0'..=b'9')).count();
        let number = Cursor::new(&rest[..length]).int("a time");
        self.cursor.advance(length);
        number.map_err(|_| Unexpected::at(start, "a time: an integer"))
    }

    fn dots(&mut self) -> bool {
        let dots = self.line[self.cursor.position()..].starts_with(b"..");
        if dots {
            self.cursor.advance(2);
        }
        dots
    }

    /// A number, a word, a quoted string, or `_`.
    fn scalar(&mut self) -> Result<Scalar<'a>, Unexpected> {
        if self.cursor.peek() == b'"' {
            return self.cursor.string(NAME).map(Scalar::Text);
        }
        let start = self.cursor.position();
        let rest = &self.line[start.min(self.line.len())..];
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'-' | b'.' | b'+' | b'$' | 0x80..);
        let word = &rest[..rest.iter().take_while(is_word).count()];
        self.cursor.advance(word.len());
        let text = std::str::from_utf8(word).map_err(|_| Unexpected::at(start, "text in UTF-8"))?;
        match text {
            "" => Err(Unexpected::at(start, NAME)),
            "_" => Ok(Scalar::Null),
            _ if text.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit()) => {
                let number = text.parse().map_err(|_| Unexpected::at(start, "an integer of at most 64 bits"))?;
                Ok(Scalar::Int(number))
            }
            _ => Ok(Scalar::Text(Cow::Borrowed(text))),
        }
    }

    fn comma(&mut self) -> Result<(), Unexpected> {
        self.cursor.expect(b',', "`,`")
    }

    fn event(&mut self, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
        let at = self.cursor;
        let Ok(Scalar::Text(kind)) = self.scalar() else { return Err(at.unexpected(EVENT)) };
        self.cursor.expect(b'(', "`(`")?;
        let key_at = self.cursor;
        let key = self.scalar()?;
        let key = key.as_name().ok_or_else(|| key_at.unexpected(NAME))?;
        self.comma()?;
        match kind.as_ref() {
            "r" | "w" | "append" | "insert" | "delete" => {
                let value = self.scalar()?;
                let value = value.as_datum().unwrap_or(Datum::Initial);
                match kind.as_ref() {
                    "r" => builder.read(key, value),
                    "w" => builder.write(key, value),
                    "append" => builder.append(key, value),
                    "insert" => builder.insert(key, value),
                    _ => builder.delete(key, value),
                }
            }
            "list" => {
                let mut elements = Vec::new();
                let mut more = self.cursor.open(b'[', b']', "a list: `[1,2]`")?;
                while more {
                    let element_at = self.cursor;
                    let element = self.scalar()?;
                    if element.as_name().is_none() {
                        return Err(element_at.unexpected("an element: an integer, a word or a quoted string"));
                    }
                    elements.push(element);
                    more = self.cursor.more(b']')?;
                }
                builder.read_list(key, elements.iter().filter_map(Scalar::as_datum));
            }
            "range" => {
                let hi_at = self.cursor;
                let hi = self.scalar()?;
                let hi = hi.as_name().ok_or_else(|| hi_at.unexpected(NAME))?;
                self.comma()?;
                let mut rows = Vec::new();
                let mut more = self.cursor.open(b'[', b']', "rows: `[key=value,…]`")?;
                while more {
                    let row_at = self.cursor;
                    let row = self.scalar()?;
                    if row.as_name().is_none() {
                        return Err(row_at.unexpected(NAME));
                    }
                    self.cursor.expect(b'=', "`=`")?;
                    rows.push((row, self.scalar()?));
                    more = self.cursor.more(b']')?;
                }
                builder.range(
                    key,
                    hi,
                    rows.iter().filter_map(|(key, value)| Some((key.as_name()?, value.as_datum()?))),
                );
            }
            "cas" => {
                let expected = self.scalar()?;
                self.comma()?;
                let new = self.scalar()?;
                self.cursor.expect(b')', "`)`")?;
                let succeeded = !self.cursor.take(b'!');
                let (expected, new) = (expected.as_datum(), new.as_datum());
                builder.compare_and_set(
                    key,
                    expected.unwrap_or(Datum::Initial),
                    new.unwrap_or(Datum::Initial),
                    succeeded,
                );
                return Ok(());
            }
            _ => return Err(at.unexpected(EVENT)),
        }
        self.cursor.expect(b')', "`)`")
    }
}

/// Writes `hist`. Sessions are lines, so everything is held until the end.
pub struct HistWriter<W> {
    out: W,
    lines: Vec<Vec<u8>>,
    sessions: FxHashMap<Vec<u8>, usize>,
}

impl<W: Write> HistWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        HistWriter { out, lines: Vec::new(), sessions: FxHashMap::default() }
    }
}

impl<W: Write> Sink for HistWriter<W> {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let mut name = Vec::new();
        write_name(&mut name, record.session);
        let index = *self.sessions.entry(name).or_insert_with_key(|name| {
            self.lines.push([name, &b":"[..]].concat());
            self.lines.len() - 1
        });
        write_transaction(&mut self.lines[index], record);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        for line in &self.lines {
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

fn write_transaction(line: &mut Vec<u8>, record: &Record<'_>) {
    line.extend_from_slice(b" [");
    for (i, event) in record.events.iter().enumerate() {
        if i > 0 {
            line.push(b' ');
        }
        write_event(line, event);
    }
    line.push(b']');
    match record.outcome {
        Outcome::Committed => {}
        Outcome::Aborted => line.push(b'!'),
        Outcome::Indeterminate => line.push(b'?'),
    }
    let times = match record.times.in_order() {
        [None, None, None, None] => return,
        [start, None, None, finish] => vec![start, finish],
        all => all.to_vec(),
    };
    for (i, time) in times.into_iter().enumerate() {
        line.extend_from_slice(if i == 0 { b"@" } else { b".." });
        line.extend_from_slice(time.map(|t| t.to_string()).unwrap_or_default().as_bytes());
    }
}

fn write_event(line: &mut Vec<u8>, event: &NamedEvent<'_>) {
    let mut pair = |kind: &str, key: Name<'_>, value: Datum<'_>| {
        line.extend_from_slice(kind.as_bytes());
        line.push(b'(');
        write_name(line, key);
        line.push(b',');
        write_datum(line, value);
        line.push(b')');
    };
    match event {
        NamedEvent::Read(key, value) => pair("r", *key, *value),
        NamedEvent::Write(key, value) => pair("w", *key, *value),
        NamedEvent::Append(key, value) => pair("append", *key, *value),
        NamedEvent::Insert(key, value) => pair("insert", *key, *value),
        NamedEvent::Delete(key, value) => pair("delete", *key, *value),
        NamedEvent::ReadList(key, elements) => {
            line.extend_from_slice(b"list(");
            write_name(line, *key);
            line.extend_from_slice(b",[");
            for (i, element) in elements.iter().enumerate() {
                if i > 0 {
                    line.push(b',');
                }
                write_datum(line, *element);
            }
            line.extend_from_slice(b"])");
        }
        NamedEvent::Range { lo, hi, rows } => {
            line.extend_from_slice(b"range(");
            write_name(line, *lo);
            line.push(b',');
            write_name(line, *hi);
            line.extend_from_slice(b",[");
            for (i, (key, value)) in rows.iter().enumerate() {
                if i > 0 {
                    line.push(b',');
                }
                write_name(line, *key);
                line.push(b'=');
                write_datum(line, *value);
            }
            line.extend_from_slice(b"])");
        }
        NamedEvent::CompareAndSet { key, expected, new, succeeded } => {
            line.extend_from_slice(b"cas(");
            write_name(line, *key);
            for value in [*expected, *new] {
                line.push(b',');
                write_datum(line, value);
            }
            line.extend_from_slice(if *succeeded { b")" } else { b")!" });
        }
    }
}

/// An event in this notation.
impl fmt::Display for NamedEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        write_event(&mut text, self);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

fn write_name(line: &mut Vec<u8>, name: Name<'_>) {
    match name {
        Name::Int(i) => line.extend_from_slice(i.to_string().as_bytes()),
        Name::Text(text) => write_text(line, text),
    }
}

fn write_datum(line: &mut Vec<u8>, datum: Datum<'_>) {
    match datum {
        Datum::Initial => line.push(b'_'),
        Datum::Int(i) => line.extend_from_slice(i.to_string().as_bytes()),
        Datum::Text(text) => write_text(line, text),
    }
}

/// A text that would read as a number, as `_` or as several words is quoted.
fn write_text(line: &mut Vec<u8>, text: &str) {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
        && text.bytes().any(|b| b.is_ascii_alphabetic());
    if plain {
        line.extend_from_slice(text.as_bytes());
    } else {
        write_string(line, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Format, ReadOptions, Source, write};

    fn parse(text: &str) -> Result<History, ReadError> {
        let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
        crate::formats::read(Source::Stream(Box::new(text.as_bytes())), options)
    }

    #[test]
    fn every_event_comes_back() {
        let text = "alice: [r(x,_) w(x,1)] [r(y,\"two words\")]@10..20\n\
                    bob: [w(y,\"two words\")]! [append(z,1)]? [list(z,[1])]@10..12..18..20 []@5..\n\
                    carol: [insert(k,1) delete(k,2) range(a,m,[k=2]) cas(c,_,2) cas(c,_,3)!]\n";
        let history = parse(text).unwrap();
        let mut out = Vec::new();
        write(&history, Format::Hist, &mut out).unwrap().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn slashes_stand_for_line_breaks_and_comments_end_lines() {
        let history = parse("s1: [w(x,1)] / s2: [r(x,1)] [] # s3: [").unwrap();
        assert_eq!((history.sessions().len(), history.transaction_count()), (2, 3));
    }

    #[test]
    fn errors_say_what_was_expected() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert_eq!(
            message("s1: [w(x,1)]\ns2: [q(x,1)]"),
            "line 2: expected an event: r, w, append, list, insert, delete, range or cas, found `q(x,1)]`"
        );
        assert_eq!(
            message("s1: [w(x,1)"),
            "line 1: expected an event: r, w, append, list, insert, delete, range or cas, found the end of the input"
        );
        assert_eq!(
            message("s1: [w(x,1)] / s2: [r(x,_)] [w(x,1)]"),
            "line 1 (session s2, transaction 2): writes 1 to key x, which line 1 (session s1, transaction 1) also writes; \
             every write of a key needs its own value"
        );
    }
}
