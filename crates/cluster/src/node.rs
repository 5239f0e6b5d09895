//! One node of a server.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, end_of};
use crate::folder::Folder;
use crate::launch::Launch;
use crate::process::Process;

/// How long a node may take to get ready. A Galera node that copies another's data on a busy machine needs half a minute.
const PATIENCE: Duration = Duration::from_secs(120);

/// One node of a server: something with a URL that can fail on its own.
pub struct Node {
    name: String,
    url: String,
    folder: PathBuf,
    log: PathBuf,
    launch: Launch,
    ready: Box<dyn Fn() -> bool + Send + Sync>,
    process: Mutex<Option<Process>>,
}

/// What it takes to start a node.
pub(crate) struct Plan {
    /// Its name in messages; its log has it too.
    pub(crate) name: String,
    /// Where clients reach it.
    pub(crate) url: String,
    /// Starts it the first time, if that is another way than the one below.
    pub(crate) first: Option<Launch>,
    /// Starts it.
    pub(crate) launch: Launch,
    /// Whether it takes statements.
    pub(crate) ready: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Plan {
    /// Starts the node and waits until it is ready.
    pub(crate) fn start(self, folder: &Folder) -> Result<Node, Error> {
        let node = Node {
            log: folder.path().join(format!("{}.log", self.name)),
            folder: folder.path().into(),
            name: self.name,
            url: self.url,
            launch: self.launch,
            ready: self.ready,
            process: Mutex::new(None),
        };
        node.launch(self.first.as_ref().unwrap_or(&node.launch))?;
        Ok(node)
    }
}

impl Node {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where clients reach it. It stays the same for life.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What the server printed, all its lives together.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Kills it at once (SIGKILL). No effect if it is not running.
    pub fn kill(&self) {
        *self.process() = None;
    }

    /// Stops it where it is (SIGSTOP): its connections stay open and silent.
    pub fn pause(&self) {
        if let Some(process) = &*self.process() {
            process.pause();
        }
    }

    /// Lets a paused node go on (SIGCONT).
    pub fn resume(&self) {
        if let Some(process) = &*self.process() {
            process.resume();
        }
    }

    /// Starts it again with the files that it left, having killed it if it still ran, and waits until it is ready.
    pub fn restart(&self) -> Result<(), Error> {
        self.kill();
        self.launch(&self.launch)
    }

    fn launch(&self, launch: &Launch) -> Result<(), Error> {
        *self.process() = Some(Process::spawn(launch, &self.folder, &self.log)?);
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            // Killed meanwhile, by another thread: there is nothing to wait for.
            let ended = match &mut *self.process() {
                Some(process) => process.ended(),
                None => return Ok(()),
            };
            if let Some(status) = ended {
                return Err(self.not_ready(format!("ended with {status}")));
            }
            if (self.ready)() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.kill();
        Err(self.not_ready(format!("was not ready after {} s", PATIENCE.as_secs())))
    }

    pub(crate) fn not_ready(&self, what: String) -> Error {
        let end = end_of(&fs::read(&self.log).unwrap_or_default());
        Error::NotReady { name: self.name.clone(), what, log: self.log.clone(), end }
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        // A process is valid whatever its last user panicked about.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.name).field("url", &self.url).finish_non_exhaustive()
    }
}
