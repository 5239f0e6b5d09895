//! The files that peers read, where those are not ours: our writers write `text`, and nothing else that a peer reads.
//!
//! Only committed transactions of plain reads and writes of numbers can be written, or of appends and reads of lists, or of single
//! operations on one register.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use isonomy_history::{Datum, History, Name, NamedEvent, Outcome, TxnId};

use crate::sets::Kind;

/// What a peer's command asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// `{file}`: `r(key,value,session,txn)` lines.
    Text,
    /// `{bincode}`: a file of dbcop, of 2019.
    Bincode,
    /// `{dbcop}`: a directory with one file of JSON, for dbcop of 2026.
    Dbcop,
    /// `{viper}`: a directory with a log of JSON lines for each session.
    Viper,
    /// `{lists}`: `session txn A key value` and `session txn R key length elements` lines below their number, as
    /// VeriStrong reads lists.
    Lists,
    /// `{edn}`: a log of Jepsen, of operations on one register.
    Edn,
}

impl Input {
    pub(crate) const ALL: [Input; 6] =
        [Input::Text, Input::Bincode, Input::Dbcop, Input::Viper, Input::Lists, Input::Edn];

    /// Its place in a command, without braces; also the ending of its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Input::Text => "file",
            Input::Bincode => "bincode",
            Input::Dbcop => "dbcop",
            Input::Viper => "viper",
            Input::Lists => "lists",
            Input::Edn => "edn",
        }
    }

    /// Which histories it holds.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Input::Text | Input::Bincode | Input::Dbcop | Input::Viper => Kind::Values,
            Input::Lists => Kind::Lists,
            Input::Edn => Kind::Register,
        }
    }

    /// Whether it says how the transactions of different sessions followed each other.
    pub(crate) fn has_order(self) -> bool {
        matches!(self, Input::Text | Input::Lists | Input::Edn)
    }

    /// Writes a history at a path, which is taken by nothing yet.
    pub(crate) fn write(self, history: &History, path: &Path) -> io::Result<()> {
        let create = |path: &Path| File::create(path).map(|file| BufWriter::with_capacity(1 << 20, file));
        match self {
            Input::Text => unreachable!("text is always there"),
            Input::Bincode => write_bincode(history, create(path)?),
            Input::Lists => write_lists(history, create(path)?),
            Input::Edn => write_edn(history, create(path)?),
            Input::Dbcop => {
                fs::create_dir(path)?;
                write_dbcop(history, create(&path.join("history.json"))?)
            }
            Input::Viper => {
                fs::create_dir(path)?;
                for session in history.sessions() {
                    let name = format!("J{}.log", number(history.session_name(session))?);
                    let mut out = create(&path.join(name))?;
                    for txn in history.transactions_of(session) {
                        write_viper(history, txn, &mut out)?;
                    }
                    out.flush()?;
                }
                Ok(())
            }
        }
    }
}

/// A read or a write; `None` is the initial state.
struct Access {
    is_write: bool,
    key: i64,
    value: Option<i64>,
}

fn accesses(history: &History, txn: TxnId) -> io::Result<Vec<Access>> {
    let access = |event: NamedEvent<'_>| match event {
        NamedEvent::Read(key, value) => Ok(Access { is_write: false, key: number(key)?, value: content(value)? }),
        NamedEvent::Write(key, value) => Ok(Access { is_write: true, key: number(key)?, value: content(value)? }),
        _ => Err(cannot("other events than reads and writes")),
    };
    committed(history, txn)?.into_iter().map(access).collect()
}

fn committed(history: &History, txn: TxnId) -> io::Result<Vec<NamedEvent<'_>>> {
    let record = history.record(txn);
    if record.outcome == Outcome::Committed { Ok(record.events) } else { Err(cannot("what did not commit")) }
}

fn write_bincode(history: &History, mut out: impl Write) -> io::Result<()> {
    let counts = [0, history.sessions().len(), history.key_count(), history.transaction_count(), history.event_count()];
    for count in counts {
        out.write_all(&(count as u64).to_le_bytes())?;
    }
    for text in ["made by isonomy-bench", TIME, TIME] {
        out.write_all(&(text.len() as u64).to_le_bytes())?;
        out.write_all(text.as_bytes())?;
    }
    out.write_all(&(history.sessions().len() as u64).to_le_bytes())?;
    for session in history.sessions() {
        let transactions = history.transactions_of(session);
        out.write_all(&(transactions.len() as u64).to_le_bytes())?;
        for txn in transactions {
            let accesses = accesses(history, txn)?;
            out.write_all(&(accesses.len() as u64).to_le_bytes())?;
            for Access { is_write, key, value } in accesses {
                out.write_all(&[u8::from(is_write)])?;
                out.write_all(&key.to_le_bytes())?;
                out.write_all(&value.unwrap_or(0).to_le_bytes())?;
                out.write_all(&[1])?;
            }
            out.write_all(&[1])?;
        }
    }
    out.flush()
}

/// Both formats of dbcop want to know when the history was made.
const TIME: &str = "1970-01-01T00:00:00Z";

