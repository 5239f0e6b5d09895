//! `viper`: a directory of Viper's logs, one file `J<n>.log` for each session, one committed transaction a line.
//!
//! ```text
//! {"value": [["r", 1, "nil", false], ["w", 1, 11, true], ["range", 1, 9, [{"id": 1, "val": 11}], []]]}
//! ```
//!
//! | event | meaning |
//! | --- | --- |
//! | `["r", key, value, dead]` | a read; a dead row is a tombstone, and a value like any other |
//! | `["w", key, value, succeeded]` | a write; one that did not succeed wrote nothing |
//! | `["i", key, value, read, dead, succeeded]` | an insert, which reads the key first |
//! | `["d", key, tombstone, read, dead, succeeded]` | a delete, which reads the key first |
//! | `["range", lo, hi, rows, dead rows]` | a range; a bound `"nil"` is none. Rows are `{"id": key, "val": value}` |
//!
//! The same events also come as objects (`{"opType": "r", "key": 1, "value": 11, "isDead": false}`), and a transaction may have
//! times in milliseconds (`preBeginTS postBeginTS preCommitTS postCommitTS`). `"nil"` and `null` are the initial state.
//!
//! Viper's clients also read rows that were loaded before the run, so the first value of a key that nobody wrote is its
//! initial one. If a log has a transaction with `"isInitial": true` (writes, or one range over everything), that transaction
//! is the initial state and says what each key held; then a value that it does not name and nobody wrote is out of thin
//! air, except 0, by which Viper's clients mean that there was no row.

use std::io::{self, Read};

use rustc_hash::FxHashMap;

use super::ReadError;
use super::cobra::session_of_file;
use super::json::{Cursor, Scalar};
use super::lines::Lines;
use crate::builder::{HistoryBuilder, InitialRule};
use crate::error::Place;
use crate::history::History;
use crate::names::{Datum, Name};

mod line;
use line::{Event, Transaction};

type Log<'a> = (String, Box<dyn Read + 'a>);

pub(super) fn detect(head: &[u8]) -> bool {
    let first = head.split(|&b| b == b'\n').find(|line| !line.trim_ascii().is_empty());
    let (mut has_events, mut is_native) = (false, false);
    Cursor::new(first.unwrap_or(&[])).fields_so_far(|name, mut cursor| match name {
        "value" => {
            let events = cursor.open(b'[', b']', "a list");
            has_events = events.is_ok_and(|some| !some || Event::parse(&mut cursor).is_ok());
        }
        "ops" => is_native = true,
        _ => {}
    });
    has_events && !is_native
}

pub(super) fn read(
    files: Vec<(String, Box<dyn Read + '_>)>,
    mut builder: HistoryBuilder,
) -> Result<History, ReadError> {
    let (files, initial) = find_initial(files)?;
    builder.set_initial(if initial.is_some() { InitialRule::Absent } else { InitialRule::Unwritten });
    for (name, input) in files {
        let session = if name.is_empty() { Name::Int(0) } else { session_of_file(&name, 'J') };
        let file = (!name.is_empty()).then(|| Box::from(name.as_str()));
        if !name.is_empty() {
            builder.set_file(&name);
        }
        let mut lines = Lines::new(input);
        loop {
            let number = lines.number() + 1;
            let Some(line) = lines.next()? else { break };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let place = || Place { file: file.clone(), line: number };
            let transaction = Transaction::parse(line).map_err(|wrong| wrong.in_bytes(line, place()))?;
            if transaction.is_initial {
                if number > 1 {
                    return Err(ReadError::malformed(place(), "the initial transaction on the first line", "it here"));
                }
                continue;
            }
            builder.begin(session);
            builder.set_line(number);
            builder.set_times(transaction.times);
            let mut state = State { initial: initial.as_ref(), builder: &mut builder };
            transaction.events.iter().for_each(|event| state.add(event));
            builder.status()?;
        }
    }
    Ok(builder.finish()?)
}

/// What the keys held before the run.
type Initial = FxHashMap<OwnedName, OwnedName>;

#[derive(PartialEq, Eq, Hash)]
enum OwnedName {
    Int(i64),
    Text(Box<str>),
}

impl OwnedName {
    fn of(scalar: &Scalar<'_>) -> Option<Self> {
        match scalar {
            Scalar::Int(i) => Some(OwnedName::Int(*i)),
            Scalar::Text(text) => Some(OwnedName::Text(text.as_ref().into())),
            Scalar::Null | Scalar::Bool(_) => None,
        }
    }
}

/// Looks for the initial transaction, which is the first line of some file: all must be asked before the first is read.
fn find_initial(files: Vec<Log<'_>>) -> Result<(Vec<Log<'_>>, Option<Initial>), ReadError> {
    let mut initial: Option<Initial> = None;
    let mut whole = Vec::with_capacity(files.len());
    for (name, mut input) in files {
        let head = first_line(&mut input)?;
        if memchr::memmem::find(&head, b"\"isInitial\"").is_some() {
            let line = head.split(|&b| b == b'\n').next().unwrap_or(&[]);
            let place = || Place { file: (!name.is_empty()).then(|| name.as_str().into()), line: 1 };
            let transaction = Transaction::parse(line).map_err(|wrong| wrong.in_bytes(line, place()))?;
            if transaction.is_initial {
                if initial.is_some() {
                    return Err(ReadError::malformed(place(), "one initial transaction", "a second one"));
                }
                initial = Some(transaction.as_initial(place())?);
            }
        }
        let input: Box<dyn Read> = Box::new(io::Cursor::new(head).chain(input));
        whole.push((name, input));
    }
    Ok((whole, initial))
}

fn first_line(input: &mut impl Read) -> Result<Vec<u8>, ReadError> {
    const STEP: u64 = 1 << 12;
    let mut head = Vec::new();
    loop {
        let before = head.len();
        input.take(STEP).read_to_end(&mut head)?;
        if head.len() == before || memchr::memchr(b'\n', &head[before..]).is_some() {
            return Ok(head);
        }
    }
}

/// What Viper's clients log for a row that is not there.
const NO_ROW: Datum<'_> = Datum::Int(0);

/// What the events mean, given the initial state.
struct State<'b> {
    initial: Option<&'b Initial>,
    builder: &'b mut HistoryBuilder,
}

