//! Operations of Jepsen and the micro-operations in them, in either syntax.

use std::borrow::Cow;
use std::ops::Range;

use super::edn;
use crate::builder::HistoryBuilder;
use crate::event::Outcome;
use crate::formats::json::{self, Scalar, Unexpected};
use crate::formats::stream::Syntax;
use crate::names::Datum;

/// A position in either syntax. Brackets are JSON's; in EDN a list stands for a vector.
#[derive(Clone, Copy)]
pub(super) enum Cursor<'a> {
    Json(json::Cursor<'a>),
    Edn(edn::Cursor<'a>),
}

macro_rules! either {
    ($self:ident, $cursor:ident => $call:expr) => {
        match $self {
            Cursor::Json($cursor) => $call,
            Cursor::Edn($cursor) => $call,
        }
    };
}

impl<'a> Cursor<'a> {
    pub(super) fn new(syntax: Syntax, bytes: &'a [u8]) -> Self {
        match syntax {
            Syntax::Json => Cursor::Json(json::Cursor::new(bytes)),
            Syntax::Edn => Cursor::Edn(edn::Cursor::new(bytes)),
        }
    }

    pub(super) fn peek(&mut self) -> u8 {
        either!(self, cursor => cursor.peek())
    }

    pub(super) fn position(&self) -> usize {
        either!(self, cursor => cursor.position())
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> Unexpected {
        Unexpected::at(self.position(), expected)
    }

    /// Opens a collection: whether it has a first element.
    pub(super) fn open(&mut self, open: u8, close: u8, expected: &'static str) -> Result<bool, Unexpected> {
        either!(self, cursor => cursor.open(open, close, expected))
    }

    /// After an element: whether another follows. Steps over what separates them, or closes the collection.
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Unexpected> {
        either!(self, cursor => cursor.more(close))
    }

    fn field(&mut self) -> Result<Cow<'a, str>, Unexpected> {
        either!(self, cursor => cursor.field())
    }

    pub(super) fn scalar(&mut self, expected: &'static str) -> Result<Scalar<'a>, Unexpected> {
        either!(self, cursor => cursor.scalar(expected))
    }

    pub(super) fn skip(&mut self) -> Result<(), Unexpected> {
        either!(self, cursor => cursor.skip())
    }

    pub(super) fn expect_end(&mut self) -> Result<(), Unexpected> {
        either!(self, cursor => cursor.expect_end())
    }

    /// Whether a vector or a list is next.
    pub(super) fn is_list(&mut self) -> bool {
        matches!(self.peek(), b'[' | b'(')
    }

    /// Whether a vector is next that has vectors in it, or nothing, as micro-operations have.
    fn is_micro_operations(mut self) -> bool {
        self.is_list() && !self.open(b'[', b']', "").is_ok_and(|has_first| has_first && !self.is_list())
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl Kind {
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "invoke" => Kind::Invoke,
            "ok" => Kind::Ok,
            "fail" => Kind::Fail,
            "info" => Kind::Info,
            _ => return None,
        })
    }
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    /// It runs micro-operations.
    Transaction,
    /// It reads a register.
    Read,
    /// It writes a register.
    Write,
    /// It compares a register and sets it.
    CompareAndSet,
}

impl Function {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "txn" => Function::Transaction,
            "read" => Function::Read,
            "write" => Function::Write,
            "cas" => Function::CompareAndSet,
            _ => return None,
        })
    }
}

/// An operation of a client.
pub(super) struct Operation<'a> {
    pub(super) kind: Kind,
    pub(super) process: Option<Scalar<'a>>,
    pub(super) time: Option<i64>,
    pub(super) index: Option<i64>,
    pub(super) function: Function,
    /// Where its value stands: micro-operations, or of registers what [`register`](super::register) says. A value of nil is none,
    /// except for what an operation read.
    pub(super) value: Option<Range<usize>>,
}

