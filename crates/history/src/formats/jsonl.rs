//! `jsonl`: one transaction a line. The native format that any language can write.
//!
//! ```text
//! {"isonomy":1,"initial":0}
//! {"session":1,"status":"committed","start":10,"finish":20,"ops":[["r","x",null],["w","x",1]]}
//! ```
//!
//! The header is optional; fields come in any order, and unknown ones are left alone, so that recorders may add their own.

use std::io::{self, Read, Write};

use super::ReadError;
use super::json::{Cursor, Scalar, Unexpected, write_string};
use super::lines::Lines;
use super::numbers::number;
use crate::builder::{HistoryBuilder, InitialRule};
use crate::error::Place;
use crate::event::{Outcome, Times};
use crate::history::History;
use crate::names::{Datum, Name};
use crate::record::{NamedEvent, Record, Sink};

/// The version of the format that headers name.
const VERSION: i64 = 1;

pub(super) fn detect(head: &[u8]) -> bool {
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| line.trim_ascii_start().starts_with(b"{"))
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    let mut lines = Lines::new(input);
    let mut first = true;
    loop {
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { break };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let outcome = Line { first, number }.parse(line, &mut builder);
        outcome.map_err(|wrong| wrong.in_bytes(line, Place::line(number)))?;
        builder.status()?;
        first = false;
    }
    Ok(builder.finish()?)
}

struct Line {
    first: bool,
    number: u64,
}

