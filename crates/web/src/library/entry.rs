//! One history, or one folder of a run.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isonomy::Format;
use serde_json::Value;

use super::told::Told;

/// The largest report that is read.
const LARGEST_REPORT: u64 = 64 << 20;

/// What something in the library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file, or a directory of logs.
    History,
    /// A folder that `isonomy run` kept.
    Run,
}

/// Something in the library.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    /// Where it is below its folder, for people.
    pub(crate) name: String,
    /// The file or the folder itself, without links.
    pub(crate) path: PathBuf,
    pub(crate) format: Option<Format>,
    /// Bytes of the history.
    pub(crate) size: u64,
    pub(crate) modified: SystemTime,
    /// What the report of a run says of levels.
    pub(crate) verdicts: Vec<Told>,
}

impl Entry {
    /// The report of a run, if it has come to its end.
    pub(crate) fn report(&self) -> Option<Value> {
        if self.kind == Kind::Run { report(&self.path) } else { None }
    }
}

/// The report in the folder of a run.
pub(super) fn report(folder: &Path) -> Option<Value> {
    let file = plain_file(&folder.join("report.json"))?;
    serde_json::from_reader(std::io::BufReader::new(file.take(LARGEST_REPORT))).ok()
}

/// The verdicts of a report, those asked for first.
pub(super) fn verdicts(report: &Value) -> Vec<Told> {
    let of = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    of("verdicts").iter().chain(&of("others")).filter_map(Told::from_json).collect()
}

/// Opens a file that is no link.
pub(super) fn plain_file(path: &Path) -> Option<File> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}
