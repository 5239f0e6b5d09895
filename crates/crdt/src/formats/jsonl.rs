//! `jsonl`: histories for programs, some operations of one replica a line.
//!
//! ```text
//! {"crdt":1,"type":"or-set"}
//! {"replica":"a","ops":[["add","x"],["contains","x",true]]}
//! {"replica":"b","ops":[["remove","x"],["contains","x",false]]}
//! ```
//!
//! The first line is optional. Reads of registers are `["read","x",[1,2]]` where they return sets, `["read","x",1]` or
//! `["read","x",null]` where they return a value or none; those of counters `["read","x",3]`; arrays have
//! `["addAfter",null,"a"]`, `["addAfter","a","b"]`, `["remove","a"]` and `["read",["a","b"]]`. Unknown fields are
//! refused, since a misspelt one would silently change what is checked.

use std::fmt;
use std::io::{self, Read, Write};

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::lines::{Lines, excerpt};
use super::{PER_LINE, ReadError, Reading, Shape, methods, shape};
use crate::data_type::DataType;
use crate::history::{History, Label, LabelId, NamedOperation, OpId, Operation};

/// The version of the format that headers name.
const VERSION: u32 = 1;

/// A header has the first two fields, every other line the last two.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    crdt: Option<u32>,
    r#type: Option<String>,
    replica: Option<Term>,
    ops: Option<Vec<Vec<Term>>>,
}

/// A value that may stand in an operation.
#[derive(Debug)]
enum Term {
    Null,
    Truth(bool),
    Name(Label),
    List(Vec<Label>),
}

pub(super) fn read(lines: &mut Lines<impl Read>, reading: &mut Reading) -> Result<(), ReadError> {
    let mut first = true;
    while let Some((number, text)) = lines.next()? {
        let line: Line = serde_json::from_str(text).map_err(|wrong| json_error(number, &wrong))?;
        let malformed =
            |expected: &str| ReadError::Malformed { line: number, expected: expected.into(), found: excerpt(text) };
        match line {
            Line { crdt: Some(VERSION), r#type, replica: None, ops: None } if first => {
                if let Some(name) = r#type {
                    reading.name_type(number, &name)?;
                }
            }
            Line { crdt: Some(_), replica: None, ops: None, .. } if first => {
                return Err(malformed("version 1 of the format: `{\"crdt\":1,\"type\":\"or-set\"}`"));
            }
            Line { crdt: None, r#type: None, replica: Some(Term::Name(replica)), ops: Some(ops) } => {
                push(reading, number, &replica, ops)?;
            }
            _ => return Err(malformed("a replica and its operations: `{\"replica\":\"a\",\"ops\":[…]}`")),
        }
        first = false;
    }
    Ok(())
}

fn push(reading: &mut Reading, line: u32, replica: &Label, ops: Vec<Vec<Term>>) -> Result<(), ReadError> {
    let data_type = reading.data_type()?;
    for op in ops {
        let operation = operation(data_type, &op).map_err(|expected| ReadError::Malformed {
            line,
            expected: expected.into(),
            found: excerpt(&Terms(&op).to_string()),
        })?;
        reading.push(line, replica, operation)?;
    }
    Ok(())
}

/// The operation, or what was expected in its place.
fn operation(data_type: DataType, op: &[Term]) -> Result<NamedOperation, String> {
    use Term::{List, Name, Null, Truth};
    let [Name(Label::Text(method)), terms @ ..] = op else { return Err(methods(data_type)) };
    let Some(shape) = shape(data_type, method) else { return Err(methods(data_type)) };
    Ok(match (shape, terms) {
        (Shape::Add, [Name(x)]) => NamedOperation::Add(x.clone()),
        (Shape::Remove, [Name(x)]) => NamedOperation::Remove(x.clone()),
        (Shape::Contains, [Name(x), Truth(answer)]) => NamedOperation::Contains(x.clone(), *answer),
        (Shape::Write, [Name(x), Name(value)]) => NamedOperation::Write(x.clone(), value.clone()),
        (Shape::ReadSet, [Name(x), List(values)]) => NamedOperation::Read(x.clone(), values.clone()),
        (Shape::ReadOne, [Name(x), Name(value)]) => NamedOperation::Read(x.clone(), vec![value.clone()]),
        (Shape::ReadOne, [Name(x), Null]) => NamedOperation::Read(x.clone(), Vec::new()),
        (Shape::Increment, [Name(x)]) => NamedOperation::Increment(x.clone()),
        (Shape::Decrement, [Name(x)]) => NamedOperation::Decrement(x.clone()),
        (Shape::Count, [Name(x), Name(Label::Int(count))]) => NamedOperation::Count(x.clone(), *count),
        (Shape::Insert, [Name(after), Name(x)]) => NamedOperation::Insert(Some(after.clone()), x.clone()),
        (Shape::Insert, [Null, Name(x)]) => NamedOperation::Insert(None, x.clone()),
        (Shape::Delete, [Name(x)]) => NamedOperation::Delete(x.clone()),
        (Shape::List, [List(elements)]) => NamedOperation::List(elements.clone()),
        _ => return Err(format!("`{}`", example(shape, method))),
    })
}

