//! Histories of replicated data types from files and standard input.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use clap::Args;
use isonomy_crdt::{DataType, Format, History, ReadError, read};

use crate::exit::Failure;
use crate::load::{is_stdin, name};
use crate::progress::Progress;

/// What histories are, where they do not say it themselves.
#[derive(Debug, Args)]
pub(crate) struct Kind {
    /// The type; as the history says if absent; `isonomy crdt types` lists them
    #[arg(long, short, value_name = "T")]
    r#type: Option<DataType>,
    /// The format, jsonl or notation; by the content if absent
    #[arg(long, short, value_name = "F")]
    format: Option<Format>,
}

/// Reads a history.
pub(super) fn load(path: &Path, kind: &Kind, progress: &Progress) -> Result<History, Failure> {
    let input: Box<dyn Read> = if is_stdin(path) {
        Box::new(io::stdin().lock())
    } else {
        let unreadable = |error: io::Error| Failure::new(format_args!("{}: cannot be read: {error}", name(path)));
        Box::new(File::open(path).map_err(unreadable)?)
    };
    progress.doing("reading");
    read(progress.counting(input), kind.r#type, kind.format).map_err(|error| failure(path, &error))
}

fn failure(path: &Path, error: &ReadError) -> Failure {
    let cause = error.source().filter(|_| matches!(error, ReadError::Input(_)));
    let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    let failure = Failure::new(format_args!("{}: {error}{cause}", name(path)));
    match error {
        ReadError::NoType | ReadError::UnknownType { .. } => failure.hint("`isonomy crdt types` lists the types"),
        _ => failure,
    }
}
