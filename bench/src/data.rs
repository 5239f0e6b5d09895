//! The files of the histories: made once, kept between runs.
//!
//! Each is made in a process of its own. The peak memory that the kernel reports for a child is never below that of its parent when
//! the child was started, so the process that measures must stay small.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

use isonomy_history::formats::{self, Format, ReadOptions, Source};
use isonomy_history::{HistoryBuilder, Record, Sink};
use serde::{Deserialize, Serialize};

use crate::inputs::Input;
use crate::sets::{Order, Set};
use crate::{Failure, say};

/// A directory of histories.
pub(crate) struct Data {
    directory: PathBuf,
    fresh: bool,
}

/// A history in files.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) set: Set,
    /// In a format for people, if there is one.
    pub(crate) text: Option<PathBuf>,
    pub(crate) binary: PathBuf,
    pub(crate) transactions: u64,
    pub(crate) events: u64,
}

/// What is noted beside the files. It is written last: without it they are not there.
#[derive(Serialize, Deserialize)]
struct Card {
    /// What the history is of; another specification of the same name means other files.
    spec: String,
    generator: String,
    transactions: u64,
    events: u64,
}

impl Data {
    pub(crate) fn open(directory: &Path, fresh: bool) -> Result<Data, Failure> {
        fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        Ok(Data { directory: directory.to_owned(), fresh })
    }

    /// The files of a history, made now unless they are there.
    pub(crate) fn history(&self, set: &Set) -> Result<Files, Failure> {
        let Paths { text, binary, card } = Paths::of(set, &self.directory);
        let found = if self.fresh { None } else { read_card(&card, set).ok() };
        let noted = match found {
            Some(noted) => noted,
            None => {
                say(&format!("making {}", set.name));
                self.make(set, None)?;
                read_card(&card, set).map_err(|error| format!("{}: {error}", card.display()))?
            }
        };
        Ok(Files { set: set.clone(), text, binary, transactions: noted.transactions, events: noted.events })
    }

    /// A history as a peer wants it, made now unless it is there.
    pub(crate) fn input(&self, files: &Files, input: Input) -> Result<PathBuf, Failure> {
        if input == Input::Text {
            return files.text.clone().ok_or_else(|| format!("{} has no text", files.set.name).into());
        }
        let path = input_path(&files.set, &self.directory, input);
        if !path.exists() {
            self.make(&files.set, Some(input))?;
        }
        Ok(path)
    }

    fn make(&self, set: &Set, input: Option<Input>) -> Result<(), Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--generate", &set.name, "--data"]).arg(&self.directory);
        if let Some(input) = input {
            command.args(["--as", input.name()]);
        }
        let status = command.status()?;
        if status.success() { Ok(()) } else { Err(format!("{} was not made: {status}", set.name).into()) }
    }
}

/// Where the files of a history are.
struct Paths {
    text: Option<PathBuf>,
    binary: PathBuf,
    card: PathBuf,
}

impl Paths {
    fn of(set: &Set, directory: &Path) -> Paths {
        let path = |extension| directory.join(format!("{}.{extension}", set.name));
        let text = set.text_format().map(|format| path(if format == Format::Jsonl { "jsonl" } else { "txt" }));
        Paths { text, binary: path("ison"), card: path("json") }
    }
}

/// Where the history is as a peer wants it.
fn input_path(set: &Set, directory: &Path, input: Input) -> PathBuf {
    directory.join(format!("{}.{}", set.name, input.name()))
}

/// What the history and whoever makes it are, for comparison with a card.
fn identity(set: &Set) -> (String, String) {
    (format!("{} {:?}", set.origin.identity(), set.order), env!("CARGO_PKG_VERSION").to_owned())
}

fn read_card(path: &Path, set: &Set) -> io::Result<Card> {
    let card: Card = serde_json::from_slice(&fs::read(path)?)?;
    if (card.spec.clone(), card.generator.clone()) != identity(set) {
        return Err(io::Error::other("it is of another history"));
    }
    Ok(card)
}

/// Makes the files of a history.
pub(crate) fn generate(set: &Set, directory: &Path) -> Result<(), Failure> {
    let Paths { text, binary, card } = Paths::of(set, directory);
    // From here on there is no such history, until it is complete.
    remove(&card)?;
    // What peers have is of the history that was here before.
    for input in Input::ALL {
        remove(&input_path(set, directory, input))?;
    }
    let open = |format, path: &Path| -> Result<Box<dyn Sink>, Failure> {
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        formats::writer(format, out).ok_or_else(|| "the format cannot be written".into())
    };
    let mut sink = All(vec![open(Format::Binary, &binary)?]);
    if let (Some(format), Some(text)) = (set.text_format(), &text) {
        sink.0.push(open(format, text)?);
    }
    let (transactions, events) = match set.order {
        Order::Recorded => set.origin.generate(&mut sink)?,
        Order::BySession => {
            let mut builder = HistoryBuilder::new();
            let made = set.origin.generate(&mut builder)?;
            let history = builder.finish()?;
            for txn in history.transactions() {
                sink.take(&history.record(txn))?;
            }
            sink.end()?;
            made
        }
    };
    let (spec, generator) = identity(set);
    let noted = Card { spec, generator, transactions, events };
    fs::write(card, serde_json::to_vec(&noted)?)?;
    Ok(())
}

/// Writes a history that is there as a peer wants it.
pub(crate) fn convert(set: &Set, directory: &Path, input: Input) -> Result<(), Failure> {
    let Paths { binary, .. } = Paths::of(set, directory);
    let history = formats::read(Source::Stream(Box::new(File::open(binary)?)), ReadOptions::default())?;
    let path = input_path(set, directory, input);
    // Under another name until it is complete.
    let unfinished = path.with_extension("unfinished");
    remove(&unfinished)?;
    input.write(&history, &unfinished)?;
    fs::rename(unfinished, path)?;
    Ok(())
}

/// Removes a file, or a directory of files, if there is one.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Hands everything to all of them.
struct All(Vec<Box<dyn Sink>>);

impl Sink for All {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|sink| sink.take(record))
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|sink| sink.end())
    }
}
