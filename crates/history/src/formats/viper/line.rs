//! The lines of Viper's logs.

use std::borrow::Cow;

use super::{Initial, OwnedName};
use crate::error::Place;
use crate::event::Times;
use crate::formats::ReadError;
use crate::formats::json::{Cursor, Scalar, Unexpected};

/// A line.
pub(super) struct Transaction<'a> {
    pub(super) events: Vec<Event<'a>>,
    pub(super) times: Times,
    pub(super) is_initial: bool,
}

impl<'a> Transaction<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, Unexpected> {
        let mut cursor = Cursor::new(line);
        let mut events = None;
        let mut times = Times::default();
        let mut is_initial = false;
        let mut more = cursor.open(b'{', b'}', "a transaction: `{\"value\": […]}`")?;
        while more {
            match cursor.field()?.as_ref() {
                "value" => {
                    let mut found = Vec::new();
                    let mut more = cursor.open(b'[', b']', "a list of events")?;
                    while more {
                        found.push(Event::parse(&mut cursor)?);
                        more = cursor.more(b']')?;
                    }
                    events = Some(found);
                }
                "preBeginTS" => times.start = time(&mut cursor)?,
                "postBeginTS" => times.began = time(&mut cursor)?,
                "preCommitTS" => times.committing = time(&mut cursor)?,
                "postCommitTS" => times.finish = time(&mut cursor)?,
                "isInitial" => is_initial = flag(&mut cursor)?,
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        cursor.expect_end()?;
        let events = events.ok_or_else(|| cursor.unexpected("the field `value`"))?;
        Ok(Transaction { events, times, is_initial })
    }

    /// What it says that keys hold at first.
    pub(super) fn as_initial(&self, place: Place) -> Result<Initial, ReadError> {
        let mut initial = Initial::default();
        let mut hold = |key, value| {
            if let (Some(key), Some(value)) = (OwnedName::of(key), OwnedName::of(value)) {
                initial.insert(key, value);
            }
        };
        for event in &self.events {
            match event {
                Event::Write { key, value, .. } => hold(key, value),
                Event::Range { rows, .. } => rows.iter().for_each(|(key, value)| hold(key, value)),
                _ => {
                    let expected = "an initial transaction of writes, or of a range";
                    return Err(ReadError::malformed(place, expected, "another event in it"));
                }
            }
        }
        Ok(initial)
    }
}

/// Milliseconds; −1 is none.
fn time(cursor: &mut Cursor<'_>) -> Result<Option<i64>, Unexpected> {
    let at = *cursor;
    let time = cursor.int("a time: milliseconds, an integer")?;
    if time == -1 {
        return Ok(None);
    }
    time.checked_mul(1_000_000)
        .map(Some)
        .ok_or_else(|| at.unexpected("milliseconds that fit in 64 bits as nanoseconds"))
}

fn flag(cursor: &mut Cursor<'_>) -> Result<bool, Unexpected> {
    let at = *cursor;
    match cursor.scalar("true or false")? {
        Scalar::Bool(flag) => Ok(flag),
        _ => Err(at.unexpected("true or false")),
    }
}

/// An event. Keys are integers or texts; values also null.
pub(super) enum Event<'a> {
    Read {
        key: Scalar<'a>,
        value: Scalar<'a>,
    },
    Write {
        key: Scalar<'a>,
        value: Scalar<'a>,
        succeeded: bool,
    },
    /// Or a delete. It reads first.
    Insert {
        is_delete: bool,
        key: Scalar<'a>,
        value: Scalar<'a>,
        read: Scalar<'a>,
        succeeded: bool,
    },
    Range {
        lo: Scalar<'a>,
        hi: Scalar<'a>,
        rows: Vec<(Scalar<'a>, Scalar<'a>)>,
    },
}

const KEY: &str = "a key: an integer or a string";
const VALUE: &str = "a value: an integer, a string or null";
const KIND: &str = "an event: r, w, i, d or range";

impl<'a> Event<'a> {
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Unexpected> {
        if cursor.peek() == b'{' { Self::parse_object(cursor) } else { Self::parse_array(cursor) }
    }