impl<'a> Operation<'a> {
    /// Reads an operation; `None` if it is none of a client, or there is none (EDN may have discarded it).
    pub(super) fn parse(cursor: &mut Cursor<'a>) -> Result<Option<Self>, Unexpected> {
        if cursor.peek() == 0 && cursor.expect_end().is_ok() {
            return Ok(None);
        }
        let begin = *cursor;
        let (mut kind, mut process, mut time, mut index, mut value) = (None, None, None, None, None);
        let (mut function, mut nil) = (None, None);
        let mut value_at = begin;
        let mut more = cursor.open(b'{', b'}', "an operation: a map with :type and :value")?;
        while more {
            let name = cursor.field()?;
            let mut ahead = *cursor;
            if ahead.peek() == b'n' && matches!(ahead.scalar(""), Ok(Scalar::Null)) {
                if name == "value" {
                    nil = Some(cursor.position()..ahead.position());
                }
                *cursor = ahead;
                more = cursor.more(b'}')?;
                continue;
            }
            let at = *cursor;
            match name.as_ref() {
                "type" => {
                    const TYPE: &str = "a type: invoke, ok, fail or info";
                    let Scalar::Text(text) = cursor.scalar(TYPE)? else { return Err(at.unexpected(TYPE)) };
                    kind = Some(Kind::of(&text).ok_or_else(|| at.unexpected(TYPE))?);
                }
                "process" => {
                    const PROCESS: &str = "a process: an integer, a keyword or a string";
                    process = Some(cursor.scalar(PROCESS)?);
                    if process.as_ref().is_some_and(|process| process.as_name().is_none()) {
                        return Err(at.unexpected(PROCESS));
                    }
                }
                "f" => function = Some((at, cursor.scalar(FUNCTION)?)),
                "time" => time = Some(integer(cursor, "a time: nanoseconds, an integer")?),
                "index" => index = Some(integer(cursor, "an index: an integer")?),
                "value" => {
                    value_at = at;
                    cursor.skip()?;
                    value = Some(at.position()..cursor.position());
                }
                _ => cursor.skip()?,
            }
            more = cursor.more(b'}')?;
        }
        cursor.expect_end()?;
        if process.as_ref().is_some_and(|process| *process == Scalar::Text("nemesis".into())) {
            return Ok(None);
        }
        let kind = kind.ok_or_else(|| begin.unexpected("an operation with :type"))?;
        let mut function = match function {
            None => Function::Transaction,
            Some((at, Scalar::Text(name))) => Function::of(&name).ok_or_else(|| at.unexpected(FUNCTION))?,
            Some((at, _)) => return Err(at.unexpected(FUNCTION)),
        };
        if value.is_some() {
            // Some tests name their transactions after what is in them.
            if function != Function::CompareAndSet && value_at.is_micro_operations() {
                function = Function::Transaction;
            }
            if function == Function::Transaction && !value_at.is_list() {
                return Err(value_at.unexpected("micro-operations `[[:r x 1] [:w y 2]]`"));
            }
        } else if function == Function::Read && kind == Kind::Ok {
            value = nil;
        }
        Ok(Some(Operation { kind, process, time, index, function, value }))
    }
}

fn integer<'a>(cursor: &mut Cursor<'a>, expected: &'static str) -> Result<i64, Unexpected> {
    let at = *cursor;
    match cursor.scalar(expected)? {
        Scalar::Int(i) => Ok(i),
        _ => Err(at.unexpected(expected)),
    }
}

/// What the operations of a file are about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Holds {
    /// Micro-operations, on keys that hold plain values.
    Values,
    /// Micro-operations, on keys that hold lists.
    Lists,
    /// One register, which has no name.
    Register,
    /// Several registers, which values name.
    Registers,
}

impl Holds {
    pub(super) fn is_registers(self) -> bool {
        matches!(self, Holds::Register | Holds::Registers)
    }
}

/// The micro-operations of a transaction.
pub(super) struct MicroOperations<'a> {
    cursor: Cursor<'a>,
}

/// A micro-operation. Its value is next.
struct MicroOperation<'a> {
    kind: Cow<'a, str>,
    key: Scalar<'a>,
}

const FUNCTION: &str = "a function: `:txn`, or of registers `:read`, `:write` or `:cas`";
const MICRO: &str = "a micro-operation: `[:r k v]`, `[:w k v]` or `[:append k v]`";
pub(super) const KEY: &str = "a key: an integer, a keyword or a string";
pub(super) const VALUE: &str = "a value: an integer, a keyword, a string or nil";
const ELEMENT: &str = "an element: an integer, a keyword or a string";