fn example(shape: Shape, method: &str) -> String {
    let rest = match shape {
        Shape::Add | Shape::Remove | Shape::Increment | Shape::Decrement | Shape::Delete => "\"x\"",
        Shape::Contains => "\"x\",true",
        Shape::Write => "\"x\",1",
        Shape::ReadSet => "\"x\",[1,2]",
        Shape::ReadOne => "\"x\",1",
        Shape::Count => "\"x\",3",
        Shape::Insert => "\"a\",\"b\"",
        Shape::List => "[\"a\",\"b\"]",
    };
    format!("[\"{method}\",{rest}]")
}

/// The message of the JSON reader, without the place: its line is always the first.
fn json_error(line: u32, wrong: &serde_json::Error) -> ReadError {
    let message = wrong.to_string();
    let place = format!(" at line {} column {}", wrong.line(), wrong.column());
    let wrong_alone = message.strip_suffix(&place).unwrap_or(&message).into();
    ReadError::Json { line, column: u32::try_from(wrong.column()).unwrap_or(u32::MAX), wrong: wrong_alone }
}

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TermVisitor)
    }
}

struct TermVisitor;

impl<'de> Visitor<'de> for TermVisitor {
    type Value = Term;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an integer of at most 64 bits, true, false, null, or a list of names")
    }

    fn visit_unit<E>(self) -> Result<Term, E> {
        Ok(Term::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Term, E> {
        Ok(Term::Truth(truth))
    }

    fn visit_i64<E>(self, i: i64) -> Result<Term, E> {
        Ok(Term::Name(Label::Int(i)))
    }

    fn visit_u64<E: serde::de::Error>(self, i: u64) -> Result<Term, E> {
        let too_large = || E::invalid_value(serde::de::Unexpected::Unsigned(i), &self);
        i64::try_from(i).map(|i| Term::Name(Label::Int(i))).map_err(|_| too_large())
    }

    fn visit_str<E>(self, text: &str) -> Result<Term, E> {
        Ok(Term::Name(Label::Text(text.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut terms: A) -> Result<Term, A::Error> {
        let mut names = Vec::new();
        while let Some(term) = terms.next_element()? {
            match term {
                Term::Name(name) => names.push(name),
                _ => return Err(A::Error::custom("expected a list of names: strings or integers")),
            }
        }
        Ok(Term::List(names))
    }
}

/// An operation as it stood in the file, for messages.
struct Terms<'a>(&'a [Term]);

impl fmt::Display for Terms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |term: &Term| match term {
            Term::Null => Value::Null,
            Term::Truth(truth) => Value::Bool(*truth),
            Term::Name(label) => json_label(label),
            Term::List(labels) => labels.iter().map(json_label).collect(),
        };
        write!(f, "{}", self.0.iter().map(value).collect::<Value>())
    }
}

fn json_label(label: &Label) -> Value {
    match label {
        Label::Int(i) => json!(i),
        Label::Text(text) => json!(text),
    }
}

pub(super) fn write(history: &History, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{{\"crdt\":{VERSION},\"type\":\"{}\"}}", history.data_type())?;
    for replica in history.replicas() {
        let operations: Vec<OpId> = history.operations_of(replica).collect();
        for some in operations.chunks(PER_LINE) {
            write!(out, "{{\"replica\":{},\"ops\":[", json_label(history.replica_label(replica)))?;
            for (i, &op) in some.iter().enumerate() {
                write!(out, "{}{}", if i == 0 { "" } else { "," }, json_operation(history, op))?;
            }
            writeln!(out, "]}}")?;
        }
    }
    Ok(())
}

fn json_operation(history: &History, op: OpId) -> Value {
    let name = |label: LabelId| json_label(history.label(label));
    let methods = history.data_type().methods();
    let (first, second, query) = (methods.first, methods.second, methods.query);
    match history.operation(op) {
        Operation::Add(x) | Operation::Increment(x) => json!([first, name(x)]),
        Operation::Remove(x) | Operation::Decrement(x) | Operation::Delete(x) => json!([second, name(x)]),
        Operation::Write(x, value) => json!([first, name(x), name(value)]),
        Operation::Insert(after, x) => json!([first, after.map(name), name(x)]),
        Operation::Contains(x, answer) => json!([query, name(x), answer]),
        Operation::Count(x, count) => json!([query, name(x), count]),
        Operation::Read(x, values) if history.data_type() == DataType::LwwRegister => {
            json!([query, name(x), values.first().map(|&value| name(value))])
        }
        Operation::Read(x, values) => {
            let values: Value = super::sorted(history, values).into_iter().map(json_label).collect();
            json!([query, name(x), values])
        }
        Operation::List(elements) => json!([query, elements.iter().map(|&element| name(element)).collect::<Value>()]),
    }
}
