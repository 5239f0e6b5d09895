//! Records what clients see, as it happens, so that nothing is lost if the recorder is killed.
//!
//! The history is a file of lines in the native format `jsonl`. Each session appends a line of its own when a transaction has ended, before the
//! next one begins. What a kill could lose is the transaction that is open then; and if it wrote something that others read, their reads would
//! look as if they came out of thin air. So before a write or a commit is sent, the transaction as it is so far is put beside, into a file of
//! open transactions. [`recover`] adds those that are there and not in the history, as transactions of which nobody knows how they ended.
//!
//! An application can record its own transactions:
//!
//! ```
//! use isonomy_driver::Recorder;
//!
//! # let folder = std::env::temp_dir().join(format!("isonomy-recorder-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("history.jsonl");
//! let recorder = Recorder::create(&path)?;
//! let mut session = recorder.session("checkout-1"); // One for each connection.
//!
//! session.begin(); // Before BEGIN is sent.
//! session.read("stock/7", 3); // After each answer: what was read.
//! session.write("stock/7", 4)?; // Before each write is sent. No two writes of a key have the same value.
//! session.committing()?; // Before COMMIT is sent.
//! session.committed()?; // After its answer; else `aborted`, or `unknown` if none came.
//!
//! drop(session);
//! recorder.finish()?;
//! assert!(std::fs::read_to_string(&path)?.contains(r#"["r","stock/7",3],["w","stock/7",4]"#));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Then `isonomy check history.jsonl`. Values may be numbers or texts; a version counter will do, and so will a random number in a column of
//! its own. What another process writes must be recorded there; histories of several recorders can be put one after the other if their
//! sessions have different names and their times come from clocks that agree.

mod pending;
mod recover;
mod session;

pub use recover::{Leftover, leftover, recover};
pub use session::SessionRecorder;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use isonomy_history::Name;

use pending::Pending;

/// The first line of a history.
const HEADER: &[u8] = b"{\"isonomy\":1}\n";

/// Why something could not be recorded. What was recorded before is complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}; what was recorded until then is complete")]
pub struct RecordError {
    path: String,
    message: String,
}

impl RecordError {
    fn new(path: &Path, error: &io::Error) -> Self {
        RecordError { path: path.display().to_string(), message: error.to_string() }
    }
}

/// Records histories; see the [module](self).
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
}

impl Recorder {
    /// Begins a history. The file of open transactions lies beside it, with the ending `pending`. What a file of this name holds is lost.
    pub fn create(path: impl AsRef<Path>) -> Result<Recorder, RecordError> {
        let path = path.as_ref().to_path_buf();
        let fail = |error: io::Error| RecordError::new(&path, &error);
        // Emptied first, since appending and truncating exclude each other.
        File::create(&path).map_err(fail)?;
        let mut file = OpenOptions::new().append(true).open(&path).map_err(fail)?;
        file.write_all(HEADER).map_err(fail)?;
        let beside = beside(&path);
        let pending = Pending::create(&beside).map_err(|error| RecordError::new(&beside, &error))?;
        let history = Mutex::new(Appended { file, length: HEADER.len() as u64, failed: None });
        let kept = Some(Kept { history, pending });
        Ok(Recorder { shared: Arc::new(Shared { path, kept, clock: Instant::now() }) })
    }

    /// Keeps nothing and opens no file: to measure what recording costs.
    pub fn of_nothing() -> Recorder {
        Recorder { shared: Arc::new(Shared { path: PathBuf::new(), kept: None, clock: Instant::now() }) }
    }

    /// A new session. Its name is its own: two sessions of one name would be taken for one.
    pub fn session<'n>(&self, name: impl Into<Name<'n>>) -> SessionRecorder {
        SessionRecorder::new(Arc::clone(&self.shared), name.into())
    }

    /// Where the history is; empty if none is kept.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Ends the history. All sessions have ended; without this, they would be looked for among the open transactions.
    pub fn finish(self) -> Result<(), RecordError> {
        let Some(kept) = &self.shared.kept else { return Ok(()) };
        if let Some(error) = &kept.lock().failed {
            return Err(error.clone());
        }
        kept.pending.remove().map_err(|error| RecordError::new(kept.pending.path(), &error))
    }
}

/// The file of open transactions that belongs to a history.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("pending")
}

/// What all sessions share.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    /// Nothing if nothing is to be kept.
    kept: Option<Kept>,
    clock: Instant,
}

/// The files of a history.
#[derive(Debug)]
struct Kept {
    history: Mutex<Appended>,
    pending: Pending,
}

#[derive(Debug)]
struct Appended {
    file: File,
    /// As far as lines are complete.
    length: u64,
    failed: Option<RecordError>,
}

impl Shared {
    /// Nanoseconds since the recorder began.
    fn now(&self) -> i64 {
        i64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Appended> {
        self.history.lock().expect("nothing panics with the lock")
    }

    /// Adds a line by one call of the system, so that whoever is killed leaves whole lines. Under a lock, because a disk that is full takes
    /// a part of a line, and nobody may write behind it.
    fn append(&self, path: &Path, line: &[u8]) -> Result<(), RecordError> {
        debug_assert!(line.ends_with(b"\n"), "a line has an end");
        let mut history = self.lock();
        if let Some(error) = &history.failed {
            return Err(error.clone());
        }
        let mut from = 0;
        while from < line.len() {
            match history.file.write(&line[from..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) if written > 0 => from += written,
                other => {
                    let error = other.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into());
                    let error = RecordError::new(path, &error);
                    // If this fails too, the reader cuts the line off.
                    let _ = history.file.set_len(history.length);
                    history.failed = Some(error.clone());
                    return Err(error);
                }
            }
        }
        history.length += line.len() as u64;
        Ok(())
    }

    /// Nothing more can be recorded.
    fn fail(&self, path: &Path, error: &io::Error) -> RecordError {
        self.lock().failed.get_or_insert_with(|| RecordError::new(path, error)).clone()
    }
}
