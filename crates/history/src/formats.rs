//! File formats, one module each: detection by content, reading, writing.
//!
//! Readers stream: they hold the history that they build and one buffer, never the file.

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;

use crate::builder::HistoryBuilder;
use crate::error::{HistoryError, Place};
use crate::history::History;
use crate::record::Sink;

mod awdit;
mod binary;
mod cobra;
mod dbcop;
mod elle;
mod hist;
mod json;
mod jsonl;
mod lines;
mod numbers;
mod stream;
mod text;
mod timestamped;
mod viper;

pub use binary::BinaryWriter;
pub use hist::HistWriter;
pub use jsonl::{JsonlWriter, write_event as write_jsonl_event, write_name as write_jsonl_name};
pub use text::TextWriter;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Native: one transaction a line, in JSON.
    Jsonl,
    /// Native: a notation for people, a session a line.
    Hist,
    /// Native: compact columns, for large histories.
    Binary,
    /// `r(key,value,session,txn)` lines (PolySI, Plume).
    Text,
    /// dbcop: bincode, JSON or YAML.
    Dbcop,
    /// A directory of Cobra logs.
    Cobra,
    /// A directory of Viper logs, JSON lines.
    Viper,
    /// Jepsen and Elle: list-append and rw-register, EDN or JSON.
    Elle,
    /// AWDIT's test text.
    Awdit,
    /// Timestamped JSON (Chronos, Aion, TimeKiller).
    Timestamped,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 10] = [
        Format::Jsonl,
        Format::Hist,
        Format::Binary,
        Format::Text,
        Format::Dbcop,
        Format::Cobra,
        Format::Viper,
        Format::Elle,
        Format::Awdit,
        Format::Timestamped,
    ];

    /// Its name on command lines and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Hist => "hist",
            Format::Binary => "binary",
            Format::Text => "text",
            Format::Dbcop => "dbcop",
            Format::Cobra => "cobra",
            Format::Viper => "viper",
            Format::Elle => "elle",
            Format::Awdit => "awdit",
            Format::Timestamped => "timestamped",
        }
    }

    /// What it is, in a few words.
    pub fn description(self) -> &'static str {
        match self {
            Format::Jsonl => "native: one transaction a line, in JSON",
            Format::Hist => "native: a notation for people and tests, a session a line",
            Format::Binary => "native: compact columns with checksums (.ison), for large histories",
            Format::Text => "r(key,value,session,txn) lines of PolySI and Plume",
            Format::Dbcop => "dbcop: bincode, JSON or YAML",
            Format::Cobra => "a directory of Cobra logs (T*.log)",
            Format::Viper => "a directory of Viper logs (J*.log, JSON lines)",
            Format::Elle => "Jepsen and Elle: list-append and rw-register, EDN or JSON",
            Format::Awdit => "AWDIT's test text",
            Format::Timestamped => "timestamped JSON of Chronos, Aion and TimeKiller",
        }
    }

    /// Whether histories can be written in it.
    pub fn is_writable(self) -> bool {
        matches!(self, Format::Jsonl | Format::Hist | Format::Binary | Format::Text)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Format::ALL.into_iter().find(|f| f.name() == name).ok_or_else(|| UnknownFormat(name.into()))
    }
}

/// There is no format of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{0}`; known are {known}", known = Format::ALL.map(Format::name).join(", "))]
pub struct UnknownFormat(pub Box<str>);

/// Why a history could not be read. Each variant says where, and what was expected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is not in the format.
    #[error("{place}: expected {expected}, found {found}")]
    Malformed {
        /// Where.
        place: Place,
        /// What should be there.
        expected: Box<str>,
        /// What is there.
        found: Box<str>,
    },
    /// The input is in the format, but no history.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The input is in no known format.
    #[error("the format is not recognized; name it with --format ({known})", known = Format::ALL.map(Format::name).join(", "))]
    Unrecognized,
    /// The format wants a directory of logs where a file was given, or the reverse.
    #[error("format {format} is {}", if *.directory { "a directory of log files, not one file" } else { "one file, not a directory" })]
    WrongShape {
        /// The format.
        format: Format,
        /// Whether it wants a directory.
        directory: bool,
    },
    /// The input could not be read at all.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}

impl ReadError {
    fn malformed(place: Place, expected: impl Into<Box<str>>, found: impl Into<Box<str>>) -> Self {
        ReadError::Malformed { place, expected: expected.into(), found: found.into() }
    }
}

