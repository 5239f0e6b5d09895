//! `timestamped`: transactions with the database's own timestamps (Chronos, Aion, TimeKiller).
//!
//! ```text
//! [{"tid":67,"sid":19,"sts":{"p":1691420095436341,"l":61},"cts":{"p":1691420095659914,"l":18},
//!   "ops":[{"t":"w","k":7,"v":2},{"t":"r","k":8}]}]
//! ```
//!
//! One array of transactions, or transactions one after the other. `tid` names a transaction, `sid` its session; session
//! order is the order of the file, as Chronos has it, whatever the timestamps say. Numbers may be strings: `"5"` is 5.
//! `t` is `r`/`read`, `w`/`write`, or in histories of lists `a`/`append`, in upper or lower case. A read without `v`, or
//! with null, saw the initial state, or in a history of lists an empty list; whether keys hold lists is known from the first
//! event that tells. The value 0 is initial too for keys to which nobody writes 0: Chronos leaves it to its user which of the
//! two a file means.
//!
//! Timestamps are hybrid clocks, ordered by `p`, then `l`: start `sts` and commit `cts`. What `p` counts differs between
//! databases, so only the order is kept: a time is `p`·2¹⁶ + `l`, and `p` is counted from the first start where it is 2⁴⁶
//! or more (microseconds, nanoseconds, TiDB's oracle). A file in which that does not fit is refused.

use std::io::Read;

use super::ReadError;
use super::json::{Cursor, Scalar, Unexpected};
use super::stream::{Stream, Syntax};
use crate::builder::{HistoryBuilder, InitialRule};
use crate::event::Times;
use crate::history::History;
use crate::names::Datum;

pub(super) fn detect(head: &[u8]) -> bool {
    let mut cursor = Cursor::new(head);
    cursor.take(b'[');
    let mut has_timestamp = false;
    cursor.fields_so_far(|name, mut value| {
        if matches!(name, "sts" | "cts") {
            let parts = value.open(b'{', b'}', "a timestamp").is_ok_and(|some| some);
            has_timestamp |= parts && value.field().is_ok_and(|part| matches!(part.as_ref(), "p" | "l"));
        }
    });
    has_timestamp
}

pub(super) fn read(input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut stream = Stream::new(input, Syntax::Json);
    let mut reader = Reader { builder, holds: None, base: None };
    // Transactions whose reads of null cannot be told from reads of empty lists yet, with their lines.
    let mut waiting: Vec<(u64, Vec<u8>)> = Vec::new();
    while stream.next_element()? {
        let (line, bytes) = stream.value("a transaction")?;
        let transaction = Transaction::parse(bytes).map_err(|wrong| wrong.in_lines(bytes, line))?;
        reader.holds = reader.holds.or_else(|| transaction.holds());
        if reader.holds.is_none() {
            waiting.push((line, bytes.to_vec()));
            continue;
        }
        for (line, bytes) in waiting.drain(..) {
            reader.add_bytes(line, &bytes)?;
        }
        reader.add(&transaction, line).map_err(|wrong| wrong.in_lines(bytes, line))?;
        reader.builder.status()?;
    }
    reader.holds = Some(Holds::Values);
    for (line, bytes) in waiting {
        reader.add_bytes(line, &bytes)?;
    }
    drop(stream);
    Ok(reader.builder.finish()?)
}

/// What keys hold.
#[derive(Clone, Copy, PartialEq)]
enum Holds {
    Values,
    Lists,
}

struct Reader {
    builder: HistoryBuilder,
    holds: Option<Holds>,
    /// What `p` is counted from.
    base: Option<i64>,
}

impl Reader {
    fn add_bytes(&mut self, line: u64, bytes: &[u8]) -> Result<(), ReadError> {
        Transaction::parse(bytes)
            .and_then(|transaction| self.add(&transaction, line))
            .map_err(|wrong| wrong.in_lines(bytes, line))
    }

