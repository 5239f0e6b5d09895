//! Which isolation does your database really give you? A library to find out, in a test of your own.
//!
//! Record what each client saw, or read a file that another tool recorded; ask for a level; on a violation get the story:
//!
//! ```should_panic
//! use isonomy::{HistoryBuilder, IsolationLevel, assert_satisfies};
//!
//! let mut history = HistoryBuilder::new();
//! history.transaction("alice").write("x", 1).commit();
//! history.transaction("bob").read("x", 1).write("y", 1).commit();
//! history.transaction("carol").read("y", 1).read("x", None::<i64>).commit();
//! let history = history.finish().unwrap();
//!
//! assert_satisfies(&history, IsolationLevel::ReadAtomic); // carol missed nothing of what she saw directly …
//! assert_satisfies(&history, IsolationLevel::Causal);     // … but y came from x: panics, and says why
//! ```
//!
//! The verdict itself is data: [`check`] returns a [`Verdict`] with its evidence, [`certify`](certify::certify) checks the evidence again with code of its
//! own, [`explain`] tells it, [`Drawing`] draws it, [`Page`] is for browsers. No async runtime, no database client, no web.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

pub use isonomy_checker::{
    ANOMALIES, Ablation, Anomaly, AnomalyInfo, Case, Counterexample, Distinction, Edge, End, Engine, Evidence,
    Explanation, IsolationLevel, Options, Participant, Party, Reason, Refutation, Relation, Sentence, Stage, Standing,
    Step, Terms, Topic, UnknownAnomaly, UnknownLevel, Verdict, Why, Witness, certify, check, explain, frontier, oracle,
    patterns, report, versions_are_determined,
};
pub use isonomy_draw::{Drawing, Exhibit, Page, Section, VerdictRow, gallery};
pub use isonomy_history::formats::{self, Format, ReadError, ReadOptions};
pub use isonomy_history::{
    Datum, Event, EventId, History, HistoryBuilder, HistoryError, InitialRule, Key, Name, NamedEvent, Outcome, Place,
    Record, SessionId, Sink, Times, TransactionBuilder, TxnId, Value,
};

/// Why a history could not be opened: the path, and what was wrong.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct OpenError {
    /// The path that was given.
    pub path: Box<str>,
    /// What was wrong.
    #[source]
    pub source: Box<ReadError>,
}

/// Reads a history from a file, or from a directory of logs, in whatever format it is.
pub fn open(path: impl AsRef<Path>) -> Result<History, OpenError> {
    open_with(path, ReadOptions::default(), |file| Box::new(file))
}

/// [`open`], with options, and with each file wrapped, as a progress bar would.
pub fn open_with(
    path: impl AsRef<Path>,
    mut options: ReadOptions,
    mut wrap: impl FnMut(File) -> Box<dyn Read>,
) -> Result<History, OpenError> {
    let path = path.as_ref();
    let fail = |source: ReadError| OpenError { path: path.display().to_string().into(), source: Box::new(source) };
    let source = if path.is_dir() {
        let files = logs(path).map_err(|error| fail(error.into()))?;
        formats::Source::Directory(files.into_iter().map(|(name, file)| (name, wrap(file))).collect())
    } else {
        let file = File::open(path).map_err(|error| fail(error.into()))?;
        options.size = options.size.or_else(|| file.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()));
        formats::Source::Stream(wrap(file))
    };
    formats::read(source, options).map_err(fail)
}

/// The log files of a directory, with their names.
fn logs(directory: &Path) -> io::Result<Vec<(String, File)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new("log")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, File::open(&path)?));
        }
    }
    // The order of a directory is nobody's; histories must come out the same everywhere.
    files.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(files)
}

/// Panics with the story if the history violates the level, or if that cannot be decided.
#[track_caller]
pub fn assert_satisfies(history: &History, level: IsolationLevel) {
    match check(history, level, &Options::default()) {
        Verdict::Holds(_) => {}
        Verdict::Violated(counterexample) => {
            panic!("the history violates {level}\n{}", explain(history, &counterexample))
        }
        Verdict::Undecided(reason) => panic!("whether the history satisfies {level} is undecided: {reason}"),
    }
}