impl<'a> MicroOperations<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        MicroOperations { cursor }
    }

    /// What keys hold, if a micro-operation tells.
    pub(super) fn tell(mut self, outcome: Outcome) -> Result<Option<Holds>, Unexpected> {
        let mut more = self.cursor.open(b'[', b']', MICRO)?;
        while more {
            let MicroOperation { kind, .. } = self.begin()?;
            let reads = outcome == Outcome::Committed && kind == "r";
            match kind.as_ref() {
                "append" => return Ok(Some(Holds::Lists)),
                "w" => return Ok(Some(Holds::Values)),
                _ if reads && self.cursor.is_list() => return Ok(Some(Holds::Lists)),
                _ if reads && self.cursor.scalar(VALUE)? != Scalar::Null => return Ok(Some(Holds::Values)),
                _ if !reads => self.cursor.skip()?,
                _ => {}
            }
            self.end()?;
            more = self.cursor.more(b']')?;
        }
        Ok(None)
    }

    /// Adds the events to the current transaction.
    pub(super) fn add(
        mut self,
        outcome: Outcome,
        (holds, told): (Holds, u64),
        builder: &mut HistoryBuilder,
    ) -> Result<(), Unexpected> {
        if holds.is_registers() {
            let expected = format!("an operation on a register, which line {told} has");
            return Err(Unexpected::at(self.cursor.position(), expected));
        }
        let mut more = self.cursor.open(b'[', b']', MICRO)?;
        while more {
            let begin = self.cursor;
            let MicroOperation { kind, key } = self.begin()?;
            let key = key.as_name().ok_or_else(|| begin.unexpected(MICRO))?;
            let at = self.cursor;
            match (kind.as_ref(), holds) {
                ("r", _) if outcome != Outcome::Committed => self.cursor.skip()?,
                ("r", Holds::Lists) if self.cursor.is_list() => {
                    let elements = self.list()?;
                    builder.read_list(key, elements.iter().filter_map(Scalar::as_datum));
                }
                ("r", Holds::Lists) if self.cursor.scalar(VALUE)? == Scalar::Null => builder.read_list(key, []),
                ("r", Holds::Values) if !self.cursor.is_list() => {
                    let value = self.cursor.scalar(VALUE)?;
                    builder.read(key, value.as_datum().ok_or_else(|| at.unexpected(VALUE))?);
                }
                ("append", Holds::Lists) | ("w", Holds::Values) => {
                    let value = self.cursor.scalar(VALUE)?;
                    let value = value.as_datum().filter(|&value| value != Datum::Initial);
                    let value = value.ok_or_else(|| at.unexpected("a value: an integer, a keyword or a string"))?;
                    if holds == Holds::Lists {
                        builder.append(key, value);
                    } else {
                        builder.write(key, value);
                    }
                }
                ("r" | "w" | "append", _) => {
                    let what = if holds == Holds::Lists { "lists" } else { "plain values" };
                    return Err(Unexpected::at(
                        begin.position(),
                        format!("a micro-operation on {what}, which line {told} has"),
                    ));
                }
                _ => return Err(begin.unexpected(MICRO)),
            }
            self.end()?;
            more = self.cursor.more(b']')?;
        }
        self.cursor.expect_end()
    }

    fn begin(&mut self) -> Result<MicroOperation<'a>, Unexpected> {
        let begin = self.cursor;
        if !self.cursor.open(b'[', b']', MICRO)? {
            return Err(begin.unexpected(MICRO));
        }
        let Scalar::Text(kind) = self.cursor.scalar(MICRO)? else { return Err(begin.unexpected(MICRO)) };
        if !matches!(kind.as_ref(), "r" | "w" | "append") || !self.cursor.more(b']')? {
            return Err(begin.unexpected(MICRO));
        }
        let key_at = self.cursor;
        let key = self.cursor.scalar(KEY)?;
        if key.as_name().is_none() {
            return Err(key_at.unexpected(KEY));
        }
        if !self.cursor.more(b']')? {
            return Err(begin.unexpected(MICRO));
        }
        Ok(MicroOperation { kind, key })
    }

    fn end(&mut self) -> Result<(), Unexpected> {
        let at = self.cursor;
        if self.cursor.more(b']')? { Err(at.unexpected("the end of the micro-operation")) } else { Ok(()) }
    }

    fn list(&mut self) -> Result<Vec<Scalar<'a>>, Unexpected> {
        let mut elements = Vec::new();
        let mut more = self.cursor.open(b'[', b']', "a list")?;
        while more {
            let at = self.cursor;
            let element = self.cursor.scalar(ELEMENT)?;
            if element.as_name().is_none() {
                return Err(at.unexpected(ELEMENT));
            }
            elements.push(element);
            more = self.cursor.more(b']')?;
        }
        Ok(elements)
    }
}
