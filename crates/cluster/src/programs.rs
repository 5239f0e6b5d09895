//! Where programs are installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Debian keeps servers out of an ordinary user's search path.
const ALSO: [&str; 3] = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/// Finds a program by name in the search path and in the system's folders.
pub(crate) fn find(program: &str, package: &'static str) -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(ALSO.map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| Error::Missing { program: program.into(), package })
}

/// Finds a file that has one place.
pub(crate) fn find_file(path: &str, package: &'static str) -> Result<PathBuf, Error> {
    let file = PathBuf::from(path);
    if file.is_file() { Ok(file) } else { Err(Error::Missing { program: path.into(), package }) }
}

/// The newest folder `parent/N/inside` that has `program`, where N is a version.
pub(crate) fn find_newest(parent: &str, inside: &str, program: &str, package: &'static str) -> Result<PathBuf, Error> {
    let version = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    fs::read_dir(parent)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(inside).join(program).is_file())
        .max_by_key(|path| version(path))
        .map(|path| path.join(inside))
        .ok_or_else(|| Error::Missing { program: program.into(), package })
}