impl Line {
    fn parse(&self, line: &[u8], builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
        let mut cursor = Cursor::new(line);
        let mut begun = false;
        let mut session = None;
        let mut outcome = Outcome::Committed;
        let mut times = Times::default();
        let mut ops = None;
        let mut more = cursor.open(b'{', b'}', "a transaction: `{\"session\":…,\"ops\":[…]}`")?;
        while more {
            let name_at = cursor;
            let name = cursor.field()?;
            match name.as_ref() {
                "session" => session = Some(cursor.scalar("a session: an integer or a string")?),
                "status" => outcome = status(&mut cursor)?,
                "start" => times.start = time(&mut cursor)?,
                "began" => times.began = time(&mut cursor)?,
                "committing" => times.committing = time(&mut cursor)?,
                "finish" => times.finish = time(&mut cursor)?,
                "isonomy" if self.first => return header(line, builder),
                "isonomy" => return Err(name_at.unexpected("a transaction (a header is the first line)")),
                "ops" => {
                    if ops.is_some() {
                        return Err(name_at.unexpected("one field `ops`"));
                    }
                    ops = Some(cursor);
                    // Usually the session comes first, and the events are read as they are met.
                    if let Some(session) = session.as_ref().and_then(Scalar::as_name) {
                        builder.begin(session);
                        begun = true;
                        events(&mut cursor, builder)?;
                    } else {
                        cursor.skip()?;
                    }
                }
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        cursor.expect_end()?;
        let Some(mut ops) = ops else { return Err(cursor.unexpected("the field `ops`")) };
        if !begun {
            let Some(session) = session.as_ref().and_then(Scalar::as_name) else {
                return Err(cursor.unexpected("the field `session`: an integer or a string"));
            };
            builder.begin(session);
            events(&mut ops, builder)?;
        }
        builder.set_line(self.number);
        builder.set_outcome(outcome);
        builder.set_times(times);
        Ok(())
    }
}

fn header(line: &[u8], builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
    let mut cursor = Cursor::new(line);
    let mut more = cursor.open(b'{', b'}', "a header")?;
    while more {
        match cursor.field()?.as_ref() {
            "isonomy" => {
                let at = cursor;
                if cursor.int("the version of the format")? != VERSION {
                    return Err(at.unexpected(format!("version {VERSION} of the format")));
                }
            }
            "initial" => {
                let at = cursor;
                match cursor.scalar("an initial value")? {
                    Scalar::Null => builder.set_initial(InitialRule::Absent),
                    Scalar::Int(i) => builder.set_initial(InitialRule::Declared(i)),
                    _ => return Err(at.unexpected("an initial value: null or an integer")),
                }
            }
            _ => cursor.skip()?,
        }
        more = cursor.more(b'}')?;
    }
    cursor.expect_end()
}

fn status(cursor: &mut Cursor<'_>) -> Result<Outcome, Unexpected> {
    let at = *cursor;
    match cursor.string("a status")?.as_ref() {
        "committed" => Ok(Outcome::Committed),
        "aborted" => Ok(Outcome::Aborted),
        "indeterminate" | "unknown" => Ok(Outcome::Indeterminate),
        _ => Err(at.unexpected("a status: committed, aborted or indeterminate")),
    }
}

fn time(cursor: &mut Cursor<'_>) -> Result<Option<i64>, Unexpected> {
    if cursor.peek() == b'n' {
        cursor.scalar("a time")?;
        return Ok(None);
    }
    cursor.int("a time: nanoseconds, an integer").map(Some)
}

fn events(cursor: &mut Cursor<'_>, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
    let mut more = cursor.open(b'[', b']', "an array of events")?;
    while more {
        while plain_event(cursor, builder) {}
        event(cursor, builder)?;
        more = cursor.more(b']')?;
    }
    Ok(())
}

/// Steps over a read or write of numbers that is spelt without spaces and followed by another event. Nearly all events of a large history
/// are so; whatever is not is left to [`event`], which also knows what to say of it.
#[inline]
fn plain_event(cursor: &mut Cursor<'_>, builder: &mut HistoryBuilder) -> bool {
    let rest = cursor.rest();
    let is_write = match rest.first_chunk() {
        Some(b"[\"w\",") => true,
        Some(b"[\"r\",") => false,
        _ => return false,
    };
    let mut after = &rest[5..];
    let Some(key) = number(&mut after, b',') else { return false };
    let value = match after.strip_prefix(b"null]") {
        Some(rest) => {
            after = rest;
            Datum::Initial
        }
        None => match number(&mut after, b']') {
            Some(value) => Datum::Int(value),
            None => return false,
        },
    };
    let Some(after) = after.strip_prefix(b",") else { return false };
    cursor.advance(rest.len() - after.len());
    if is_write {
        builder.write(Name::Int(key), value);
    } else {
        builder.read(Name::Int(key), value);
    }
    true
}

const KEY: &str = "a key: an integer or a string";
const VALUE: &str = "a value: an integer, a string or null";

fn event(cursor: &mut Cursor<'_>, builder: &mut HistoryBuilder) -> Result<(), Unexpected> {
    cursor.expect(b'[', "an event: `[\"r\",key,value]`")?;
    let at = *cursor;
    let kind = cursor.string("the kind of an event")?;
    cursor.expect(b',', "`,`")?;
    let key_at = *cursor;
    let key = cursor.scalar(KEY)?;
    let key = key.as_name().ok_or_else(|| key_at.unexpected(KEY))?;
    cursor.expect(b',', "`,`")?;
    match kind.as_ref() {
        "r" | "w" | "append" | "insert" | "delete" => {
            let value_at = *cursor;
            let value = cursor.scalar(VALUE)?;
            let value = value.as_datum().ok_or_else(|| value_at.unexpected(VALUE))?;
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
            let mut more = cursor.open(b'[', b']', "an array of elements")?;
            while more {
                elements.push(cursor.scalar("an element: an integer or a string")?);
                more = cursor.more(b']')?;
            }
            if elements.iter().any(|e| e.as_name().is_none()) {
                return Err(at.unexpected("elements that are integers or strings"));
            }
            builder.read_list(key, elements.iter().filter_map(Scalar::as_datum));
        }
        "range" => {
            let hi_at = *cursor;
            let hi = cursor.scalar(KEY)?;
            let hi = hi.as_name().ok_or_else(|| hi_at.unexpected(KEY))?;
            cursor.expect(b',', "`,`")?;
            let rows = rows(cursor)?;
            let pairs = rows.iter().filter_map(|(key, value)| Some((key.as_name()?, value.as_datum()?)));
            builder.range(key, hi, pairs);
        }
        "cas" => {
            let at = *cursor;
            let expected = cursor.scalar(VALUE)?;
            cursor.expect(b',', "`,`")?;
            let new = cursor.scalar(VALUE)?;
            cursor.expect(b',', "`,`")?;
            let succeeded = cursor.scalar("true or false")?;
            let (Some(expected), Some(new), Scalar::Bool(succeeded)) = (expected.as_datum(), new.as_datum(), succeeded)
            else {
                return Err(at.unexpected("expected value, new value, and true or false"));
            };
            builder.compare_and_set(key, expected, new, succeeded);
        }
        _ => return Err(at.unexpected("an event: r, w, append, list, insert, delete, range or cas")),
    }
    cursor.expect(b']', "`]`")
}

fn rows<'a>(cursor: &mut Cursor<'a>) -> Result<Vec<(Scalar<'a>, Scalar<'a>)>, Unexpected> {
    let mut rows = Vec::new();
    let mut more = cursor.open(b'[', b']', "an array of rows `[key,value]`")?;
    while more {
        let at = *cursor;
        cursor.expect(b'[', "a row `[key,value]`")?;
        let key = cursor.scalar(KEY)?;
        cursor.expect(b',', "`,`")?;
        let value = cursor.scalar(VALUE)?;
        cursor.expect(b']', "`]`")?;
        if key.as_name().is_none() || value.as_datum().is_none() {
            return Err(at.unexpected("a row `[key,value]`"));
        }
        rows.push((key, value));
        more = cursor.more(b']')?;
    }
    Ok(rows)
}

/// Writes `jsonl`, a line as soon as it is complete.
pub struct JsonlWriter<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        JsonlWriter { out, line: Vec::new() }
    }
}