    fn add(&mut self, transaction: &Transaction<'_>, line: u64) -> Result<(), Unexpected> {
        let builder = &mut self.builder;
        builder.begin(transaction.session.as_name().expect("checked when parsed"));
        builder.set_line(line);
        if let Some(Scalar::Int(label)) = transaction.label {
            builder.set_label(label);
        }
        let base = *self.base.get_or_insert_with(|| {
            let first = transaction.start.physical;
            if first.unsigned_abs() < 1 << 46 { 0 } else { first }
        });
        let (start, finish) = (transaction.start.since(base)?, transaction.commit.since(base)?);
        builder.set_times(Times { start: Some(start), finish: Some(finish), ..Times::default() });
        let lists = self.holds == Some(Holds::Lists);
        for event in &transaction.events {
            let key = event.key.as_name().expect("checked when parsed");
            match (event.kind, &event.value) {
                (Kind::Read, Observed::Nothing) if lists => builder.read_list(key, []),
                (Kind::Read, Observed::Nothing) => builder.read(key, Datum::Initial),
                (Kind::Read, Observed::One(value)) if !lists => {
                    builder.read(key, value.as_datum().expect("checked when parsed"));
                }
                (Kind::Read, Observed::List(elements)) if lists => {
                    builder.read_list(key, elements.iter().filter_map(Scalar::as_datum));
                }
                (Kind::Write, Observed::One(value)) if !lists => {
                    builder.write(key, value.as_datum().expect("checked when parsed"));
                }
                (Kind::Append, Observed::One(value)) if lists => {
                    builder.append(key, value.as_datum().expect("checked when parsed"));
                }
                _ => {
                    return Err(Unexpected::at(
                        event.at,
                        if lists {
                            "an append or a read of a list, since the history is one of lists"
                        } else {
                            "a write or a read of one value, since the history is one of plain values"
                        },
                    ));
                }
            }
        }
        Ok(())
    }
}

struct Transaction<'a> {
    session: Scalar<'a>,
    label: Option<Scalar<'a>>,
    start: Timestamp,
    commit: Timestamp,
    events: Vec<Event<'a>>,
}

struct Event<'a> {
    kind: Kind,
    key: Scalar<'a>,
    value: Observed<'a>,
    /// Where it stands in the transaction's bytes.
    at: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Read,
    Write,
    Append,
}

