//! A job: what it does, how far it is, and what it left.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::{Check, Run};
use crate::library::{Entry, Told};

/// The largest output that is read.
const LARGEST_OUTPUT: u64 = 256 << 20;

/// What a job does.
#[derive(Clone, Debug)]
pub(crate) enum Task {
    Check(Check),
    Run(Run),
}

impl Task {
    /// For people.
    pub(crate) fn title(&self) -> String {
        match self {
            Task::Check(check) => format!("Check of {}", check.name),
            Task::Run(run) => format!("Run against {}", run.shown()),
        }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    Running,
    /// Somebody asked it to stop, and it is about to.
    Stopping,
    /// It ended by itself, with this exit code.
    Ended(i32),
    /// It was stopped before its end.
    Stopped,
}

/// How far a job is.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Progress {
    pub(crate) state: State,
    /// What it is doing.
    pub(crate) doing: String,
    /// How much is done, of how much if that is known.
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) seconds: f64,
    /// The last that it said on standard error.
    pub(crate) said: Vec<String>,
}

/// A job.
#[derive(Debug)]
pub(crate) struct Job {
    number: u64,
    task: Task,
    folder: PathBuf,
    began: Instant,
    pub(crate) started: SystemTime,
    /// The process, until it has ended: after that its number may be somebody else's.
    process: Mutex<Option<Pid>>,
    progress: watch::Sender<Progress>,
    /// What it told of levels, once it has ended and somebody asked.
    verdicts: OnceLock<Vec<Told>>,
}

impl Job {
    pub(super) fn new(number: u64, task: Task, folder: PathBuf, process: Pid) -> Self {
        let progress = Progress {
            state: State::Running,
            doing: "starting".into(),
            done: 0,
            total: None,
            seconds: 0.0,
            said: Vec::new(),
        };
        Job {
            number,
            task,
            folder,
            began: Instant::now(),
            started: SystemTime::now(),
            process: Mutex::new(Some(process)),
            progress: watch::channel(progress).0,
            verdicts: OnceLock::new(),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn task(&self) -> &Task {
        &self.task
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn progress(&self) -> Progress {
        let mut progress = self.progress.borrow().clone();
        if matches!(progress.state, State::Running | State::Stopping) {
            progress.seconds = self.began.elapsed().as_secs_f64();
        }
        progress
    }

    /// Told of all that comes.
    pub(crate) fn follow(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub(crate) fn state(&self) -> State {
        self.progress.borrow().state
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state(), State::Running | State::Stopping)
    }

    pub(crate) fn is_check_of(&self, entry: &Entry) -> bool {
        matches!(&self.task, Task::Check(check) if check.is_of(entry))
    }

    /// Changes what is told.
    pub(super) fn tell(&self, change: impl FnOnce(&mut Progress)) {
        let seconds = self.began.elapsed().as_secs_f64();
        self.progress.send_modify(|progress| {
            progress.seconds = seconds;
            change(progress);
        });
    }

    /// Asks the process to end, as ctrl-C would: a run still checks what it has. Whoever asks twice does not want to wait for that.
    pub(crate) fn stop(&self) {
        let process = self.process.lock().expect("no thread panics with the lock");
        let Some(process) = *process else { return };
        let signal = match self.state() {
            State::Running => Signal::INT,
            _ => Signal::KILL,
        };
        self.tell(|progress| progress.state = State::Stopping);
        // It may just have ended by itself.
        let _ = kill_process(process, signal);
    }

    /// Ends the process at once, or nearly so: one that has children of its own gets a moment to end those.
    pub(crate) fn kill(&self) {
        self.stop();
        let patience = Instant::now() + Duration::from_secs(2);
        while self.is_running() && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(20));
        }
        self.stop();
    }

    /// The process has ended, and is not to be signalled any more.
    pub(super) fn forget(&self) {
        *self.process.lock().expect("no thread panics with the lock") = None;
    }

    /// How it ended: with an exit code, or by a signal.
    pub(super) fn over(&self, code: Option<i32>) {
        self.tell(|progress| {
            progress.state = match (code, progress.state) {
                (Some(code), _) if (0..=3).contains(&code) => State::Ended(code),
                (_, State::Stopping) => State::Stopped,
                (code, _) => State::Ended(code.unwrap_or(2)),
            };
        });
    }

    /// The lines of JSON that the process wrote.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let Some(file) = self.open("verdicts.jsonl") else { return Vec::new() };
        let lines = BufReader::new(file.take(LARGEST_OUTPUT)).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
    }

    /// The verdicts among them. They are asked for often, by lists above all, and do not change once the process has ended.
    pub(crate) fn verdicts(&self) -> Vec<Told> {
        let read = || self.lines().iter().filter_map(Told::from_json).collect();
        if self.is_running() { read() } else { self.verdicts.get_or_init(read).clone() }
    }

    /// A file that the process wrote.
    pub(crate) fn open(&self, name: &str) -> Option<File> {
        File::open(self.folder.join(name)).ok()
    }

    /// All of it.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(name)).ok()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.folder.join(name).is_file()
    }
}
