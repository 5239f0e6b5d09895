//! Histories of replicated data types from files and standard input.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use isonomy_crdt::{DataType, Format, History, ReadError, read};

use crate::exit::Failure;
use crate::load::{is_stdin, name};
use crate::progress::Progress;

/// Reads a history; what is not given is taken from its content.
pub(super) fn load(
    path: &Path,
    data_type: Option<DataType>,
    format: Option<Format>,
    progress: &Progress,
) -> Result<History, Failure> {
    let input: Box<dyn Read> = if is_stdin(path) {
        Box::new(io::stdin().lock())
    } else {
        let unreadable = |error: io::Error| Failure::new(format_args!("{}: cannot be read: {error}", name(path)));
        Box::new(File::open(path).map_err(unreadable)?)
    };
    progress.doing("reading");
    read(progress.counting(input), data_type, format).map_err(|error| failure(path, &error))
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
