//! `elle`: histories of Jepsen and Elle, list-append, rw-register and single registers, in EDN or JSON.
//!
//! ```text
//! {:index 0, :type :invoke, :process 0, :f :txn, :time 10, :value [[:append 1 1] [:r 2 nil]]}
//! {:index 1, :type :ok, :process 0, :f :txn, :time 20, :value [[:append 1 1] [:r 2 []]]}
//! ```
//!
//! Operations stand one after the other or in one vector (JSON: array). An invocation and the next operation of its
//! `:process` are one transaction; a process is a session. What counts:
//!
//! | completion | outcome | events |
//! | --- | --- | --- |
//! | `:ok` | committed | those of the completion |
//! | `:fail` | aborted | the writes of the completion, or if it has no value of the invocation |
//! | `:info`, or none | indeterminate | the writes of the invocation, or if there is none of the completion |
//!
//! Reads of a transaction that is not known to be committed are left out: what they saw is not known. Times are those of the
//! invocation and the completion; `:info` says nothing of when the transaction ended. Many files hold completions only.
//! Where no operation has a `:process`, a completion belongs to the invocation right before it, and each transaction is a
//! session. Operations of `:nemesis` are left out.
//!
//! Operations on single registers (`:f :read, :value 5`) are transactions of one event, with these differences:
//! - A read that failed, or whose outcome is not known, is left out altogether: levels of single objects speak of one operation.
//! - A compare-and-set that failed is aborted and failed; its value is its own only if nobody wrote it.
//! - Of an operation that failed the invocation counts, for clients put other things into the completion.
//! - Where operations have no `:time` their places in the file are their times, because these are what such histories are about.
//!
//! `[:r k nil]` is a read of an empty list if keys hold lists, and of the initial state if they hold plain values. The first
//! micro-operation that tells (`:append`, `:w`, a read of something) decides for the whole file; transactions before
//! it wait. Keywords and symbols are texts: `:x` is the key `"x"` of the same history in JSON.

use std::io::{Cursor as Bytes, Read};

use rustc_hash::FxHashMap;

use super::json::Scalar;
use super::stream::{Stream, Syntax};
use super::{HEAD, ReadError, json};
use crate::builder::HistoryBuilder;
use crate::error::Place;
use crate::event::{Outcome, Times};
use crate::history::History;
use crate::names::Name;

mod edn;
mod operation;
mod register;

use operation::{Cursor, Function, Holds, Kind, MicroOperations, Operation};
use register::RegisterOperation;

pub(super) fn detect(head: &[u8]) -> bool {
    is_edn(head) || is_json(head)
}

/// Whether it begins with a map, or a vector of maps, and has an operation.
fn is_edn(head: &[u8]) -> bool {
    let mut cursor = edn::Cursor::new(head);
    let vector = matches!(cursor.peek(), b'[' | b'(');
    let inside = if vector { cursor.open(b'[', b']', "").is_ok() } else { true };
    inside
        && cursor.open(b'{', b'}', "").is_ok()
        && cursor.peek() == b':'
        && memchr::memmem::find_iter(head, b":type").any(|at| {
            let kind = head[at + 5..].trim_ascii_start().strip_prefix(b":").unwrap_or(b"");
            [&b"invoke"[..], b"ok", b"fail", b"info"].iter().any(|&name| kind.starts_with(name))
        })
}

/// Whether its first object, as far as it is there, is an operation.
fn is_json(head: &[u8]) -> bool {
    let mut cursor = json::Cursor::new(head);
    cursor.take(b'[');
    let (mut has_type, mut is_native) = (false, false);
    cursor.fields_so_far(|name, mut value| match name {
        "type" => has_type = value.string("a type").is_ok_and(|kind| Kind::of(&kind).is_some()),
        "ops" => is_native = true,
        _ => {}
    });
    has_type && !is_native
}

/// Whether its first map has JSON's keys.
fn has_json_fields(head: &[u8]) -> bool {
    let mut cursor = json::Cursor::new(head);
    cursor.take(b'[');
    cursor.take(b'{') && cursor.peek() == b'"'
}

pub(super) fn read(mut input: impl Read, builder: HistoryBuilder) -> Result<History, ReadError> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let syntax = if has_json_fields(&head) { Syntax::Json } else { Syntax::Edn };
    let mut reader = Reader {
        syntax,
        builder,
        holds: None,
        waiting: Vec::new(),
        pending: FxHashMap::default(),
        processes: None,
        sessions: 0,
        clock: Clock::default(),
    };
    reader.read(Stream::new(Bytes::new(head).chain(input), syntax))?;
    Ok(reader.builder.finish()?)
}

