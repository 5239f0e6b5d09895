//! Long work: checks and runs, each a process of the command `isonomy`.
//!
//! A job has a folder of its own for what the process writes. Few jobs run at a time, and few are kept: the oldest that has ended makes room
//! for the next, with its folder.

mod check;
mod job;
mod process;
mod run;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) use check::Check;
pub(crate) use job::{Job, Progress, State, Task};
pub(crate) use run::Run;

use crate::config::Limits;
use crate::library::Entry;

/// All jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    program: PathBuf,
    /// Where jobs have their folders.
    folder: PathBuf,
    limits: Limits,
    next: AtomicU64,
    table: Mutex<Vec<Arc<Job>>>,
}

/// Why a job did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("{0} jobs are running already; stop one, or wait until it is done")]
    TooMany(usize),
    #[error("the job could not be started: {0}")]
    Io(#[from] std::io::Error),
}

impl Jobs {
    pub(crate) fn new(program: PathBuf, folder: PathBuf, limits: Limits) -> Self {
        Jobs { program, folder, limits, next: AtomicU64::new(1), table: Mutex::default() }
    }

    /// Starts a job.
    pub(crate) fn start(&self, task: Task) -> Result<Arc<Job>, StartError> {
        // The lock is kept until the process is there: two that come at once must not both take the last place.
        let mut table = self.table.lock().expect("no thread panics with the lock");
        let running = table.iter().filter(|job| job.is_running()).count();
        if running >= self.limits.running {
            return Err(StartError::TooMany(running));
        }
        while table.len() >= self.limits.kept.max(self.limits.running + 1) {
            let Some(oldest) = table.iter().position(|job| !job.is_running()) else { break };
            let job = table.remove(oldest);
            // Best effort: all of it is in a temporary folder.
            let _ = fs::remove_dir_all(job.folder());
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(format!("job-{number}"));
        fs::create_dir(&folder)?;
        let job = process::start(&self.program, number, folder, task)?;
        table.push(Arc::clone(&job));
        Ok(job)
    }

    /// All that are kept, the newest first.
    pub(crate) fn list(&self) -> Vec<Arc<Job>> {
        self.table.lock().expect("no thread panics with the lock").iter().rev().cloned().collect()
    }

    /// The one with this number.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Job>> {
        self.list().into_iter().find(|job| job.number() == number)
    }

    /// The checks of a history as it is now that came to their ends, the newest first.
    pub(crate) fn checks_of(&self, entry: &Entry) -> Vec<Arc<Job>> {
        let is_one = |job: &Arc<Job>| matches!(job.state(), State::Ended(0 | 1 | 3)) && job.is_check_of(entry);
        self.list().into_iter().filter(is_one).collect()
    }

    /// Ends all that run, at once.
    pub(crate) fn close(&self) {
        self.list().iter().for_each(|job| job.kill());
    }
}
