//! Operations on single registers: `:f :read`, `:write` and `:cas`, of one register or of several that values name.
//!
//! | function | one register | several (Jepsen's `independent`) |
//! | --- | --- | --- |
//! | `:read` | `v`, or `nil` | `[k v]`, `[k nil]` |
//! | `:write` | `v` | `[k v]` |
//! | `:cas` | `[expected new]` | `[k [expected new]]` |
//!
//! Values have no parts, so that brackets tell one from the other.

use super::operation::{Cursor, Function, Holds, KEY, VALUE};
use crate::builder::HistoryBuilder;
use crate::event::Outcome;
use crate::formats::json::{Scalar, Unexpected};
use crate::names::{Datum, Name};

/// The key of a register that nobody names.
const ONLY: Name<'static> = Name::Text("register");
const WRITTEN: &str = "a value: an integer, a keyword or a string";
const PAIR: &str = "two values: `[expected new]`";

/// The value of an operation on a register.
#[derive(Clone, Copy)]
pub(super) struct RegisterOperation<'a> {
    function: Function,
    cursor: Cursor<'a>,
}

impl<'a> RegisterOperation<'a> {
    pub(super) fn new(function: Function, cursor: Cursor<'a>) -> Self {
        RegisterOperation { function, cursor }
    }

    /// Whether there is one register, or several. Every operation with a value tells.
    pub(super) fn tell(mut self) -> Result<Holds, Unexpected> {
        if self.function == Function::CompareAndSet {
            self.first(PAIR)?;
            self.cursor.skip()?;
            self.next(PAIR)?;
        }
        Ok(if self.cursor.is_list() { Holds::Registers } else { Holds::Register })
    }

    /// Adds the event to the current transaction. Reads that are not known to have succeeded are nobody's business here.
    pub(super) fn add(
        mut self,
        outcome: Outcome,
        (holds, told): (Holds, u64),
        builder: &mut HistoryBuilder,
    ) -> Result<(), Unexpected> {
        if self.tell()? != holds {
            let expected = match holds {
                Holds::Registers => "an operation that names its register, `[k v]`",
                Holds::Register => "an operation that names no register",
                Holds::Values | Holds::Lists => "micro-operations",
            };
            return Err(Unexpected::at(self.cursor.position(), format!("{expected}, as on line {told}")));
        }
        let name = match holds {
            Holds::Registers => {
                self.first("a register and its value: `[k v]`")?;
                let at = self.cursor;
                let name = self.cursor.scalar(KEY)?;
                if name.as_name().is_none() {
                    return Err(at.unexpected(KEY));
                }
                self.next("the value of the register")?;
                Some(name)
            }
            _ => None,
        };
        let key = name.as_ref().and_then(Scalar::as_name).unwrap_or(ONLY);
        let at = self.cursor;
        match self.function {
            Function::Read => builder.read(key, datum(&self.cursor.scalar(VALUE)?, at)?),
            Function::Write => builder.write(key, written(&self.cursor.scalar(WRITTEN)?, at)?),
            Function::CompareAndSet => {
                self.first(PAIR)?;
                let at = self.cursor;
                let expected = self.cursor.scalar(VALUE)?;
                let expected = datum(&expected, at)?;
                self.next(PAIR)?;
                let at = self.cursor;
                let new = self.cursor.scalar(WRITTEN)?;
                builder.compare_and_set(key, expected, written(&new, at)?, outcome != Outcome::Aborted);
                self.end()?;
            }
            Function::Transaction => unreachable!("micro-operations are read elsewhere"),
        }
        if name.is_some() {
            self.end()?;
        }
        self.cursor.expect_end()
    }

    /// Opens a vector that has an element.
    fn first(&mut self, expected: &'static str) -> Result<(), Unexpected> {
        let at = self.cursor;
        if self.cursor.open(b'[', b']', expected)? { Ok(()) } else { Err(at.unexpected(expected)) }
    }

    /// Steps to the next element.
    fn next(&mut self, expected: &'static str) -> Result<(), Unexpected> {
        let at = self.cursor;
        if self.cursor.more(b']')? { Ok(()) } else { Err(at.unexpected(expected)) }
    }