/// A process that may have invoked an operation; `None` where there are no processes.
type Process = Option<OwnedName>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum OwnedName {
    Int(i64),
    Text(Box<str>),
}

/// An invocation whose completion has not come.
struct Invocation {
    line: u64,
    moment: Moment,
    index: Option<i64>,
    function: Function,
    value: Option<Value<Vec<u8>>>,
}

/// When an operation happened: by the clock, and by its place in the file.
#[derive(Clone, Copy)]
struct Moment {
    time: Option<i64>,
    position: i64,
}

/// What an operation did or was to do, as bytes.
#[derive(Clone)]
struct Value<B> {
    bytes: B,
    function: Function,
    /// The line on which they begin.
    line: u64,
}

impl<B: AsRef<[u8]>> Value<B> {
    fn borrowed(&self) -> Value<&[u8]> {
        Value { bytes: self.bytes.as_ref(), function: self.function, line: self.line }
    }

    fn into_owned(self) -> Value<Vec<u8>> {
        Value { bytes: self.bytes.as_ref().to_vec(), function: self.function, line: self.line }
    }
}

/// A transaction, all but for what its reads of nil mean and which clock counts.
struct Transaction<B> {
    session: OwnedName,
    line: u64,
    index: Option<i64>,
    start: Option<Moment>,
    finish: Option<Moment>,
    outcome: Outcome,
    value: Option<Value<B>>,
}

struct Reader {
    syntax: Syntax,
    builder: HistoryBuilder,
    /// What keys hold, once known, and the line that told.
    holds: Option<(Holds, u64)>,
    waiting: Vec<Transaction<Vec<u8>>>,
    pending: FxHashMap<Process, Invocation>,
    /// Whether operations have processes, once known, and the line that told.
    processes: Option<(bool, u64)>,
    /// How many sessions without processes there are.
    sessions: i64,
    clock: Clock,
}

/// What is known of the times in a file.
#[derive(Default)]
struct Clock {
    /// How many operations there were.
    operations: i64,
    /// Whether the first operation had a time, and its line.
    first: Option<(bool, u64)>,
    /// The line of the first operation with a time after one without.
    late: Option<u64>,
}

impl Clock {
    fn moment(&mut self, time: Option<i64>, line: u64) -> Moment {
        let (timed, _) = *self.first.get_or_insert((time.is_some(), line));
        if !timed && time.is_some() {
            self.late.get_or_insert(line);
        }
        self.operations += 1;
        Moment { time, position: self.operations - 1 }
    }

    /// The times of a transaction. A log of registers without any has the order of its operations, which is that of real time.
    fn times(&self, start: Option<Moment>, finish: Option<Moment>, holds: Holds) -> Result<Times, ReadError> {
        let by_position = holds.is_registers() && self.first.is_some_and(|(timed, _)| !timed);
        if let (true, Some((_, first)), Some(late)) = (by_position, self.first, self.late) {
            let expected = format!("an operation without a time, as on line {first}");
            return Err(ReadError::malformed(Place::line(late), expected, "one with a time"));
        }
        let time = |moment: Moment| if by_position { Some(moment.position) } else { moment.time };
        let finish = finish.filter(|_| !by_position || start.is_some());
        Ok(Times { start: start.and_then(time), finish: finish.and_then(time), ..Times::default() })
    }
}

impl Reader {
    fn read(&mut self, mut stream: Stream<impl Read>) -> Result<(), ReadError> {
        while stream.next_element()? {
            let (line, bytes) = stream.value("an operation")?;
            let operation =
                Operation::parse(&mut Cursor::new(self.syntax, bytes)).map_err(|wrong| wrong.in_lines(bytes, line))?;
            if let Some(operation) = operation {
                self.operation(&operation, bytes, line)?;
            }
            self.builder.status()?;
        }
        let mut unfinished: Vec<(Process, Invocation)> = self.pending.drain().collect();
        unfinished.sort_unstable_by_key(|(_, invocation)| invocation.line);
        for (process, invocation) in unfinished {
            let transaction = Transaction {
                session: self.session(process),
                line: invocation.line,
                index: invocation.index,
                start: Some(invocation.moment),
                finish: None,
                outcome: Outcome::Indeterminate,
                value: invocation.value,
            };
            self.add(transaction)?;
        }
        // Nothing but reads of nil: all of the initial state.
        self.holds.get_or_insert((Holds::Values, 0));
        self.flush()
    }