impl State<'_> {
    fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Read { key, value } => {
                let value = self.datum(key, value);
                self.builder.read(name(key), value);
            }
            Event::Write { succeeded: false, .. } => {}
            Event::Write { key, value, .. } => self.builder.write(name(key), self.datum(key, value)),
            Event::Insert { is_delete, key, value, read, succeeded } => {
                let read = self.datum(key, read);
                self.builder.read(name(key), read);
                let value = self.datum(key, value);
                match (succeeded, is_delete) {
                    (false, _) => {}
                    (true, false) => self.builder.insert(name(key), value),
                    (true, true) => self.builder.delete(name(key), value),
                }
            }
            Event::Range { lo, hi, rows } => {
                // Viper's clients ask for ranges of numbered keys only.
                let lo = if is_nil(lo) { Name::Int(i64::MIN) } else { name(lo) };
                let hi = if is_nil(hi) { Name::Int(i64::MAX) } else { name(hi) };
                let rows: Vec<_> = rows.iter().map(|(key, value)| (name(key), self.datum(key, value))).collect();
                self.builder.range(lo, hi, rows);
            }
        }
    }

    fn datum<'s>(&self, key: &Scalar<'_>, value: &'s Scalar<'_>) -> Datum<'s> {
        let datum = value.as_datum().expect("values are checked when parsed");
        let Some(initial) = self.initial else { return datum };
        let held = OwnedName::of(key).and_then(|key| initial.get(&key));
        let is_held = held.is_some() && held == OwnedName::of(value).as_ref();
        if is_held || datum == NO_ROW { Datum::Initial } else { datum }
    }
}

fn name<'s>(key: &'s Scalar<'_>) -> Name<'s> {
    key.as_name().expect("keys are checked when parsed")
}