/// What to read a history from.
pub enum Source<'a> {
    /// One file.
    Stream(Box<dyn Read + 'a>),
    /// A directory of logs, each with its name.
    Directory(Vec<(String, Box<dyn Read + 'a>)>),
}

/// How to read a history.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// The format; detected by content if absent.
    pub format: Option<Format>,
    /// Fail cleanly when the history needs more memory than this many bytes.
    pub memory_limit: Option<usize>,
    /// How long the input is in bytes, if that is known: a hint that makes reading faster.
    pub size: Option<u64>,
}

/// Reads a history.
pub fn read(source: Source<'_>, options: ReadOptions) -> Result<History, ReadError> {
    let mut builder = HistoryBuilder::new();
    builder.set_memory_limit(options.memory_limit.unwrap_or(usize::MAX));
    match source {
        Source::Stream(mut stream) => {
            let mut head = Vec::new();
            stream.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
            let format = options.format.or_else(|| detect(&head)).ok_or(ReadError::Unrecognized)?;
            let input = io::Cursor::new(head).chain(stream);
            if format != Format::Binary {
                builder.expect_input(options.size.unwrap_or(0));
            }
            match format {
                Format::Jsonl => jsonl::read(input, builder),
                Format::Hist => hist::read(input, builder),
                Format::Binary => binary::read(input, builder),
                Format::Text => text::read(input, builder),
                Format::Dbcop => dbcop::read(input, builder),
                Format::Elle => elle::read(input, builder),
                Format::Awdit => awdit::read(input, builder),
                Format::Timestamped => timestamped::read(input, builder),
                Format::Viper => viper::read(vec![(String::new(), Box::new(input))], builder),
                Format::Cobra => Err(ReadError::WrongShape { format, directory: true }),
            }
        }
        Source::Directory(mut files) => {
            files.sort_by(|a, b| natural_order(&a.0, &b.0));
            let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
            match options.format.or_else(|| detect_directory(&names)) {
                Some(Format::Cobra) => cobra::read(files, builder),
                Some(Format::Viper) => viper::read(files, builder),
                Some(format) => Err(ReadError::WrongShape { format, directory: false }),
                None => Err(ReadError::Unrecognized),
            }
        }
    }
}

/// How much of a file is looked at to tell its format.
const HEAD: usize = 64 << 10;

/// Tells the format of a file by its first bytes.
pub fn detect(head: &[u8]) -> Option<Format> {
    type Test = fn(&[u8]) -> bool;
    // From the most particular to the least.
    let tests: [(Format, Test); 9] = [
        (Format::Binary, binary::detect),
        (Format::Dbcop, dbcop::detect),
        (Format::Timestamped, timestamped::detect),
        (Format::Elle, elle::detect),
        (Format::Viper, viper::detect),
        (Format::Jsonl, jsonl::detect),
        (Format::Text, text::detect),
        (Format::Awdit, awdit::detect),
        (Format::Hist, hist::detect),
    ];
    tests.into_iter().find(|(_, test)| test(head)).map(|(format, _)| format)
}

/// Tells the format of a directory by the names in it.
fn detect_directory(names: &[&str]) -> Option<Format> {
    let all = |first: char| {
        !names.is_empty()
            && names.iter().all(|name| {
                let number = name.strip_prefix(first).and_then(|rest| rest.strip_suffix(".log"));
                number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            })
    };
    if all('T') {
        Some(Format::Cobra)
    } else if all('J') {
        Some(Format::Viper)
    } else {
        None
    }
}

/// `T2.log` before `T10.log`.
fn natural_order(a: &str, b: &str) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Opens a file for writing in a format, record by record; `None` if the format cannot be written.
pub fn writer<'w, W: Write + 'w>(format: Format, out: W) -> Option<Box<dyn Sink + 'w>> {
    Some(match format {
        Format::Jsonl => Box::new(JsonlWriter::new(out)),
        Format::Hist => Box::new(HistWriter::new(out)),
        Format::Binary => Box::new(BinaryWriter::new(out)),
        Format::Text => Box::new(TextWriter::new(out)),
        _ => return None,
    })
}

/// Writes a whole history; `None` if the format cannot be written.
pub fn write<W: Write>(history: &History, format: Format, out: W) -> Option<io::Result<()>> {
    let mut sink = writer(format, out)?;
    for &txn in history.transactions_as_given() {
        if let Err(error) = sink.take(&history.record(txn)) {
            return Some(Err(error));
        }
    }
    Some(sink.end())
}
