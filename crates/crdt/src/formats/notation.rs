//! `notation`: histories for people and tests, a replica a line.
//!
//! ```text
//! type: or-set
//! a: add(x) contains(x)=true        # a comment
//! b: remove(x) contains(x)=false / c: contains("two words")=false
//! ```
//!
//! | type | operations |
//! | --- | --- |
//! | sets | `add(x) remove(x) contains(x)=true` |
//! | flags | `enable(p) disable(p) read(p)=false` |
//! | mv-register | `write(x,1) read(x)={1,2} read(x)={}` |
//! | lww-register | `write(x,1) read(x)=1 read(x)=_` |
//! | counter | `inc(x) dec(x) read(x)=-2` |
//! | rga | `addAfter(_,a) addAfter(a,b) remove(a) read()=[a,b]`, where `_` is the front |
//!
//! ` / ` may stand for the line break, and a replica may be continued on a later line. Names are integers, words, or
//! strings in quotes as in JSON.

use std::fmt;
use std::io::{self, Read, Write};

use super::lines::{Lines, excerpt};
use super::{PER_LINE, ReadError, Reading, Shape, methods, shape};
use crate::data_type::DataType;
use crate::history::{History, Label, NamedOperation, OpId, Operation};

const NAME: &str = "a name: an integer, a word or a quoted string";

pub(super) fn read(lines: &mut Lines<impl Read>, reading: &mut Reading) -> Result<(), ReadError> {
    let mut first = true;
    while let Some((number, text)) = lines.next()? {
        let mut parser = Parser { text, at: 0, number };
        while parser.peek().is_some() {
            if parser.take(b'/') {
                continue;
            }
            parser.replica(reading, first)?;
            first = false;
        }
    }
    Ok(())
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    number: u32,
}

impl<'a> Parser<'a> {
    /// The name of a replica and its operations; or, at the very first, the type.
    fn replica(&mut self, reading: &mut Reading, first: bool) -> Result<(), ReadError> {
        let start = self.at;
        let replica = self.name(NAME)?;
        let quoted = self.text[start..].starts_with('"');
        self.expect(b':', "`:` after the name of a replica")?;
        if first && !quoted && replica == "type".into() && self.type_line(reading)? {
            return Ok(());
        }
        while !matches!(self.peek(), None | Some(b'/')) {
            let operation = self.operation(reading.data_type()?)?;
            reading.push(self.number, &replica, operation)?;
        }
        Ok(())
    }

    /// The type, unless operations of a replica that is called `type` follow.
    fn type_line(&mut self, reading: &mut Reading) -> Result<bool, ReadError> {
        let start = self.at;
        let name = self.word();
        if self.peek() == Some(b'(') {
            self.at = start;
            return Ok(false);
        }
        if name.is_empty() {
            return Err(self.unexpected("the name of a type"));
        }
        reading.name_type(self.number, name)?;
        if matches!(self.peek(), None | Some(b'/')) { Ok(true) } else { Err(self.unexpected("the end of the line")) }
    }

    fn operation(&mut self, data_type: DataType) -> Result<NamedOperation, ReadError> {
        self.peek();
        let start = self.at;
        let Some(shape) = shape(data_type, self.word()) else {
            self.at = start;
            return Err(self.unexpected(&methods(data_type)));
        };
        self.expect(b'(', "`(`")?;
        let operation = match shape {
            Shape::Add => NamedOperation::Add(self.name(NAME)?),
            Shape::Remove => NamedOperation::Remove(self.name(NAME)?),
            Shape::Increment => NamedOperation::Increment(self.name(NAME)?),
            Shape::Decrement => NamedOperation::Decrement(self.name(NAME)?),
            Shape::Delete => NamedOperation::Delete(self.name(NAME)?),
            Shape::Write => {
                let object = self.name(NAME)?;
                self.expect(b',', "`,` and a value")?;
                NamedOperation::Write(object, self.name(NAME)?)
            }
            Shape::Insert => {
                let after = self.optional("a name, or `_` for the front")?;
                self.expect(b',', "`,` and the new element")?;
                NamedOperation::Insert(after, self.name(NAME)?)
            }
            Shape::Contains | Shape::ReadSet | Shape::ReadOne | Shape::Count | Shape::List => {
                return self.query(shape);
            }
        };
        self.expect(b')', "`)`")?;
        Ok(operation)
    }

    /// The rest of a query, from its arguments on.
    fn query(&mut self, shape: Shape) -> Result<NamedOperation, ReadError> {
        if shape == Shape::List {
            self.expect(b')', "`)`: the read of an array has no argument")?;
            self.expect(b'=', "`=` and the list that was returned")?;
            return self.names(b'[', b']', "the list that was returned: `[a,b]`").map(NamedOperation::List);
        }
        let object = self.name(NAME)?;
        self.expect(b')', "`)`")?;
        self.expect(b'=', "`=` and what was returned")?;
        Ok(match shape {
            Shape::Contains => NamedOperation::Contains(object, self.truth()?),
            Shape::ReadSet => {
                NamedOperation::Read(object, self.names(b'{', b'}', "the set that was returned: `{1,2}`")?)
            }
            Shape::ReadOne => {
                let value = self.optional("the value that was returned, or `_` for none")?;
                NamedOperation::Read(object, value.into_iter().collect())
            }
            _ => NamedOperation::Count(object, self.integer()?),
        })
    }

