//! The files of the histories: made once, kept between runs.
//!
//! Each is made in a process of its own. The peak memory that the kernel reports for a child is never below that of its parent when
//! the child was started, so the process that measures must stay small.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::Command;

use isonomy_history::formats::{self, Format};
use isonomy_history::{Record, Sink};
use serde::{Deserialize, Serialize};

use crate::sets::Set;
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
    pub(crate) text: PathBuf,
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
        let [text, binary, card] = paths(set, &self.directory);
        let found = if self.fresh { None } else { read_card(&card, set).ok() };
        let noted = match found {
            Some(noted) => noted,
            None => {
                say(&format!("making {}", set.name));
                self.make(set)?;
                read_card(&card, set).map_err(|error| format!("{}: {error}", card.display()))?
            }
        };
        Ok(Files { set: set.clone(), text, binary, transactions: noted.transactions, events: noted.events })
    }

    fn make(&self, set: &Set) -> Result<(), Failure> {
        let status = Command::new(std::env::current_exe()?)
            .args(["--generate", &set.name, "--data"])
            .arg(&self.directory)
            .status()?;
        if status.success() { Ok(()) } else { Err(format!("{} was not made: {status}", set.name).into()) }
    }
}

/// Where the text, the binary and the card are.
fn paths(set: &Set, directory: &Path) -> [PathBuf; 3] {
    ["txt", "ison", "json"].map(|extension| directory.join(format!("{}.{extension}", set.name)))
}

/// What the history and whoever makes it are, for comparison with a card.
fn identity(set: &Set) -> (String, String) {
    (format!("{:?}", set.spec), env!("CARGO_PKG_VERSION").to_owned())
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
    let [text, binary, card] = paths(set, directory);
    // From here on there is no such history, until it is complete.
    match fs::remove_file(&card) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let open = |format, path: &Path| -> Result<Box<dyn Sink>, Failure> {
        let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
        formats::writer(format, out).ok_or_else(|| "the format cannot be written".into())
    };
    let mut sink = Both(open(Format::Text, &text)?, open(Format::Binary, &binary)?);
    let summary = set.spec.generate(&mut sink)?;
    let (spec, generator) = identity(set);
    let noted = Card { spec, generator, transactions: summary.records, events: summary.events };
    fs::write(card, serde_json::to_vec(&noted)?)?;
    Ok(())
}

/// Hands everything to two.
struct Both(Box<dyn Sink>, Box<dyn Sink>);

impl Sink for Both {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.0.take(record)?;
        self.1.take(record)
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end()?;
        self.1.end()
    }
}