    /// Steps over the end of a vector.
    fn end(&mut self) -> Result<(), Unexpected> {
        let at = self.cursor;
        if self.cursor.more(b']')? { Err(at.unexpected("`]` after two values")) } else { Ok(()) }
    }
}

fn datum<'s>(scalar: &'s Scalar<'_>, at: Cursor<'_>) -> Result<Datum<'s>, Unexpected> {
    scalar.as_datum().ok_or_else(|| at.unexpected(VALUE))
}

fn written<'s>(scalar: &'s Scalar<'_>, at: Cursor<'_>) -> Result<Datum<'s>, Unexpected> {
    scalar.as_datum().filter(|&value| value != Datum::Initial).ok_or_else(|| at.unexpected(WRITTEN))
}

#[cfg(test)]
mod tests {
    use crate::builder::HistoryBuilder;
    use crate::derived::FaultKind;
    use crate::error::HistoryError;
    use crate::event::Outcome;
    use crate::formats::ReadError;
    use crate::history::History;
    use crate::names::{Datum, Name};
    use crate::record::NamedEvent;

    fn load(text: &str) -> Result<History, ReadError> {
        assert!(super::super::detect(text.as_bytes()), "{text}");
        super::super::read(text.as_bytes(), HistoryBuilder::new())
    }

    /// Outcomes and events, session by session.
    fn transactions(history: &History) -> Vec<(Outcome, NamedEvent<'_>)> {
        let one = |txn| {
            let record = history.record(txn);
            assert_eq!(record.events.len(), 1);
            (record.outcome, record.events.into_iter().next().expect("there is one"))
        };
        history.transactions().map(one).collect()
    }

    fn times(history: &History) -> Vec<(Option<i64>, Option<i64>)> {
        history.transactions().map(|txn| (history.times(txn).start, history.times(txn).finish)).collect()
    }

    const ONE: &str = "{:type :invoke :process 0 :f :write :value 1 :time 1 :index 0}
        {:type :invoke :process 1 :f :read :value nil :time 2}
        {:type :info :process :nemesis :f :cut :value nil}
        {:type :ok :process 1 :f :read :value nil :time 3}
        {:type :ok :process 0 :f :write :value 1 :time 4 :index 7}
        {:type :invoke :process 0 :f :cas :value [1 2] :time 5}
        #jepsen.history.Op{:type :ok :process 0 :f :cas :value [1 2] :time 6}
        {:type :ok :process 1 :f :read :value 2}";