impl<W: Write> Sink for JsonlWriter<W> {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        line.extend_from_slice(b"{\"session\":");
        write_name(line, record.session);
        let status = match record.outcome {
            Outcome::Committed => "committed",
            Outcome::Aborted => "aborted",
            Outcome::Indeterminate => "indeterminate",
        };
        line.extend_from_slice(b",\"status\":");
        write_string(line, status);
        for (field, time) in ["start", "began", "committing", "finish"].into_iter().zip(record.times.in_order()) {
            if let Some(time) = time {
                line.push(b',');
                write_string(line, field);
                line.push(b':');
                int(line, time);
            }
        }
        line.extend_from_slice(b",\"ops\":[");
        separated(line, &record.events, write_event);
        line.extend_from_slice(b"]}\n");
        self.out.write_all(line)
    }

    fn end(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes an event as it stands in a line of `jsonl`, for recorders who write a line while the transaction is still open.
pub fn write_event(line: &mut Vec<u8>, event: &NamedEvent<'_>) {
    let mut simple = |kind: &str, key: Name<'_>, value: Datum<'_>| {
        begin_event(line, kind, key);
        line.push(b',');
        datum(line, value);
        line.push(b']');
    };
    match event {
        NamedEvent::Read(key, value) => simple("r", *key, *value),
        NamedEvent::Write(key, value) => simple("w", *key, *value),
        NamedEvent::Append(key, value) => simple("append", *key, *value),
        NamedEvent::Insert(key, value) => simple("insert", *key, *value),
        NamedEvent::Delete(key, value) => simple("delete", *key, *value),
        NamedEvent::ReadList(key, elements) => {
            begin_event(line, "list", *key);
            line.extend_from_slice(b",[");
            separated(line, elements, |line, &element| datum(line, element));
            line.extend_from_slice(b"]]");
        }
        NamedEvent::Range { lo, hi, rows } => {
            begin_event(line, "range", *lo);
            line.push(b',');
            write_name(line, *hi);
            line.extend_from_slice(b",[");
            separated(line, rows, |line, &(key, value)| {
                line.push(b'[');
                write_name(line, key);
                line.push(b',');
                datum(line, value);
                line.push(b']');
            });
            line.extend_from_slice(b"]]");
        }
        NamedEvent::CompareAndSet { key, expected, new, succeeded } => {
            begin_event(line, "cas", *key);
            for value in [*expected, *new] {
                line.push(b',');
                datum(line, value);
            }
            line.extend_from_slice(if *succeeded { b",true]" } else { b",false]" });
        }
    }
}

fn begin_event(line: &mut Vec<u8>, kind: &str, key: Name<'_>) {
    line.push(b'[');
    write_string(line, kind);
    line.push(b',');
    write_name(line, key);
}

fn separated<T>(line: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            line.push(b',');
        }
        write(line, item);
    }
}

fn int(line: &mut Vec<u8>, i: i64) {
    line.extend_from_slice(itoa::Buffer::new().format(i).as_bytes());
}

/// Writes a key or a session as it stands in a line of `jsonl`.
pub fn write_name(line: &mut Vec<u8>, name: Name<'_>) {
    match name {
        Name::Int(i) => int(line, i),
        Name::Text(text) => write_string(line, text),
    }
}

fn datum(line: &mut Vec<u8>, datum: Datum<'_>) {
    match datum {
        Datum::Initial => line.extend_from_slice(b"null"),
        Datum::Int(i) => int(line, i),
        Datum::Text(text) => write_string(line, text),
    }
}
