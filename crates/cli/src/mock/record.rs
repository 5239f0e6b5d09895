//! Runs of a store in folders: the history that was seen, and the choices that made it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use isonomy::{Sink, formats};
use isonomy_sql::Datum;
use isonomy_store::{Ended, Store};

use crate::exit::Failure;

const HISTORY: &str = "history.jsonl";
const CHOICES: &str = "choices.jsonl";

/// A folder that gets a record.
#[derive(Clone)]
pub(super) struct Folder {
    path: PathBuf,
    files: Arc<Mutex<Files>>,
}

struct Files {
    history: Box<dyn Sink + Send>,
    choices: File,
    /// What went wrong first; nothing is written after that.
    problem: Option<io::Error>,
}

impl Folder {
    /// Makes the folder and its files, so that a run need not come to its end before it is known that there is no place for it.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let fail = |error: io::Error| wrong(path, &error);
        fs::create_dir_all(path).map_err(fail)?;
        let history = File::create(path.join(HISTORY)).map_err(fail)?;
        let history = formats::JsonlWriter::new(history);
        let choices = File::create(path.join(CHOICES)).map_err(fail)?;
        let files = Files { history: Box::new(history), choices, problem: None };
        Ok(Folder { path: path.to_path_buf(), files: Arc::new(Mutex::new(files)) })
    }

    /// Writes every transaction of a store as soon as it has ended, so that nothing is lost if the store is killed.
    pub(super) fn follow(&self, store: &Store<Datum>) {
        let files = Arc::clone(&self.files);
        store.listen(Box::new(move |record, ended| {
            let mut files = files.lock().expect("nothing panics with the lock");
            if files.problem.is_none() {
                let written = files.history.take(record).and_then(|()| choices(&mut files.choices, ended));
                files.problem = written.err();
            }
        }));
    }

    /// Writes all transactions of a store that has done its work.
    pub(super) fn write(&self, store: &Store<Datum>) -> Result<(), Failure> {
        let mut files = self.files.lock().expect("nothing panics with the lock");
        let fail = |error: io::Error| wrong(&self.path, &error);
        store.write_history(&mut *files.history).map_err(fail)?;
        store.run().iter().try_for_each(|ended| choices(&mut files.choices, ended)).map_err(fail)
    }

    /// Where the history is, if all was written.
    pub(super) fn finish(&self) -> Result<PathBuf, Failure> {
        let mut files = self.files.lock().expect("nothing panics with the lock");
        match files.problem.take() {
            Some(error) => Err(wrong(&self.path, &error).hint("what was recorded until then is complete")),
            None => Ok(self.path.join(HISTORY)),
        }
    }

    /// The choices of a run that was recorded.
    pub(super) fn choices(path: &Path) -> Result<Vec<Ended>, Failure> {
        let path = path.join(CHOICES);
        let file = File::open(&path).map_err(|error| wrong(&path, &error).hint("--record makes such folders"))?;
        let mut run = Vec::new();
        for (number, line) in BufReader::new(file).lines().enumerate() {
            let line = line.map_err(|error| wrong(&path, &error))?;
            let ended = serde_json::from_str(&line)
                .map_err(|error| Failure::new(format_args!("{}:{}: {error}", path.display(), number + 1)))?;
            run.push(ended);
        }
        Ok(run)
    }
}

fn wrong(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format_args!("{}: {error}", path.display()))
}

fn choices(file: &mut File, ended: &Ended) -> io::Result<()> {
    let mut line = serde_json::to_vec(ended)?;
    line.push(b'\n');
    file.write_all(&line)
}
