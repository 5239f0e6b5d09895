//! A run of a workload: the command `isonomy run`.

use std::path::{Path, PathBuf};
use std::process::Command;

use isonomy::IsolationLevel;

use super::check::number;
use crate::config::Choices;
use crate::form::Form;
use crate::problem::Problem;
use crate::secret::without_password;

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    database: String,
    isolation: Option<String>,
    workload: Option<String>,
    level: Option<IsolationLevel>,
    sessions: Option<u32>,
    transactions: Option<u32>,
    /// In seconds.
    duration: Option<u32>,
    seed: Option<u32>,
    /// Where it is kept.
    out: PathBuf,
}

impl Run {
    /// Reads a form. What it says becomes arguments of a command, each of them one word, so that nothing can be smuggled in.
    pub(crate) fn new(form: &Form, choices: &Choices, out: &Path) -> Result<Self, Problem> {
        let database = form.get("db").ok_or_else(|| Problem::bad("the URL of the database is missing"))?;
        let of = |name: &str, most| form.get(name).map(|text| number(text, name, most)).transpose();
        let workload = form.get("workload").map(|name| match choices.workloads.iter().find(|known| *known == name) {
            Some(known) => Ok(known.clone()),
            None => Err(Problem::bad(format!("unknown workload `{name}`"))),
        });
        let level = form
            .get("level")
            .map(|name| name.parse::<IsolationLevel>().map_err(|_| Problem::bad(format!("unknown level `{name}`"))));
        Ok(Run {
            database: database.to_owned(),
            isolation: form.get("isolation").map(str::to_owned),
            workload: workload.transpose()?,
            level: level.transpose()?,
            sessions: of("sessions", 1_000)?,
            transactions: of("transactions", 100_000_000)?,
            duration: of("duration", 86_400)?,
            seed: of("seed", u32::MAX)?,
            out: out.to_path_buf(),
        })
    }

    /// The database, without a password.
    pub(crate) fn shown(&self) -> String {
        without_password(&self.database)
    }

    /// What the command is told.
    pub(super) fn arguments(&self, folder: &Path, command: &mut Command) {
        command.args(["run", "--json"]).arg(format!("--db={}", self.database));
        let numbers = [
            ("--sessions", self.sessions, ""),
            ("--txns", self.transactions, ""),
            ("--duration", self.duration, "s"),
            ("--seed", self.seed, ""),
        ];
        for (option, number, unit) in numbers {
            if let Some(number) = number {
                command.arg(format!("{option}={number}{unit}"));
            }
        }
        let words = [
            ("--isolation", self.isolation.as_deref()),
            ("--workload", self.workload.as_deref()),
            ("--level", self.level.map(IsolationLevel::name)),
        ];
        for (option, word) in words {
            if let Some(word) = word {
                command.arg(format!("{option}={word}"));
            }
        }
        let option = |name: &str, path: &Path| {
            let mut option = std::ffi::OsString::from(name);
            option.push(path);
            option
        };
        command.arg(option("--out=", &self.out)).arg(option("--html=", &folder.join("page.html")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_becomes_arguments() {
        let choices = Choices { workloads: vec!["mini".into()], ..Choices::default() };
        let read = |text: &str| Run::new(&Form::parse(text), &choices, Path::new("/runs"));
        let run =
            read("db=mock%3Acausal&workload=mini&level=serializable&sessions=4&transactions=&duration=3").unwrap();
        let mut command = Command::new("isonomy");
        run.arguments(Path::new("/job"), &mut command);
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        let expected = "run --json --db=mock:causal --sessions=4 --duration=3s --workload=mini --level=serializable \
                        --out=/runs --html=/job/page.html";
        assert_eq!(words.join(" "), expected);
        for bad in ["", "db=mock&sessions=0", "db=mock&sessions=x", "db=mock&level=nope", "db=mock&workload=--out"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert_eq!(read("db=postgres%3A%2F%2Fme:pw@host/db").unwrap().shown(), "postgres://me:***@host/db");
    }
}