    fn truth(&mut self) -> Result<bool, ReadError> {
        self.peek();
        let start = self.at;
        match self.word() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => {
                self.at = start;
                Err(self.unexpected("true or false"))
            }
        }
    }

    fn integer(&mut self) -> Result<i64, ReadError> {
        self.peek();
        let start = self.at;
        match self.word().parse() {
            Ok(count) => Ok(count),
            Err(_) => {
                self.at = start;
                Err(self.unexpected("an integer of at most 64 bits"))
            }
        }
    }

    fn names(&mut self, open: u8, close: u8, expected: &str) -> Result<Vec<Label>, ReadError> {
        self.expect(open, expected)?;
        let mut names = Vec::new();
        if self.take(close) {
            return Ok(names);
        }
        loop {
            names.push(self.name(NAME)?);
            if self.take(close) {
                return Ok(names);
            }
            self.expect(b',', if close == b']' { "`,` or `]`" } else { "`,` or `}`" })?;
        }
    }

    fn name(&mut self, expected: &str) -> Result<Label, ReadError> {
        self.peek();
        let start = self.at;
        self.optional(expected)?.ok_or_else(|| {
            self.at = start;
            self.unexpected(expected)
        })
    }

    /// A name, or `_`.
    fn optional(&mut self, expected: &str) -> Result<Option<Label>, ReadError> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(Some);
        }
        let start = self.at;
        let word = self.word();
        let digits = word.strip_prefix('-').unwrap_or(word);
        if word.is_empty() {
            Err(self.unexpected(expected))
        } else if word == "_" {
            Ok(None)
        } else if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            Ok(Some(word.into()))
        } else {
            let number = word.parse().map_err(|_| {
                self.at = start;
                self.unexpected("an integer of at most 64 bits")
            })?;
            Ok(Some(Label::Int(number)))
        }
    }

    fn quoted(&mut self) -> Result<Label, ReadError> {
        let rest = &self.text[self.at..];
        let mut escaped = false;
        let end = rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let text: Option<Box<str>> = end.and_then(|end| serde_json::from_str(&rest[..end + 2]).ok());
        let (Some(end), Some(text)) = (end, text) else {
            return Err(self.unexpected("a string in quotes, as in JSON"));
        };
        self.at += end + 2;
        Ok(Label::Text(text))
    }

    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = &self.text[self.at..];
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(*b, b'_' | b'-' | b'.' | b'+' | b'$' | 0x80..);
        let length = rest.bytes().take_while(is_word).count();
        self.at += length;
        &rest[..length]
    }

    /// The next byte that is not blank; none at the end of the line or at a comment.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
        self.text.as_bytes().get(self.at).copied().filter(|&byte| byte != b'#')
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &str) -> Result<(), ReadError> {
        if self.take(byte) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &str) -> ReadError {
        let found = excerpt(&self.text[self.at..]);
        ReadError::Malformed { line: self.number, expected: expected.into(), found }
    }
}

pub(super) fn write(history: &History, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "type: {}", history.data_type())?;
    for replica in history.replicas() {
        for (i, op) in history.operations_of(replica).enumerate() {
            if i % PER_LINE == 0 {
                let start = if i == 0 { "" } else { "\n" };
                write!(out, "{start}{}:", Name(history.replica_label(replica)))?;
            }
            write!(out, " {}", history.show(op))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

impl History {
    /// An operation in this notation, such as `contains(x)=true`.
    pub fn show(&self, op: OpId) -> impl fmt::Display + '_ {
        Shown { history: self, operation: self.operation(op) }
    }
}

struct Shown<'h> {
    history: &'h History,
    operation: Operation<'h>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |label| Name(self.history.label(label));
        let methods = self.history.data_type().methods();
        let (first, second, query) = (methods.first, methods.second.unwrap_or_default(), methods.query);
        match self.operation {
            Operation::Add(x) | Operation::Increment(x) => write!(f, "{first}({})", name(x)),
            Operation::Remove(x) | Operation::Decrement(x) | Operation::Delete(x) => write!(f, "{second}({})", name(x)),
            Operation::Write(x, value) => write!(f, "{first}({},{})", name(x), name(value)),
            Operation::Insert(Some(after), x) => write!(f, "{first}({},{})", name(after), name(x)),
            Operation::Insert(None, x) => write!(f, "{first}(_,{})", name(x)),
            Operation::Contains(x, answer) => write!(f, "{query}({})={answer}", name(x)),
            Operation::Count(x, count) => write!(f, "{query}({})={count}", name(x)),
            Operation::Read(x, values) => {
                write!(f, "{query}({})=", name(x))?;
                let values = super::sorted(self.history, values);
                match values[..] {
                    [] if self.history.data_type() == DataType::LwwRegister => f.write_str("_"),
                    [value] if self.history.data_type() == DataType::LwwRegister => write!(f, "{}", Name(value)),
                    _ => write_names(f, "{", values.into_iter(), "}"),
                }
            }
            Operation::List(elements) => {
                write!(f, "{query}()=")?;
                write_names(f, "[", elements.iter().map(|&element| self.history.label(element)), "]")
            }
        }
    }
}

fn write_names<'h>(
    f: &mut fmt::Formatter<'_>,
    open: &str,
    names: impl Iterator<Item = &'h Label>,
    close: &str,
) -> fmt::Result {
    f.write_str(open)?;
    for (i, label) in names.enumerate() {
        write!(f, "{}{}", if i == 0 { "" } else { "," }, Name(label))?;
    }
    f.write_str(close)
}

/// A name as it is read back: a text that would read as a number, as `_` or as several words is quoted, and so is a
/// replica that could be taken for the line of the type.
pub(super) struct Name<'h>(pub(super) &'h Label);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            Label::Int(i) => return write!(f, "{i}"),
            Label::Text(text) => text,
        };
        let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            && text.bytes().any(|b| b.is_ascii_alphabetic())
            && **text != *"type";
        if plain {
            return f.write_str(text);
        }
        f.write_str(&serde_json::to_string(text).map_err(|_| fmt::Error)?)
    }
}
