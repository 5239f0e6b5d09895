//! `--record`: a folder with what happened.

use std::fs;
use std::path::{Path, PathBuf};

use isonomy::{Format, formats};
use isonomy_sql::Datum;
use isonomy_store::Store;

use crate::exit::Failure;
use crate::files::Target;

/// A folder that will have a record.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, so that a run need not come to its end before it is known that there is no place for it.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(path).map_err(|error| Failure::new(format_args!("{}: {error}", path.display())))?;
        Ok(Folder(path.to_path_buf()))
    }

    /// Writes what happened in a store: the history. Where it is.
    pub(crate) fn record(&self, store: &Store<Datum>) -> Result<PathBuf, Failure> {
        let path = self.0.join("history.jsonl");
        Target::new(Some(&path)).write(|out| {
            let mut sink = formats::writer(Format::Jsonl, out).expect("the format is writable");
            store.write_history(&mut *sink)
        })?;
        Ok(path)
    }
}