fn is_nil(bound: &Scalar<'_>) -> bool {
    bound.as_name() == Some(Name::Text("nil"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::FaultKind;
    use crate::record::NamedEvent;

    fn load(files: &[(&str, &str)]) -> Result<History, ReadError> {
        let files = files
            .iter()
            .map(|&(name, text)| {
                let input: Box<dyn Read> = Box::new(text.as_bytes());
                (name.to_string(), input)
            })
            .collect();
        read(files, HistoryBuilder::new())
    }

    fn events(history: &History) -> Vec<NamedEvent<'_>> {
        history.transactions().flat_map(|txn| history.record(txn).events).collect()
    }

    fn faults(history: &History) -> Vec<FaultKind> {
        history.derived().faults().iter().map(|fault| fault.kind).collect()
    }

    #[test]
    fn a_line_is_a_transaction_and_a_file_a_session() {
        let history = load(&[
            ("J24.log", "{\"value\": [[\"w\", 1, 11, true], [\"w\", 1, 12, false]]}\n"),
            ("J25.log", ""),
            ("J26.log", "{\"value\": [[\"r\", 1, 11, false], [\"r\", 2, \"nil\", false]]}\n\n{\"value\": []}"),
        ])
        .unwrap();
        assert_eq!((history.sessions().len(), history.transaction_count(), history.event_count()), (2, 3, 3));
        let last = history.transactions().last().unwrap();
        assert_eq!(history.place(last).to_string(), "J26.log, line 3");
        assert_eq!(history.session_name(history.session_of(last)), Name::Int(26));
        assert_eq!(faults(&history), []);
        assert!(detect(b"{\"value\": [[\"w\", 1, 11, true], [\"w\", 1"));
        assert!(detect(b"{\"x\": 1, \"value\": []}\n"));
        for other in
            ["{\"ops\":[]}", "{\"value\": 7}", "{\"value\":[[\"append\",1,2]]}", "{\"value\":[],\"ops\":[]}", "[]", ""]
        {
            assert!(!detect(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn inserts_and_deletes_read_first_and_ranges_return_tombstones() {
        let arrays = r#"{"preBeginTS": 1, "postCommitTS": 5, "postBeginTS": -1, "value": [["i", 1, 5, "nil", false, true],
            ["d", 1, 6, 5, false, true, 9, 9], ["i", 2, 8, 7, false, false],
            ["range", "nil", 9, [{"id": 2, "sk": 2, "val": 7}], [{"id": 1, "val": 6}], true]]}"#;
        let objects = r#"{"preBeginTS": 1, "postCommitTS": 5, "value": [
            {"opType": "i", "key": 1, "value": 5, "readValue": null, "isDead": false, "succ": true, "reqTS": 1, "resTS": 2},
            {"opType": "d", "key": 1, "value": 6, "readValue": 5, "isDead": false, "succ": true},
            {"opType": "i", "key": 2, "value": 8, "readValue": 7, "isDead": false, "succ": false},
            {"opType": "range", "key1": "nil", "key2": 9, "liveKVs": [{"id": 2, "val": 7}], "deadKVs": [{"id": 1, "val": 6}]}]}"#;
        for text in [arrays, objects] {
            let history = load(&[("", &text.replace('\n', " "))]).unwrap();
            let (one, two) = (Name::Int(1), Name::Int(2));
            let rows = vec![(two, Datum::Initial), (one, Datum::Int(6))];
            assert_eq!(
                events(&history),
                [
                    NamedEvent::Read(one, Datum::Initial),
                    NamedEvent::Insert(one, Datum::Int(5)),
                    NamedEvent::Read(one, Datum::Int(5)),
                    NamedEvent::Delete(one, Datum::Int(6)),
                    NamedEvent::Read(two, Datum::Initial),
                    NamedEvent::Range { lo: Name::Int(i64::MIN), hi: Name::Int(9), rows },
                ]
            );
            let times = history.times(history.transactions().next().unwrap());
            assert_eq!(times.in_order(), [Some(1_000_000), None, None, Some(5_000_000)]);
            assert_eq!(faults(&history), []);
        }
    }

    #[test]
    fn an_initial_transaction_says_what_keys_held() {
        let reads =
            "{\"value\": [[\"r\", 1, 70, false], [\"r\", 2, 0, false]]}\n{\"value\": [[\"r\", 2, 71, false]]}\n";
        let undeclared = load(&[("J1.log", reads)]).unwrap();
        assert_eq!(faults(&undeclared), [FaultKind::ThinAir], "key 2 held 0");
        let writes = "{\"value\": [[\"w\", 1, 70, true]], \"isInitial\": true, \"isFinal\": false}\n";
        let range =
            "{\"value\": [[\"range\", \"nil\", \"nil\", [{\"id\": 1, \"val\": 70}], []]], \"isInitial\": true}\n";
        for initial in [writes, range] {
            let history = load(&[("J1.log", reads), ("J2.log", initial)]).unwrap();
            assert_eq!(history.transaction_count(), 2);
            assert_eq!(faults(&history), [FaultKind::ThinAir], "71 is from nowhere");
            assert_eq!(events(&history)[0], NamedEvent::Read(Name::Int(1), Datum::Initial));
        }
        assert!(load(&[("J1.log", writes), ("J2.log", writes)]).is_err());
        assert!(load(&[("J1.log", &format!("{{\"value\":[]}}\n{writes}"))]).is_err());
        let repeated = load(&[("J1.log", writes), ("J2.log", "{\"value\": [[\"w\", 1, 70, true]]}\n")]);
        assert!(repeated.unwrap_err().to_string().starts_with("J2.log, line 1 (session 2, transaction 1): writes"));
    }

    #[test]
    fn errors_name_file_and_line() {
        for bad in [
            "[]",
            "{}",
            "{\"value\": [[\"x\", 1, 2, true]]}",
            "{\"value\": [[\"r\", true, 2, true]]}",
            "{\"value\": [[\"w\", 1, 2]]}",
            "{\"value\": []} x",
        ] {
            let error = load(&[("J3.log", &format!("{{\"value\": []}}\n{bad}\n"))]).unwrap_err().to_string();
            assert!(error.starts_with("J3.log, line 2: expected "), "{error}");
        }
    }
}
