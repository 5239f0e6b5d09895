//! Where a run is kept: a folder of its own with the history, what was run, and the report.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// A folder of a run.
pub(crate) struct Folder {
    path: PathBuf,
    /// Removed at the end.
    temporary: bool,
}

impl Folder {
    /// A new folder, for a run with this seed; in the temporary directory if the user wants none.
    pub(crate) fn create(out: Option<&Path>, seed: u64) -> Result<Folder, Failure> {
        let (parent, name) = match out {
            Some(out) => (out.to_path_buf(), format!("seed-{seed}")),
            None => (std::env::temp_dir(), format!("isonomy-run-{}", std::process::id())),
        };
        let fail = |path: &Path, error: io::Error| Failure::new(format_args!("{}: {error}", path.display()));
        fs::create_dir_all(&parent).map_err(|error| fail(&parent, error))?;
        // A run of the same seed that is there already stays.
        for number in 1.. {
            let path = parent.join(if number == 1 { name.clone() } else { format!("{name}-{number}") });
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Folder { path, temporary: out.is_none() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail(&path, error)),
            }
        }
        unreachable!("one of the numbers is free")
    }

    /// Where the history is.
    pub(crate) fn history(&self) -> PathBuf {
        self.path.join("history.jsonl")
    }

    /// Where it is, if it stays.
    pub(crate) fn kept(&self) -> Option<&Path> {
        (!self.temporary).then_some(&self.path)
    }

    /// It stays in any case.
    pub(crate) fn keep(&mut self) -> &Path {
        self.temporary = false;
        &self.path
    }

    /// Writes a file into it, unless it will be removed anyway.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        if self.temporary {
            return Ok(());
        }
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|error| Failure::new(format_args!("{}: {error}", path.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // Best effort: what is left is in the temporary directory.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
