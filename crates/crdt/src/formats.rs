//! Files that hold histories of replicated data types, and how they are told apart.
//!
//! [`Format::Notation`] is for people and tests, [`Format::Jsonl`] for programs. Both are read line by line, and both
//! may name the type of the history on their first line.

mod jsonl;
mod lines;
mod notation;
mod part;

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;

use crate::data_type::{DataType, UnknownType};
use crate::history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation};
use lines::Lines;

/// How many operations a written line holds at most, so that readers need not hold a long replica at once.
const PER_LINE: usize = 1000;

/// How a history is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// A JSON object a line: `{"replica":"a","ops":[["add","x"],["contains","x",true]]}`.
    Jsonl,
    /// A replica a line: `a: add(x) contains(x)=true`.
    Notation,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 2] = [Format::Jsonl, Format::Notation];

    /// The name, for arguments.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Notation => "notation",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no format of replicated data types is called `{0}`; there are jsonl and notation")]
pub struct UnknownFormat(pub Box<str>);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.into()))
    }
}

/// Why a history could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not of the format.
    #[error("line {line}: expected {expected}, found {found}")]
    Malformed {
        /// The line, from 1.
        line: u32,
        /// What could have stood there.
        expected: Box<str>,
        /// What stands there.
        found: Box<str>,
    },
    /// A line is not the JSON of the format.
    #[error("line {line}, column {column}: {wrong}")]
    Json {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What is wrong, and what was expected.
        wrong: Box<str>,
    },
    /// An operation that the history cannot have.
    #[error("line {line}: {source}")]
    Impossible {
        /// The line, from 1.
        line: u32,
        /// Why not.
        #[source]
        source: HistoryError,
    },
    /// The first line names a type that does not exist.
    #[error("line {line}: {source}")]
    UnknownType {
        /// The line, from 1.
        line: u32,
        /// The name.
        #[source]
        source: UnknownType,
    },
    /// Another type was asked for than the file names.
    #[error("line {line}: the history is of type {found}, but `--type {given}` was given")]
    OtherType {
        /// The line, from 1.
        line: u32,
        /// The type asked for.
        given: DataType,
        /// The type named by the file.
        found: DataType,
    },
    /// Neither the file nor the caller names the type.
    #[error(
        "the type of the history is not known: give `--type`, or begin the file with `type: or-set` \
         or {{\"crdt\":1,\"type\":\"or-set\"}}"
    )]
    NoType,
    /// More lines than line numbers can count.
    #[error("the history is too large: more than 2^32 lines")]
    TooLarge,
    /// The input failed.
    #[error("the history could not be read")]
    Input(#[from] io::Error),
}

/// Reads a history. What is not given is taken from the content: the format from how it begins, the type from its
/// first line.
///
/// ```
/// let text = "type: or-set / a: add(x) contains(x)=true / b: remove(x) contains(x)=false";
/// let history = isonomy_crdt::read(text.as_bytes(), None, None)?;
/// assert_eq!(history.len(), 4);
/// # Ok::<(), isonomy_crdt::ReadError>(())
/// ```
///
/// # Errors
///
/// See [`ReadError`].
pub fn read(input: impl Read, data_type: Option<DataType>, format: Option<Format>) -> Result<History, ReadError> {
    let mut lines = Lines::new(input);
    let format = match format {
        Some(format) => format,
        None if lines.first_byte()? == Some(b'{') => Format::Jsonl,
        None => Format::Notation,
    };
    let mut reading = Reading { data_type, builder: None };
    match format {
        Format::Jsonl => jsonl::read(&mut lines, &mut reading)?,
        Format::Notation => notation::read(&mut lines, &mut reading)?,
    }
    // A file without operations still is of some type.
    reading.builder()?;
    reading.builder.map(HistoryBuilder::finish).ok_or(ReadError::NoType)
}

/// Writes a history so that [`read`] gives it back. The output should be buffered.
///
/// # Errors
///
/// Those of the output.
pub fn write(history: &History, format: Format, mut out: impl Write) -> io::Result<()> {
    match format {
        Format::Jsonl => jsonl::write(history, &mut out)?,
        Format::Notation => notation::write(history, &mut out)?,
    }
    out.flush()
}

/// A history being read, whose type may be named by its first line.
struct Reading {
    data_type: Option<DataType>,
    builder: Option<HistoryBuilder>,
}

impl Reading {
    fn name_type(&mut self, line: u32, name: &str) -> Result<(), ReadError> {
        let found: DataType = name.parse().map_err(|source| ReadError::UnknownType { line, source })?;
        match self.data_type {
            Some(given) if given != found => Err(ReadError::OtherType { line, given, found }),
            _ => {
                self.data_type = Some(found);
                Ok(())
            }
        }
    }

    fn data_type(&self) -> Result<DataType, ReadError> {
        self.data_type.ok_or(ReadError::NoType)
    }

    fn builder(&mut self) -> Result<&mut HistoryBuilder, ReadError> {
        let data_type = self.data_type()?;
        Ok(self.builder.get_or_insert_with(|| HistoryBuilder::new(data_type)))
    }

    fn push(&mut self, line: u32, replica: &Label, operation: NamedOperation) -> Result<(), ReadError> {
        let builder = self.builder()?;
        builder.set_line(line);
        builder.push(replica.clone(), operation).map_err(|source| ReadError::Impossible { line, source })
    }
}

/// What follows the name of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Add,
    Remove,
    Contains,
    Write,
    /// The read of a register that returns a set.
    ReadSet,
    /// The read of a register that returns one value or none.
    ReadOne,
    Increment,
    Decrement,
    Count,
    Insert,
    Delete,
    List,
}

/// What an operation of a type looks like, by its name.
fn shape(data_type: DataType, method: &str) -> Option<Shape> {
    let methods = data_type.methods();
    let [first, second, query] = match data_type {
        DataType::OrSet | DataType::RwSet | DataType::EwFlag | DataType::DwFlag => {
            [Shape::Add, Shape::Remove, Shape::Contains]
        }
        DataType::MvRegister => [Shape::Write, Shape::Write, Shape::ReadSet],
        DataType::LwwRegister => [Shape::Write, Shape::Write, Shape::ReadOne],
        DataType::Counter => [Shape::Increment, Shape::Decrement, Shape::Count],
        DataType::Rga => [Shape::Insert, Shape::Delete, Shape::List],
    };
    if method == methods.first {
        Some(first)
    } else if Some(method) == methods.second {
        Some(second)
    } else if method == methods.query {
        Some(query)
    } else {
        None
    }
}

/// The names of a type's operations, for messages.
fn methods(data_type: DataType) -> String {
    let methods = data_type.methods();
    let second = methods.second.map(|second| format!(", {second}")).unwrap_or_default();
    format!("an operation of type {data_type}: {}{second} or {}", methods.first, methods.query)
}

/// The values of a set by their names, so that what is written does not depend on how the history was built.
fn sorted<'h>(history: &'h History, values: &[LabelId]) -> Vec<&'h Label> {
    let mut labels: Vec<&Label> = values.iter().map(|&value| history.label(value)).collect();
    labels.sort_unstable();
    labels
}

#[cfg(test)]
mod tests;