enum Observed<'a> {
    Nothing,
    One(Scalar<'a>),
    List(Vec<Scalar<'a>>),
}

impl<'a> Transaction<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, Unexpected> {
        let mut cursor = Cursor::new(bytes);
        let (mut session, mut label, mut start, mut commit, mut events) = (None, None, None, None, None);
        let mut more = cursor.open(b'{', b'}', "a transaction: `{\"sid\":…,\"sts\":…,\"cts\":…,\"ops\":[…]}`")?;
        while more {
            match cursor.field()?.as_ref() {
                "sid" => session = Some(name(&mut cursor, "a session: an integer or a string")?),
                "tid" => label = Some(name(&mut cursor, "a transaction id: an integer or a string")?),
                "sts" => start = Some(Timestamp::parse(&mut cursor)?),
                "cts" => commit = Some(Timestamp::parse(&mut cursor)?),
                "ops" => {
                    let mut found = Vec::new();
                    let mut more = cursor.open(b'[', b']', "an array of operations")?;
                    while more {
                        found.push(Event::parse(&mut cursor)?);
                        more = cursor.more(b']')?;
                    }
                    events = Some(found);
                }
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        cursor.expect_end()?;
        let (Some(session), Some(start), Some(commit), Some(events)) = (session, start, commit, events) else {
            return Err(Unexpected::at(0, "a transaction with `sid`, `sts`, `cts` and `ops`"));
        };
        Ok(Transaction { session, label, start, commit, events })
    }

    /// What keys hold, if an event tells.
    fn holds(&self) -> Option<Holds> {
        self.events.iter().find_map(|event| match (event.kind, &event.value) {
            (Kind::Append, _) | (_, Observed::List(_)) => Some(Holds::Lists),
            (Kind::Write, _) | (_, Observed::One(_)) => Some(Holds::Values),
            (Kind::Read, Observed::Nothing) => None,
        })
    }
}

impl<'a> Event<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Unexpected> {
        const OPERATION: &str = "an operation: `{\"t\":\"r\",\"k\":…,\"v\":…}`";
        let (mut kind, mut key, mut value) = (None, None, Observed::Nothing);
        cursor.peek();
        let at = cursor.position();
        let mut more = cursor.open(b'{', b'}', OPERATION)?;
        while more {
            match cursor.field()?.as_ref() {
                "t" => {
                    let at = *cursor;
                    let word = cursor.string("the kind of an operation")?.to_ascii_lowercase();
                    kind = Some(match word.as_str() {
                        "r" | "read" => Kind::Read,
                        "w" | "write" => Kind::Write,
                        "a" | "append" => Kind::Append,
                        _ => return Err(at.unexpected("the kind of an operation: r, w or a")),
                    });
                }
                "k" => key = Some(name(cursor, "a key: an integer or a string")?),
                "v" => value = Observed::parse(cursor)?,
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        match (kind, key) {
            (Some(kind), Some(key)) if kind == Kind::Read || matches!(value, Observed::One(_)) => {
                Ok(Event { kind, key, value, at })
            }
            _ => Err(Unexpected::at(at, OPERATION)),
        }
    }
}

impl<'a> Observed<'a> {
    fn parse(cursor: &mut Cursor<'a>) -> Result<Self, Unexpected> {
        match cursor.peek() {
            b'n' => cursor.scalar("null").map(|_| Observed::Nothing),
            b'[' => {
                let mut elements = Vec::new();
                let mut more = cursor.open(b'[', b']', "a list")?;
                while more {
                    elements.push(name(cursor, "an element: an integer or a string")?);
                    more = cursor.more(b']')?;
                }
                Ok(Observed::List(elements))
            }
            _ => name(cursor, "a value: an integer, a string, a list of these, or null").map(Observed::One),
        }
    }
}

/// An integer or a string; a string that is an integer is one.
fn name<'a>(cursor: &mut Cursor<'a>, expected: &'static str) -> Result<Scalar<'a>, Unexpected> {
    let at = *cursor;
    match cursor.scalar(expected)? {
        Scalar::Text(text) => Ok(match text.parse::<i64>() {
            Ok(i) if i.to_string() == text => Scalar::Int(i),
            _ => Scalar::Text(text),
        }),
        scalar @ Scalar::Int(_) => Ok(scalar),
        Scalar::Null | Scalar::Bool(_) => Err(at.unexpected(expected)),
    }
}

struct Timestamp {
    physical: i64,
    logical: i64,
    at: usize,
}

const LOGICAL_BITS: u32 = 16;

impl Timestamp {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, Unexpected> {
        const PART: &str = "an integer";
        cursor.peek();
        let at = cursor.position();
        let (mut physical, mut logical) = (None, Some(Scalar::Int(0)));
        let mut more = cursor.open(b'{', b'}', "a timestamp: `{\"p\":…,\"l\":…}`")?;
        while more {
            match cursor.field()?.as_ref() {
                "p" => physical = Some(name(cursor, PART)?),
                "l" => logical = Some(name(cursor, PART)?),
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        let (Some(Scalar::Int(physical)), Some(Scalar::Int(logical))) = (physical, logical) else {
            return Err(Unexpected::at(at, "a timestamp: `{\"p\":…,\"l\":…}` with integers"));
        };
        Ok(Timestamp { physical, logical, at })
    }

    /// One number for both, in the same order.
    fn since(&self, base: i64) -> Result<i64, Unexpected> {
        if !(0..1 << LOGICAL_BITS).contains(&self.logical) {
            return Err(Unexpected::at(self.at, "a timestamp whose `l` is at least 0 and less than 65536"));
        }
        let shifted = self.physical.checked_sub(base).and_then(|p| p.checked_mul(1 << LOGICAL_BITS));
        let time = shifted.and_then(|p| p.checked_add(self.logical));
        time.ok_or_else(|| Unexpected::at(self.at, "a timestamp whose `p` is less than 2^47 away from the first one"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::Name;
    use crate::record::NamedEvent;

    fn load(text: &str) -> Result<History, ReadError> {
        read(text.as_bytes(), HistoryBuilder::new())
    }

    fn transaction(session: &str, start: (&str, &str), commit: (&str, &str), ops: &str) -> String {
        format!(
            r#"{{"cts":{{"l":{},"p":{}}},"ops":[{ops}],"sid":{session},"sts":{{"l":{},"p":{}}},"tid":"5"}}"#,
            commit.1, commit.0, start.1, start.0
        )
    }

    fn events(history: &History) -> Vec<NamedEvent<'_>> {
        history.transactions().flat_map(|txn| history.record(txn).events).collect()
    }

    #[test]
    fn numbers_may_be_strings_and_null_or_zero_is_initial() {
        let first =
            transaction("\"2\"", ("1", "0"), ("\"2\"", "7"), r#"{"k":8,"t":"W","v":1},{"k":"8","t":"read","v":"1"}"#);
        let second = transaction(
            "2",
            ("3", "0"),
            ("3", "0"),
            r#"{"k":6,"t":"r"},{"k":7,"t":"r","v":null},{"k":7,"t":"r","v":0}"#,
        );
        for text in [format!("[{first},\n {second}]\n"), format!("{first}\n{second}")] {
            let history = load(&text).unwrap();
            assert!(detect(text.as_bytes()));
            assert_eq!((history.sessions().len(), history.transaction_count(), history.event_count()), (1, 2, 5));
            assert_eq!(history.derived().faults(), []);
            let [first, second] = [crate::TxnId(0), crate::TxnId(1)];
            assert_eq!(history.label(first), Some(5));
            assert_eq!(history.place(second).line, 2);
            assert_eq!(history.times(first).in_order(), [Some(1 << 16), None, None, Some((2 << 16) + 7)]);
            assert_eq!(history.derived().reads(second).len(), 3);
        }
    }

    #[test]
    fn reads_of_null_wait_until_it_is_known_what_keys_hold() {
        let unknown = transaction("1", ("1", "0"), ("1", "0"), r#"{"t":"r","k":1}"#);
        let lists = transaction("2", ("1", "0"), ("1", "0"), r#"{"t":"a","k":1,"v":4},{"t":"r","k":1,"v":[4]}"#);
        let values = transaction("2", ("1", "0"), ("1", "0"), r#"{"t":"w","k":1,"v":4}"#);
        let one = Name::Int(1);
        let history = load(&format!("[{unknown},{lists},{unknown}]")).unwrap();
        assert_eq!(
            events(&history),
            [
                NamedEvent::ReadList(one, vec![]),
                NamedEvent::ReadList(one, vec![]),
                NamedEvent::Append(one, Datum::Int(4)),
                NamedEvent::ReadList(one, vec![Datum::Int(4)]),
            ]
        );
        let history = load(&format!("[{unknown},{values}]")).unwrap();
        assert_eq!(events(&history), [NamedEvent::Read(one, Datum::Initial), NamedEvent::Write(one, Datum::Int(4))]);
        assert_eq!(events(&load(&unknown).unwrap()), [NamedEvent::Read(one, Datum::Initial)]);
        let error = load(&format!("[{values},\n{lists}]")).unwrap_err().to_string();
        assert!(error.starts_with("line 2: expected a write or a read of one value"), "{error}");
    }

    #[test]
    fn large_timestamps_are_counted_from_the_first() {
        let nanoseconds = transaction("1", ("1691420095436341000", "3"), ("1691420095436341001", "2"), "");
        let history = load(&nanoseconds).unwrap();
        assert_eq!(history.times(crate::TxnId(0)).in_order(), [Some(3), None, None, Some((1 << 16) + 2)]);
        for (p, l) in [("1", "65536"), ("1", "-1"), ("140737488355328", "0")] {
            assert!(
                load(&transaction("1", ("1", "0"), (p, l), "")).unwrap_err().to_string().contains("a timestamp whose")
            );
        }
    }

    #[test]
    fn errors_name_the_line_inside_of_a_transaction() {
        let error = load("[\n{\"tid\":1,\n\"sid\":true}]").unwrap_err().to_string();
        assert_eq!(error, "line 3: expected a session: an integer or a string, found `true}`");
        for bad in ["{}", "[7]", "[{}", r#"[{"sid":1,"ops":[]}]"#] {
            assert!(load(bad).is_err(), "{bad}");
        }
        for bad in [r#"{"t":"w","k":1}"#, r#"{"t":"x","k":1,"v":1}"#, r#"{"t":"r"}"#, r#"{"t":"a","k":1,"v":[1]}"#] {
            assert!(load(&transaction("1", ("1", "0"), ("1", "0"), bad)).is_err(), "{bad}");
        }
        assert_eq!(load("[]").unwrap().transaction_count(), 0);
        for other in ["[]", "{\"session\":1,\"ops\":[]}", "[{\"type\":\"ok\"}]", "[{\"sts\":1}]", ""] {
            assert!(!detect(other.as_bytes()), "{other}");
        }
    }
}