    fn operation(&mut self, operation: &Operation<'_>, bytes: &[u8], line: u64) -> Result<(), ReadError> {
        let malformed = |expected: String, found: &str| Err(ReadError::malformed(Place::line(line), expected, found));
        let has_process = operation.process.is_some();
        let (expected, first) = *self.processes.get_or_insert((has_process, line));
        if has_process != expected {
            let all = if expected { "an operation with" } else { "an operation without" };
            return malformed(format!("{all} a process, as on line {first}"), if expected { "none" } else { "one" });
        }
        let process = operation.process.as_ref().and_then(|process| match process {
            Scalar::Int(i) => Some(OwnedName::Int(*i)),
            Scalar::Text(text) => Some(OwnedName::Text(text.as_ref().into())),
            Scalar::Null | Scalar::Bool(_) => None,
        });
        let value = operation.value.clone().map(|range| Value {
            line: line + memchr::memchr_iter(b'\n', &bytes[..range.start]).count() as u64,
            bytes: &bytes[range],
            function: operation.function,
        });
        let moment = self.clock.moment(operation.time, line);
        let Operation { kind, index, function, .. } = *operation;
        if kind == Kind::Invoke {
            let invocation = Invocation { line, moment, index, function, value: value.map(Value::into_owned) };
            return match self.pending.insert(process, invocation) {
                Some(before) => malformed(
                    format!("the completion of the operation invoked on line {}", before.line),
                    "another invocation",
                ),
                None => Ok(()),
            };
        }
        let invocation = self.pending.remove(&process);
        let invoked = invocation.as_ref().and_then(|invocation| invocation.value.as_ref());
        let invoked = invoked.map(Value::borrowed);
        if let Some(invocation) = &invocation
            && ![function, invocation.function].contains(&Function::Transaction)
            && function != invocation.function
        {
            let expected = format!("the completion of the operation invoked on line {}", invocation.line);
            return malformed(expected, "one of another function");
        }
        let (outcome, value) = match kind {
            Kind::Ok => {
                let value = match function {
                    Function::Write | Function::CompareAndSet => value.or(invoked),
                    Function::Transaction | Function::Read => value,
                };
                if value.is_none() {
                    return malformed("the value of an `:ok` operation".into(), "none");
                }
                (Outcome::Committed, value)
            }
            Kind::Fail if function == Function::Transaction => (Outcome::Aborted, value.or(invoked)),
            // What a register refused is what it was asked for; clients put other things into the completion.
            Kind::Fail => (Outcome::Aborted, invoked.or(value)),
            Kind::Info | Kind::Invoke => (Outcome::Indeterminate, invoked.or(value)),
        };
        let transaction = Transaction {
            session: self.session(process),
            line,
            index,
            start: invocation.as_ref().map(|invocation| invocation.moment),
            finish: Some(moment).filter(|_| outcome != Outcome::Indeterminate),
            outcome,
            value,
        };
        self.add(transaction)
    }

    fn session(&mut self, process: Process) -> OwnedName {
        process.unwrap_or_else(|| {
            self.sessions += 1;
            OwnedName::Int(self.sessions - 1)
        })
    }