    fn parse_array(cursor: &mut Cursor<'a>) -> Result<Self, Unexpected> {
        cursor.expect(b'[', "an event: `[\"r\", key, value, false]`")?;
        let at = *cursor;
        let kind = cursor.string(KIND)?;
        let key = comma(cursor, key)?;
        let event = match kind.as_ref() {
            "r" => {
                let value = comma(cursor, value)?;
                comma(cursor, flag)?;
                Event::Read { key, value }
            }
            "w" => {
                let value = comma(cursor, value)?;
                Event::Write { key, value, succeeded: comma(cursor, flag)? }
            }
            "i" | "d" => {
                let (value, read) = (comma(cursor, value)?, comma(cursor, value)?);
                comma(cursor, flag)?;
                Event::Insert { is_delete: kind == "d", key, value, read, succeeded: comma(cursor, flag)? }
            }
            "range" => {
                let hi = comma(cursor, self::key)?;
                let mut rows = Vec::new();
                comma(cursor, |cursor| self::rows(cursor, &mut rows))?;
                comma(cursor, |cursor| self::rows(cursor, &mut rows))?;
                Event::Range { lo: key, hi, rows }
            }
            _ => return Err(at.unexpected(KIND)),
        };
        // Later versions of Viper's clients add fields at the end.
        while cursor.more(b']')? {
            cursor.skip()?;
        }
        Ok(event)
    }

    fn parse_object(cursor: &mut Cursor<'a>) -> Result<Self, Unexpected> {
        let (mut kind, mut lo, mut hi, mut written, mut read) = (Cow::Borrowed(""), None, None, None, None);
        let mut succeeded = true;
        let mut rows = Vec::new();
        let at = *cursor;
        let mut more = cursor.open(b'{', b'}', "an event")?;
        while more {
            match cursor.field()?.as_ref() {
                "opType" => kind = cursor.string(KIND)?,
                "key" | "key1" => lo = Some(key(cursor)?),
                "key2" => hi = Some(key(cursor)?),
                "value" => written = Some(value(cursor)?),
                "readValue" => read = Some(value(cursor)?),
                "succ" => succeeded = flag(cursor)?,
                "liveKVs" | "deadKVs" => self::rows(cursor, &mut rows)?,
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        Ok(match (kind.as_ref(), lo, hi, written, read) {
            ("r", Some(key), None, Some(value), None) => Event::Read { key, value },
            ("w", Some(key), None, Some(value), None) => Event::Write { key, value, succeeded },
            ("i" | "d", Some(key), None, Some(value), Some(read)) => {
                Event::Insert { is_delete: kind == "d", key, value, read, succeeded }
            }
            ("range", Some(lo), Some(hi), None, None) => Event::Range { lo, hi, rows },
            _ => return Err(at.unexpected("an event with `opType` (r, w, i, d or range), keys and values")),
        })
    }
}

fn comma<'a, T>(
    cursor: &mut Cursor<'a>,
    then: impl FnOnce(&mut Cursor<'a>) -> Result<T, Unexpected>,
) -> Result<T, Unexpected> {
    cursor.expect(b',', "`,`")?;
    then(cursor)
}

fn key<'a>(cursor: &mut Cursor<'a>) -> Result<Scalar<'a>, Unexpected> {
    let at = *cursor;
    cursor.scalar(KEY).and_then(|key| if key.as_name().is_some() { Ok(key) } else { Err(at.unexpected(KEY)) })
}

fn value<'a>(cursor: &mut Cursor<'a>) -> Result<Scalar<'a>, Unexpected> {
    let at = *cursor;
    match cursor.scalar(VALUE)? {
        Scalar::Bool(_) => Err(at.unexpected(VALUE)),
        Scalar::Text(text) if text == "nil" => Ok(Scalar::Null),
        value => Ok(value),
    }
}

fn rows<'a>(cursor: &mut Cursor<'a>, rows: &mut Vec<(Scalar<'a>, Scalar<'a>)>) -> Result<(), Unexpected> {
    let mut more = cursor.open(b'[', b']', "a list of rows `{\"id\": key, \"val\": value}`")?;
    while more {
        let at = *cursor;
        let (mut id, mut held) = (None, None);
        let mut more_fields = cursor.open(b'{', b'}', "a row `{\"id\": key, \"val\": value}`")?;
        while more_fields {
            match cursor.field()?.as_ref() {
                "id" => id = Some(key(cursor)?),
                "val" => held = Some(value(cursor)?),
                _ => cursor.skip()?,
            }
            more_fields = cursor.more(b'}')?;
        }
        let (Some(id), Some(held)) = (id, held) else { return Err(at.unexpected("a row with `id` and `val`")) };
        rows.push((id, held));
        more = cursor.more(b']')?;
    }
    Ok(())
}
