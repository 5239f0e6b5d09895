//! A check of a history: the command `isonomy check`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use isonomy::IsolationLevel;

use crate::form::Form;
use crate::library::Entry;
use crate::problem::Problem;

/// What to check.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    /// The id of the history.
    pub(crate) id: String,
    /// Its name, for people.
    pub(crate) name: String,
    path: PathBuf,
    /// What the file was like when it was checked.
    size: u64,
    modified: SystemTime,
    /// All that the history's data allows if empty.
    levels: Vec<IsolationLevel>,
    timeout: Option<u32>,
    /// Make all constraints at once, to see how many there are.
    pub(crate) constraints: bool,
}

impl Check {
    /// Reads a form: `level`, several times, `timeout` in seconds, and `constraints`.
    pub(crate) fn new(entry: &Entry, form: &Form) -> Result<Self, Problem> {
        let mut levels = Vec::new();
        for name in form.all("level") {
            let level: IsolationLevel = name.parse().map_err(|_| Problem::bad(format!("unknown level `{name}`")))?;
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        let timeout = form.get("timeout").map(|text| number(text, "timeout", 86_400)).transpose()?;
        let constraints = form.get("constraints").is_some();
        let Entry { id, name, path, size, modified, .. } = entry.clone();
        Ok(Check { id, name, path, size, modified, levels, timeout, constraints })
    }

    /// Whether it is of this entry, which has not changed since.
    pub(super) fn is_of(&self, entry: &Entry) -> bool {
        (&self.id, self.size, self.modified) == (&entry.id, entry.size, entry.modified)
    }

    /// What the command is told.
    pub(super) fn arguments(&self, folder: &Path, command: &mut Command) {
        command.args(["check", "--json"]);
        for (option, name) in [("--certificate", "certificate.jsonl"), ("--svg", "why.svg"), ("--html", "page.html")] {
            command.arg(option).arg(folder.join(name));
        }
        if !self.levels.is_empty() {
            let names: Vec<&str> = self.levels.iter().map(|level| level.name()).collect();
            command.arg(format!("--level={}", names.join(",")));
        }
        if let Some(seconds) = self.timeout {
            command.arg(format!("--timeout={seconds}s"));
        }
        if self.constraints {
            command.arg("--no-guess");
        }
        command.arg("--").arg(&self.path);
    }
}

/// A number of a form, from 1 to some most.
pub(super) fn number(text: &str, what: &str, most: u32) -> Result<u32, Problem> {
    let number = text.parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| Problem::bad(format!("{what}: expected a number from 1 to {most}, found `{text}`")))
}