fn write_dbcop(history: &History, mut out: impl Write) -> io::Result<()> {
    let (sessions, keys) = (history.sessions().len(), history.key_count());
    write!(
        out,
        r#"{{"params":{{"id":0,"n_node":{sessions},"n_variable":{keys},"n_transaction":{},"n_event":{}}},"#,
        history.transaction_count(),
        history.event_count()
    )?;
    write!(out, r#""info":"made by isonomy-bench","start":"{TIME}","end":"{TIME}","data":["#)?;
    for (index, session) in history.sessions().enumerate() {
        out.write_all(if index == 0 { b"[" } else { b",\n[" })?;
        for (index, txn) in history.transactions_of(session).enumerate() {
            out.write_all(if index == 0 { br#"{"events":["# } else { b",\n{\"events\":[" })?;
            for (index, Access { is_write, key, value }) in accesses(history, txn)?.into_iter().enumerate() {
                let (comma, kind) = (if index == 0 { "" } else { "," }, if is_write { "Write" } else { "Read" });
                let version = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
                write!(out, r#"{comma}{{"{kind}":{{"variable":{key},"version":{version}}}}}"#)?;
            }
            out.write_all(br#"],"committed":true}"#)?;
        }
        out.write_all(b"]")?;
    }
    out.write_all(b"]}\n")?;
    out.flush()
}

fn write_viper(history: &History, txn: TxnId, out: &mut impl Write) -> io::Result<()> {
    out.write_all(br#"{"value":["#)?;
    for (index, Access { is_write, key, value }) in accesses(history, txn)?.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let value = value.map_or_else(|| r#""nil""#.to_owned(), |value| value.to_string());
        // The last of a write says that it succeeded, that of a read that the row was deleted.
        write!(out, r#"{comma}["{}",{key},{value},{is_write}]"#, if is_write { "w" } else { "r" })?;
    }
    out.write_all(b"]}\n")
}

fn write_lists(history: &History, mut out: impl Write) -> io::Result<()> {
    writeln!(out, "{}", history.event_count())?;
    // The peer's own transaction is number 0, in session 0.
    for (id, &txn) in (1..).zip(history.transactions_as_given()) {
        let session = number(history.session_name(history.session_of(txn)))?;
        for event in committed(history, txn)? {
            match event {
                NamedEvent::Append(key, value) => {
                    let value = content(value)?.ok_or_else(|| cannot("an append of nothing"))?;
                    writeln!(out, "{session} {id} A {} {value}", number(key)?)?;
                }
                NamedEvent::ReadList(key, elements) => {
                    write!(out, "{session} {id} R {} {}", number(key)?, elements.len())?;
                    for element in elements {
                        write!(out, " {}", content(element)?.ok_or_else(|| cannot("a list with a hole"))?)?;
                    }
                    writeln!(out)?;
                }
                _ => return Err(cannot("other events than appends and reads of lists")),
            }
        }
    }
    out.flush()
}

/// What was asked and what was answered, as time went by; what happened at the same time overlaps.
fn write_edn(history: &History, mut out: impl Write) -> io::Result<()> {
    if history.key_count() > 1 {
        return Err(cannot("more than one register"));
    }
    let mut moments = Vec::with_capacity(2 * history.transaction_count());
    for &txn in history.transactions_as_given() {
        let times = history.times(txn);
        let (Some(start), Some(finish)) = (times.start, times.finish) else { return Err(cannot("unknown times")) };
        moments.extend([(start, false, txn), (finish, true, txn)]);
    }
    moments.sort_by_key(|&(time, is_answer, _)| (time, is_answer));
    for (_, is_answer, txn) in moments {
        let events = committed(history, txn)?;
        let [event] = &events[..] else { return Err(cannot("several operations at a time")) };
        let (function, value, succeeded) = match *event {
            NamedEvent::Read(_, found) if is_answer => ("read", edn(found)?, true),
            NamedEvent::Read(..) => ("read", "nil".to_owned(), true),
            NamedEvent::Write(_, new) | NamedEvent::Insert(_, new) => ("write", edn(new)?, true),
            NamedEvent::CompareAndSet { expected, new, succeeded, .. } => {
                ("cas", format!("[{} {}]", edn(expected)?, edn(new)?), succeeded)
            }
            _ => return Err(cannot("other events than those of registers")),
        };
        let kind = match (is_answer, succeeded) {
            (false, _) => "invoke",
            (true, true) => "ok",
            (true, false) => "fail",
        };
        let process = number(history.session_name(history.session_of(txn)))?;
        writeln!(out, "{{:process {process}, :type :{kind}, :f :{function}, :value {value}}}")?;
    }
    out.flush()
}

fn number(name: Name<'_>) -> io::Result<i64> {
    match name {
        Name::Int(number) if number >= 0 => Ok(number),
        _ => Err(cannot("names that are no natural numbers")),
    }
}

fn content(datum: Datum<'_>) -> io::Result<Option<i64>> {
    match datum {
        Datum::Initial => Ok(None),
        Datum::Int(number) if number > 0 => Ok(Some(number)),
        _ => Err(cannot("values that are no positive numbers")),
    }
}

fn edn(datum: Datum<'_>) -> io::Result<String> {
    match datum {
        Datum::Initial => Ok("nil".to_owned()),
        Datum::Int(number) => Ok(number.to_string()),
        _ => Err(cannot("values that are no numbers")),
    }
}

fn cannot(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("the format cannot hold {what}"))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use isonomy_history::Record;
    use isonomy_history::formats::{self, Format, ReadOptions, Source};

    use super::*;

    fn history(text: &str) -> History {
        formats::read(Source::Stream(Box::new(text.as_bytes())), ReadOptions::default()).unwrap()
    }

    fn records(history: &History) -> Vec<Record<'_>> {
        history.transactions().map(|txn| history.record(txn)).collect()
    }

    fn written(name: &str, input: Input, history: &History) -> PathBuf {
        let path = std::env::temp_dir().join(format!("isonomy-bench-{}-{name}", std::process::id()));
        input.write(history, &path).unwrap();
        path
    }

    const TEXT: &str = "w(3,7,1,0)\nr(4,0,1,0)\nr(3,7,2,1)\nw(4,8,2,1)\nr(4,8,1,2)\n";

    #[test]
    fn what_is_written_is_read_again() {
        let history = history(TEXT);
        let bincode = written("bincode", Input::Bincode, &history);
        let dbcop = written("dbcop", Input::Dbcop, &history);
        for path in [bincode.clone(), dbcop.join("history.json")] {
            let file = Box::new(File::open(&path).unwrap());
            let options = ReadOptions { format: Some(Format::Dbcop), ..ReadOptions::default() };
            let again = formats::read(Source::Stream(file), options).unwrap();
            assert_eq!(records(&again), records(&history), "{}", path.display());
        }
        fs::remove_file(bincode).unwrap();
        fs::remove_dir_all(dbcop).unwrap();

        let viper = written("viper", Input::Viper, &history);
        let log = |name: &str| (name.to_owned(), Box::new(File::open(viper.join(name)).unwrap()) as Box<dyn io::Read>);
        let source = Source::Directory(vec![log("J1.log"), log("J2.log")]);
        let again = formats::read(source, ReadOptions::default()).unwrap();
        assert_eq!(records(&again), records(&history));
        fs::remove_dir_all(viper).unwrap();
    }

    #[test]
    fn lists_are_written_in_the_order_of_the_file() {
        let history = history("2: [append(5,1)]\n1: [list(5,[1]) append(6,2)]\n");
        let lists = written("lists", Input::Lists, &history);
        assert_eq!(fs::read_to_string(&lists).unwrap(), "3\n2 1 A 5 1\n1 2 R 5 1 1\n1 2 A 6 2\n");
        fs::remove_file(lists).unwrap();
    }

    #[test]
    fn registers_are_written_as_time_goes_by() {
        let history = history(
            "1: [insert(5,0)]@1..2 [cas(5,0,1)]@3..6\n2: [cas(5,1,2)]@4..5 [r(5,2)]@6..7\n3: [cas(5,9,3)!]@8..9\n",
        );
        let edn = written("edn", Input::Edn, &history);
        assert_eq!(
            fs::read_to_string(&edn).unwrap(),
            "{:process 1, :type :invoke, :f :write, :value 0}\n\
             {:process 1, :type :ok, :f :write, :value 0}\n\
             {:process 1, :type :invoke, :f :cas, :value [0 1]}\n\
             {:process 2, :type :invoke, :f :cas, :value [1 2]}\n\
             {:process 2, :type :ok, :f :cas, :value [1 2]}\n\
             {:process 2, :type :invoke, :f :read, :value nil}\n\
             {:process 1, :type :ok, :f :cas, :value [0 1]}\n\
             {:process 2, :type :ok, :f :read, :value 2}\n\
             {:process 3, :type :invoke, :f :cas, :value [9 3]}\n\
             {:process 3, :type :fail, :f :cas, :value [9 3]}\n"
        );
        fs::remove_file(edn).unwrap();
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        for (text, input, what) in [
            ("1: [append(5,1)]", Input::Bincode, "other events"),
            ("1: [w(5,1)]", Input::Lists, "other events"),
            ("1: [w(x,1)]", Input::Bincode, "natural numbers"),
            ("1: [w(5,1)]!", Input::Bincode, "did not commit"),
            ("1: [w(5,1)]", Input::Edn, "unknown times"),
            ("1: [w(5,1)]@1..2 [w(6,1)]@3..4", Input::Edn, "more than one register"),
            ("1: [r(5,_) w(5,1)]@1..2", Input::Edn, "several operations"),
            ("1: [append(5,1)]@1..2", Input::Edn, "other events"),
        ] {
            let path = std::env::temp_dir().join(format!("isonomy-bench-{}-refused", std::process::id()));
            let error = input.write(&history(text), &path).unwrap_err();
            assert!(error.to_string().contains(what), "{text}: {error}");
            fs::remove_file(path).unwrap();
        }
    }
}