    #[test]
    fn one_register() {
        let json = r#"[{"type":"invoke","process":0,"f":"write","value":1,"time":1,"index":0},
            {"type":"invoke","process":1,"f":"read","value":null,"time":2},
            {"type":"ok","process":1,"f":"read","value":null,"time":3},
            {"type":"ok","process":0,"f":"write","value":1,"time":4,"index":7},
            {"type":"invoke","process":0,"f":"cas","value":[1,2],"time":5},
            {"type":"ok","process":0,"f":"cas","value":[1,2],"time":6},
            {"type":"ok","process":1,"f":"read","value":2}]"#;
        let key = Name::Text("register");
        for text in [ONE, json] {
            let history = load(text).unwrap();
            let cas = NamedEvent::CompareAndSet { key, expected: Datum::Int(1), new: Datum::Int(2), succeeded: true };
            let expected = [
                NamedEvent::Read(key, Datum::Initial),
                NamedEvent::Read(key, Datum::Int(2)),
                NamedEvent::Write(key, Datum::Int(1)),
                cas,
            ];
            assert_eq!(transactions(&history), expected.map(|event| (Outcome::Committed, event)));
            let known = |start, finish| (Some(start), Some(finish));
            assert_eq!(times(&history), [known(2, 3), (None, None), known(1, 4), known(5, 6)]);
            assert_eq!(history.label(crate::TxnId(2)), Some(7));
        }
    }

    #[test]
    fn several_registers_are_named_by_values() {
        for pair in ["[:x 1]", "#jepsen.independent/tuple [:x 1]", "(:x, 1)"] {
            let text = format!(
                "{{:type :invoke :process 0 :f :read :value [:x nil]}}{{:type :ok :process 0 :f :read :value [:x nil]}}
                {{:type :ok :process 1 :f :write :value {pair}}}
                {{:type :ok :process 1 :f :cas :value [:x [1 2]]}}{{:type :ok :process 1 :f :cas :value [\"y\" [nil :b]]}}"
            );
            let history = load(&text).unwrap();
            let (x, y) = (Name::Text("x"), Name::Text("y"));
            let cas = |key, expected, new| NamedEvent::CompareAndSet { key, expected, new, succeeded: true };
            let expected = [
                NamedEvent::Read(x, Datum::Initial),
                NamedEvent::Write(x, Datum::Int(1)),
                cas(x, Datum::Int(1), Datum::Int(2)),
                cas(y, Datum::Initial, Datum::Text("b")),
            ];
            assert_eq!(transactions(&history), expected.map(|event| (Outcome::Committed, event)));
        }
    }

    #[test]
    fn what_is_not_known_to_have_succeeded() {
        let text = "{:type :invoke :process 0 :f :read :value nil}
            {:type :fail :process 0 :f :read :value nil :error :timeout}
            {:type :invoke :process 0 :f :read :value nil}{:type :info :process 0 :f :read :value nil}
            {:type :invoke :process 1 :f :write :value 1}{:type :fail :process 1 :f :write :value 1}
            {:type :invoke :process 1 :f :write :value 2}{:type :info :process 1 :f :write :value nil}
            {:type :invoke :process 2 :f :cas :value [1 3]}{:type :fail :process 2 :f :cas :value 7}
            {:type :invoke :process 2 :f :cas :value [1 4]}{:type :info :process 2 :f :cas :value [1 4]}
            {:type :invoke :process 3 :f :cas :value [4 5]}{:type :ok :process 3 :f :cas}
            {:type :invoke :process 3 :f :write :value 6}";
        let history = load(text).unwrap();
        let key = Name::Text("register");
        let write = |value| NamedEvent::Write(key, Datum::Int(value));
        let cas = |expected, new, succeeded| NamedEvent::CompareAndSet {
            key,
            expected: Datum::Int(expected),
            new: Datum::Int(new),
            succeeded,
        };
        use Outcome::*;
        let expected = [
            (Aborted, write(1)),
            (Indeterminate, write(2)),
            (Aborted, cas(1, 3, false)),
            (Indeterminate, cas(1, 4, true)),
            (Committed, cas(4, 5, true)),
            (Indeterminate, write(6)),
        ];
        assert_eq!(transactions(&history), expected);
        // No operation has a time, so its place counts; process 0 had the first four.
        assert_eq!(
            times(&history),
            [
                (Some(4), Some(5)),
                (Some(6), None),
                (Some(8), Some(9)),
                (Some(10), None),
                (Some(12), Some(13)),
                (Some(14), None)
            ]
        );
        // Process 3 saw what process 2 never learnt of, which saw what was refused.
        let faults: Vec<FaultKind> = history.derived().faults().iter().map(|fault| fault.kind).collect();
        assert_eq!(faults, [FaultKind::Aborted]);
    }

    #[test]
    fn what_was_refused_is_not_read_unless_another_wrote_it() {
        let begin = "{:type :ok :process 0 :f :write :value 1}{:type :fail :process 1 :f :cas :value [1 2]}
            {:type :fail :process 2 :f :cas :value [1 2]}";
        let faults = |end: &str| -> Vec<FaultKind> {
            let history = load(&format!("{begin}{end}")).unwrap();
            history.derived().faults().iter().map(|fault| fault.kind).collect()
        };
        assert_eq!(faults("{:type :ok :process 0 :f :read :value 2}"), [FaultKind::Aborted]);
        assert_eq!(faults("{:type :ok :process 3 :f :cas :value [2 3]}"), [FaultKind::Aborted]);
        let granted = "{:type :ok :process 3 :f :cas :value [1 2]}{:type :ok :process 0 :f :read :value 2}";
        assert_eq!(faults(granted), []);
        let twice = load("{:type :ok :process 0 :f :write :value 1}\n{:type :ok :process 1 :f :cas :value [2 1]}");
        assert!(matches!(twice, Err(ReadError::History(HistoryError::RepeatedValue { .. }))));
    }

    #[test]
    fn places_are_times_only_where_there_are_no_times() {
        let one = "{:type :invoke :process 0 :f :write :value 1}{:type :ok :process 0 :f :write :value 1}\n";
        let only_completion = load(&format!("{one}{{:type :ok :process 1 :f :read :value 1}}")).unwrap();
        assert_eq!(times(&only_completion), [(Some(0), Some(1)), (None, None)]);
        for late in ["{:type :ok :process 1 :time 5 :f :read :value 1}", "{:type :invoke :process 1 :time 5 :f :read}"]
        {
            let error = load(&format!("{one}{late}")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: expected an operation without a time, as on line 1"), "{error}");
        }
        // Transactions keep the times they have.
        let transactions =
            "{:type :invoke :process 0 :f :txn :value [[:w 1 1]]}{:type :ok :process 0 :value [[:w 1 1]]}";
        assert_eq!(times(&load(transactions).unwrap()), [(None, None)]);
    }

    #[test]
    fn contradictions_are_refused_with_their_line() {
        let (one, several) =
            ("{:type :ok :process 0 :f :write :value 1}\n", "{:type :ok :process 0 :f :write :value [1 1]}\n");
        let transaction = "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n";
        let ok = |function: &str, value: &str| format!("{{:type :ok :process 1 :f {function} :value {value}}}");
        for (begin, bad, expected) in [
            (one, ok(":read", "[1 2]"), "an operation that names no register, as on line 1"),
            (one, ok(":cas", "[1 [2 3]]"), "an operation that names no register, as on line 1"),
            (several, ok(":read", "2"), "an operation that names its register, `[k v]`, as on line 1"),
            (several, ok(":read", "nil"), "an operation that names its register, `[k v]`, as on line 1"),
            (several, ok(":cas", "[2 3]"), "an operation that names its register, `[k v]`, as on line 1"),
            (one, ok(":txn", "[[:w 1 2]]"), "an operation on a register, which line 1 has"),
            (one, ok(":txn", "[]"), "an operation on a register, which line 1 has"),
            (one, ok(":read", "[[:r 1 2]]"), "an operation on a register, which line 1 has"),
            (transaction, ok(":read", "5"), "micro-operations, as on line 1"),
            (transaction, ok(":cas", "[1 2]"), "micro-operations, as on line 1"),
            (one, ok(":write", "nil"), "the value of an `:ok` operation"),
            (one, ok(":cas", "5"), "two values"),
            (one, ok(":cas", "[5]"), "two values"),
            (one, ok(":cas", "[1 nil]"), "a value: an integer"),
            (one, ok(":cas", "[1 2 3]"), "`]` after two values"),
            (one, ok(":read", "1.5"), "an integer of at most 64 bits"),
            (one, ok(":read", "true"), "a value: an integer"),
            (one, ok(":read", "#{1}"), "a value: an integer"),
            (one, "{:type :ok :process 1 :f :read}".into(), "the value of an `:ok` operation"),
            (one, ok(":add", "5"), "a function: "),
            (several, ok(":read", "[1 2 3]"), "`]` after two values"),
            (several, ok(":read", "[nil 2]"), "a key: "),
            (several, ok(":write", "[1 nil]"), "a value: an integer"),
            (
                one,
                "{:type :invoke :process 1 :f :write :value 2} {:type :ok :process 1 :f :cas :value [1 2]}".into(),
                "the completion of the operation invoked on line 2",
            ),
        ] {
            let error = load(&format!("{begin}{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line 2: expected {expected}")), "{bad}: {error}");
        }
        // A read that did not succeed tells, too.
        let told = "{:type :fail :process 0 :f :read :value [1 nil]}\n{:type :ok :process 0 :f :read :value 5}";
        assert!(
            load(told).unwrap_err().to_string().starts_with("line 2: expected an operation that names its register")
        );
    }
}
