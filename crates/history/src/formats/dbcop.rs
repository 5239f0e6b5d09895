//! `dbcop`: the files of dbcop, of 2019 and of 2026, in four shapes told apart by content.
//!
//! | shape | example | module |
//! | --- | --- | --- |
//! | bincode | `history.bincode`, numbers of 8 bytes, least byte first | `bincode` |
//! | JSON | `{"params":…,"data":[[{"events":[{"Read":{"variable":1,"version":null}}],"committed":true}]]}` | `json` |
//! | notation | `[x==? x:=11] [x==11]!`, a line of dashes between sessions | `notation` |
//! | YAML | `- - events:` and below it `- write: true` and so on | `yaml` |
//!
//! All are sessions of transactions of reads and writes. Sessions are numbered from 1, as dbcop does. A transaction without
//! success (2019) or not committed (2026) is aborted. An event without success inside of a transaction, committed or not, is
//! left out: a write that failed wrote nothing and a read that failed saw nothing. None of the 135 histories of
//! the OOPSLA'19 set in the corpus reads such a write. Null is the initial state, and so is the value 0 for keys to which
//! nobody writes 0.

use std::borrow::Cow;
use std::io::{Cursor as Bytes, Read};

use super::json::Scalar;
use super::{HEAD, ReadError};
use crate::builder::{HistoryBuilder, InitialRule};
use crate::history::History;

mod bincode;
mod json;
mod notation;
mod yaml;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Bincode,
    Json,
    Notation,
    Yaml,
}

pub(super) fn detect(head: &[u8]) -> bool {
    shape(head).is_some()
}

fn shape(head: &[u8]) -> Option<Shape> {
    if json::detect(head) {
        Some(Shape::Json)
    } else if notation::detect(head) {
        Some(Shape::Notation)
    } else if yaml::detect(head) {
        Some(Shape::Yaml)
    } else if bincode::detect(head) {
        Some(Shape::Bincode)
    } else {
        None
    }
}

pub(super) fn read(mut input: impl Read, mut builder: HistoryBuilder) -> Result<History, ReadError> {
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut head = Vec::new();
    input.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let shape = shape(&head).unwrap_or_else(|| likely_shape(&head));
    let input = Bytes::new(head).chain(input);
    match shape {
        Shape::Bincode => bincode::read(input, &mut builder)?,
        Shape::Json => json::read(input, &mut builder)?,
        Shape::Notation => notation::read(input, &mut builder)?,
        Shape::Yaml => yaml::read(input, &mut builder)?,
    }
    Ok(builder.finish()?)
}

/// As what to read a file that is none of the shapes, so that the message fits.
fn likely_shape(head: &[u8]) -> Shape {
    match head.trim_ascii_start().first() {
        Some(b'{' | b'[') => Shape::Json,
        Some(b'-' | b'#') => Shape::Yaml,
        Some(b'/') => Shape::Notation,
        _ => Shape::Bincode,
    }
}

/// A number of 64 bits without sign. The largest do not fit in the model's integers and are kept as text.
fn number(number: u64) -> Scalar<'static> {
    match i64::try_from(number) {
        Ok(i) => Scalar::Int(i),
        Err(_) => Scalar::Text(Cow::Owned(number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn load(bytes: &[u8]) -> Result<History, ReadError> {
        super::read(bytes, HistoryBuilder::new())
    }

    #[test]
    fn shapes_are_told_apart() {
        for (text, expected) in [
            ("{\"params\":{\"id\":0", Some(Shape::Json)),
            ("{\"info\":\"x\",\"data\":[]}", Some(Shape::Json)),
            ("[[],[{\"events\":[", Some(Shape::Json)),
            ("// x\n---\n[x:=1", Some(Shape::Notation)),
            ("[abc_1==? y", Some(Shape::Notation)),
            ("# x\n---\n- - events:\n", Some(Shape::Yaml)),
            ("-\n  - events:\n", Some(Shape::Yaml)),
            ("{\"session\":1,\"ops\":[],\"data\":[]}", None),
            ("[{\"type\":\"ok\"}]", None),
            ("[]", None),
            ("", None),
            ("n:5\ne:0,1\nc:1,2|2,1\n", None),
            ("-----\nw 0 1\n", None),
            ("s1: [w(x,1)]\n", None),
            ("[w(x,1)]\n", None),
        ] {
            assert_eq!(shape(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn all_shapes_say_the_same() {
        let compact = "[[{\"events\":[[\"w\",0,1]],\"committed\":true}],[{\"events\":[[\"r\",0,1],[\"r\",1,null]],\"committed\":false}]]";
        let tagged = "{\"params\":{\"id\":0},\"data\":[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":1}}],\"committed\":true}],\
            [{\"events\":[{\"Read\":{\"variable\":0,\"version\":1}},{\"Read\":{\"version\":null,\"variable\":1}}],\"committed\":false}]]}";
        let older = "{\"params\":{\"id\":0},\"data\":[[{\"events\":[{\"write\":true,\"variable\":0,\"value\":1,\"success\":true}],\"success\":true}],\
            [{\"events\":[{\"write\":false,\"variable\":0,\"value\":1,\"success\":true},{\"write\":true,\"variable\":0,\"value\":9,\"success\":false},\
            {\"write\":false,\"variable\":1,\"value\":0,\"success\":true}],\"success\":false}]]}";
        let notation = "[0:=1]\n---\n[0==1 1==?]!\n";
        let yaml = "- - events:\n    - write: true\n      variable: 0\n      value: 1\n      success: true\n    success: true\n\
            - - events:\n    - write: false\n      variable: 0\n      value: 1\n      success: true\n    - write: false\n      variable: 1\n      value: 0\n      success: true\n    success: false\n";
        let bincode =
            bincode::tests::file(&[&[(&[(1, 0, 1, 1)], 1)], &[(&[(0, 0, 1, 1), (1, 0, 9, 0), (0, 1, 0, 1)], 0)]]);
        let inputs: [&[u8]; 6] =
            [compact.as_bytes(), tagged.as_bytes(), older.as_bytes(), notation.as_bytes(), yaml.as_bytes(), &bincode];
        let records =
            |history: &History| format!("{:?}", history.transactions().map(|t| history.record(t)).collect::<Vec<_>>());
        let expected = records(&load(inputs[0]).unwrap());
        assert!(expected.contains("Aborted"));
        for input in inputs {
            assert_eq!(records(&load(input).unwrap()), expected, "{}", String::from_utf8_lossy(input));
        }
    }

    #[test]
    fn other_files_are_refused() {
        for other in ["", "{}", "[]", "[[]]", "x", "- x", "//"] {
            let empty = load(other.as_bytes());
            assert!(empty.is_err() || empty.unwrap().transaction_count() == 0, "{other}");
        }
        assert!(load(b"{\"isonomy\":1}").is_err());
    }
}