    fn add(&mut self, transaction: Transaction<impl AsRef<[u8]>>) -> Result<(), ReadError> {
        if self.holds.is_none()
            && let Some(value) = &transaction.value
        {
            let bytes = value.bytes.as_ref();
            let cursor = Cursor::new(self.syntax, bytes);
            let holds = match value.function {
                Function::Transaction => MicroOperations::new(cursor).tell(transaction.outcome),
                function => RegisterOperation::new(function, cursor).tell().map(Some),
            };
            let holds = holds.map_err(|wrong| wrong.in_lines(bytes, value.line))?;
            self.holds = holds.map(|holds| (holds, value.line));
        }
        if self.holds.is_some() {
            self.flush()?;
            return self.emit(&transaction);
        }
        let Transaction { session, line, index, start, finish, outcome, value } = transaction;
        let value = value.map(Value::into_owned);
        self.waiting.push(Transaction { session, line, index, start, finish, outcome, value });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ReadError> {
        for transaction in std::mem::take(&mut self.waiting) {
            self.emit(&transaction)?;
        }
        Ok(())
    }

    fn emit(&mut self, transaction: &Transaction<impl AsRef<[u8]>>) -> Result<(), ReadError> {
        let (holds, told) = self.holds.expect("nothing is emitted before it is known what keys hold");
        let outcome = transaction.outcome;
        let times = self.clock.times(transaction.start, transaction.finish, holds)?;
        let function = transaction.value.as_ref().map(|value| value.function);
        if holds.is_registers()
            && (function.is_none() || (function == Some(Function::Read) && outcome != Outcome::Committed))
        {
            // Of one operation, of which nothing is known, nothing is left.
            return Ok(());
        }
        let builder = &mut self.builder;
        builder.begin(match &transaction.session {
            OwnedName::Int(i) => Name::Int(*i),
            OwnedName::Text(text) => Name::Text(text),
        });
        builder.set_line(transaction.line);
        builder.set_outcome(outcome);
        builder.set_times(times);
        if let Some(index) = transaction.index {
            builder.set_label(index);
        }
        let Some(value) = &transaction.value else { return Ok(()) };
        let bytes = value.bytes.as_ref();
        let cursor = Cursor::new(self.syntax, bytes);
        let added = match value.function {
            Function::Transaction => MicroOperations::new(cursor).add(outcome, (holds, told), builder),
            function => RegisterOperation::new(function, cursor).add(outcome, (holds, told), builder),
        };
        added.map_err(|wrong| wrong.in_lines(bytes, value.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derived::FaultKind;
    use crate::names::Datum;
    use crate::record::NamedEvent;

    fn load(text: &str) -> Result<History, ReadError> {
        read(text.as_bytes(), HistoryBuilder::new())
    }

    fn error(text: &str) -> String {
        load(text).unwrap_err().to_string()
    }

    fn events(history: &History) -> Vec<NamedEvent<'_>> {
        history.transactions().flat_map(|txn| history.record(txn).events).collect()
    }

    fn outcomes(history: &History) -> Vec<Outcome> {
        history.transactions().map(|txn| history.outcome(txn)).collect()
    }

    const PAIRED: &str = "; a comment
        {:index 0, :type :invoke, :process 0, :f :txn, :time 10, :value [[:append :x 1] [:r 2 nil]]}
        {:index 1 :type :info :f :start :process :nemesis :value #{\"n1\"}}
        #jepsen.history.Op{:index 2, :type :ok, :process 0, :f :txn, :time 20, :error nil
          :value [[:append :x 1] [:r 2 nil]]} #_{:type :never}";

    #[test]
    fn an_invocation_and_its_completion_are_one_transaction() {
        let json = r#"[{"index":0,"type":"invoke","process":0,"f":"txn","time":10,"value":[["append","x",1],["r",2,null]]},
            {"type":"info","f":"start","process":"nemesis","value":{}},

            {"index":2,"type":"ok","process":0,"f":"txn","time":20,"value":[["append","x",1],["r",2,null]]}]"#;
        let vector = PAIRED.replace("; a comment", "; a comment [\n[") + "]";
        for text in [PAIRED, json, &vector] {
            assert!(detect(text.as_bytes()), "{text}");
            let history = load(text).unwrap();
            let two = Name::Int(2);
            assert_eq!(
                events(&history),
                [NamedEvent::Append(Name::Text("x"), Datum::Int(1)), NamedEvent::ReadList(two, vec![]),]
            );
            let txn = crate::TxnId(0);
            assert_eq!(history.times(txn).in_order(), [Some(10), None, None, Some(20)]);
            assert_eq!((history.label(txn), history.outcome(txn)), (Some(2), Outcome::Committed));
        }
        assert_eq!(load(PAIRED).unwrap().place(crate::TxnId(0)).line, 4);
    }

    #[test]
    fn only_writes_count_where_the_outcome_is_not_known() {
        let text = "{:type :invoke :process 1 :time 1 :value [[:w 1 1] [:r 1 nil]]}
            {:type :invoke :process 2 :time 2 :value [[:w 1 2]]}
            {:type :invoke :process 3 :time 3 :value [[:w 1 3] [:r 1 nil]]}
            {:type :fail :process 1 :time 4 :value [[:w 1 1] [:r 1 7]]}
            {:type :info :process 2 :time 5 :error :timeout}
            {:type :invoke :process 1 :time 6 :value [[:w 1 4]]}
            {:type :fail :process 1 :time 7}
            {:type :ok :process 2 :time 8 :value [[:r 1 2] [:r 1 1]]}";
        let history = load(text).unwrap();
        use Outcome::*;
        assert_eq!(outcomes(&history), [Aborted, Aborted, Indeterminate, Committed, Indeterminate]);
        assert_eq!(history.event_count(), 6);
        let times: Vec<_> = history.transactions().map(|txn| history.times(txn)).collect();
        assert_eq!((times[0].start, times[0].finish), (Some(1), Some(4)));
        assert_eq!((times[2].start, times[2].finish), (Some(2), None));
        assert_eq!((times[4].start, times[4].finish), (Some(3), None));
        let faults: Vec<FaultKind> = history.derived().faults().iter().map(|fault| fault.kind).collect();
        assert_eq!(faults, [FaultKind::NonRepeatable, FaultKind::Aborted]);
        assert!(history.derived().counts(crate::TxnId(2)), "process 2 read what it had written");
    }

    #[test]
    fn without_processes_every_transaction_is_a_session() {
        let text = "{:type :invoke :value [[:w 1 1]]}{:type :ok :value [[:w 1 1]]}{:type :ok :value [[:r 1 1]]}{:type :invoke :value [[:w 2 1]]}";
        let history = load(text).unwrap();
        assert_eq!((history.sessions().len(), history.transaction_count()), (3, 3));
        assert_eq!(history.outcome(crate::TxnId(2)), Outcome::Indeterminate);
        assert!(
            error("{:type :ok :value []}\n{:type :ok :process 1 :value []}")
                .starts_with("line 2: expected an operation without")
        );
        let twice = "{:type :invoke :process 1 :value []}\n{:type :invoke :process 1 :value []}";
        assert!(error(twice).starts_with("line 2: expected the completion of the operation invoked on line 1"));
    }

    #[test]
    fn reads_of_nil_wait_until_it_is_known_what_keys_hold() {
        let nil = "{:type :ok :process 1 :value [[:r 1 nil]]}\n";
        let one = Name::Int(1);
        for (told, expected) in [
            ("", NamedEvent::Read(one, Datum::Initial)),
            ("{:type :ok :process 2 :value ((:r 1 (4)))}", NamedEvent::ReadList(one, vec![])),
            ("{:type :info :process 2 :value [[:r 3 nil] [:append 1 4]]}", NamedEvent::ReadList(one, vec![])),
            ("{:type :ok :process 2 :value [[:r 1 4]]}", NamedEvent::Read(one, Datum::Initial)),
            ("{:type :invoke :process 2 :value [[:w 1 4]]}", NamedEvent::Read(one, Datum::Initial)),
        ] {
            assert_eq!(events(&load(&format!("{nil}{told}\n")).unwrap())[0], expected, "{told}");
        }
        let mixed = "{:type :ok :value [[:append 1 4]]}\n{:type :ok\n:value [[:r 1 [4]] [:w 1 4]]}";
        assert!(error(mixed).starts_with("line 3: expected a micro-operation on lists, which line 1 has"));
    }

    #[test]
    fn what_is_not_read_is_refused_with_its_line() {
        let good = "{:type :ok :process 1 :value [[:w 1 1]]}\n";
        for bad in [
            "{:type :ok :process 1 :f :read :value 5}",
            "{:type :ok :process 1 :f :cas :value [1 2]}",
            "{:type :ok :process 1 :f :add :value [[:w 2 2]]}",
            "{:type :done :process 1 :value []}",
            "{:process 1 :value []}",
            "{:type :ok :process 1}",
            "{:type :ok :process 1 :value nil}",
            "{:type :ok :process 1 :value [[:w 1]]}",
            "{:type :ok :process 1 :value [[:w 1 nil]]}",
            "{:type :ok :process 1 :value [[:w 1 2 3]]}",
            "{:type :ok :process 1 :value [[:x 1 2]]}",
            "{:type :ok :process 1 :value [[:r [1] 2]]}",
            "{:type :ok :process 1 :value [[:r 1 2.5]]}",
            "{:type :ok :process 1 :time :now :value []}",
            "{:type :ok :process 1 :value [}",
            "7",
        ] {
            let error = error(&format!("{good}{bad}"));
            assert!(error.starts_with("line 2: expected "), "{bad}: {error}");
        }
        assert!(error("{\"value\":[]}").starts_with("line 1: expected an operation with :type"));
        for other in [
            "",
            "{}",
            "{:a 1}",
            "[]",
            "{\"type\":2300}",
            "{\"value\":[]}",
            "{:value [] :types :ok}",
            "{\"type\":\"ok\",\"ops\":[]}",
        ] {
            assert!(!detect(other.as_bytes()), "{other}");
        }
    }
}
