//! `isonomy mock exec`: runs any command again and again, each time on a fresh store, and tells which reads broke it.

mod shrink;
mod story;
mod trial;

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isonomy_store::{Ended, Script};
use serde_json::json;

use super::record::Folder;
use super::store::StoreArgs;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Style, Terminal, count, indented};
use crate::progress::Progress;
use crate::run::listen;
use crate::values;
use shrink::shrink;
use story::{Place, stale_reads};
use trial::{Job, Protocol, Trial};

/// How many lines of a command's output are shown.
const SHOWN: usize = 20;

/// How often a failure is tried again before it counts as one that does not repeat.
const REPEATS: usize = 3;

pub(super) const AFTER_HELP: &str = "\
Each run has an empty store of its own. The command finds it through the environment variable DATABASE_URL, makes its tables, does its work, and
ends with exit code 0 if it likes what it saw. What is committed before a connection is opened is seen by it; everything else may be seen late,
as far as the level allows.

For the first failure the stale reads are made fresh, one part after the other, as long as the command still fails: what remains is the cause.

Examples:
  isonomy mock exec --level causal --runs 100 -- ./my-test-command
  isonomy mock exec --level read-committed --record failures -- python3 test_checkout.py
  isonomy mock exec --replay failures/seed-7 -- python3 test_checkout.py

Exit codes: 0 no run failed; 1 some did; 2 could not run.";

/// What `isonomy mock exec` takes.
#[derive(Debug, clap::Args)]
pub(super) struct ExecArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// How often the command is run; each time with the next seed
    #[arg(long, value_name = "N", default_value = "100")]
    runs: NonZeroU32,
    /// How the command talks to the store
    #[arg(long, value_name = "PROTOCOL", default_value = "postgres")]
    protocol: Protocol,
    /// A run that takes longer has failed
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::duration)]
    timeout: Duration,
    /// Ends with the first failure
    #[arg(long)]
    first: bool,
    /// Keeps what failed: for each seed a folder with its history, its choices and its output
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Does again what a kept run did
    #[arg(long, value_name = "DIR", conflicts_with_all = ["runs", "record"])]
    replay: Option<PathBuf>,
    /// Does not look for the reads that matter
    #[arg(long)]
    no_shrink: bool,
    /// At most so many more runs to find the reads that matter
    #[arg(long, value_name = "N", default_value = "200")]
    shrink_runs: usize,
    /// Prints one JSON object per run, and one at the end
    #[arg(long)]
    json: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &ExecArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    listen(&interrupted)?;
    let job = Job {
        command: &args.command,
        protocol: args.protocol,
        timeout: args.timeout,
        store: args.store.options(),
        sql: args.store.sql_options(),
        interrupted: &interrupted,
    };
    let mut exec = Exec { args, job, terminal, out: Output::new() };
    match &args.replay {
        Some(folder) => exec.replay(folder),
        None => exec.many(),
    }
}

struct Exec<'a> {
    args: &'a ExecArgs,
    job: Job<'a>,
    terminal: Terminal,
    out: Output,
}

impl Exec<'_> {
    fn many(&mut self) -> Result<Exit, Failure> {
        let runs = self.args.runs.get();
        let progress = Progress::runs(self.terminal.shows_progress(), u64::from(runs));
        let mut failed: Vec<u64> = Vec::new();
        let mut first: Option<Trial> = None;
        let mut done = 0;
        for seed in (self.job.store.seed..).take(runs as usize) {
            let trial = self.job.run(seed, None)?;
            if self.is_interrupted() {
                break;
            }
            done += 1;
            progress.advance(1);
            self.machine(&trial, "run")?;
            if !trial.has_failed() {
                continue;
            }
            if let Some(folder) = &self.args.record {
                trial.keep(&folder.join(format!("seed-{seed}")))?;
            }
            failed.push(seed);
            first.get_or_insert(trial);
            if self.args.first {
                break;
            }
        }
        progress.end();
        let level = self.job.store.level;
        let Some(trial) = first else {
            self.people(&format!("{} at {level}: none failed\n", count(done, "run")))?;
            return Ok(Exit::Fine);
        };
        let seeds: Vec<String> = failed.iter().map(u64::to_string).collect();
        let of = format!("{} of {} at {level} failed", failed.len(), count(done, "run"));
        let paint = self.terminal.out;
        self.people(&format!("{}: {} {}\n", paint.style(Style::Bad, &of), noun(failed.len()), seeds.join(", ")))?;
        self.explain(&trial)?;
        if let Some(folder) = &self.args.record {
            let folder = folder.join(format!("seed-{}", trial.seed));
            self.people(&format!(
                "\nKept in {}: run the same command with --replay {0} to see it again.\n",
                folder.display()
            ))?;
        }
        Ok(Exit::Violated)
    }

    fn replay(&mut self, folder: &Path) -> Result<Exit, Failure> {
        let run = Folder::choices(folder)?;
        let trial = self.job.run(self.job.store.seed, Some(Script::new(&run)))?;
        self.machine(&trial, "replay")?;
        if trial.counts.strayed > 0 {
            self.terminal.note(&format!(
                "the command did not do the same as before: {} could not be repeated",
                count(trial.counts.strayed as usize, "choice")
            ));
        }
        if !trial.has_failed() {
            self.people("The command passed this time.\n")?;
            return Ok(Exit::Fine);
        }
        self.explain(&trial)?;
        Ok(Exit::Violated)
    }

    /// Tells of a failure what it said, and which reads it needs.
    fn explain(&mut self, trial: &Trial) -> Result<(), Failure> {
        let lines: Vec<&str> = trial.output.lines().collect();
        let end = lines[lines.len().saturating_sub(SHOWN)..].join("\n");
        let said = if end.is_empty() { "It printed nothing.\n".into() } else { indented(&format!("{end}\n"), 2) };
        self.people(&format!("\nSeed {}: {}.\n{said}", trial.seed, trial.ending))?;
        if self.args.no_shrink {
            return Ok(());
        }
        let stale = stale_reads(&trial.run);
        if stale.is_empty() {
            return self.people("\nNo read was stale: isolation is not what this failure is about.\n");
        }
        let progress = Progress::runs(self.terminal.shows_progress(), self.args.shrink_runs as u64);
        let mut last = None;
        let repeats = self.again(trial, &stale, REPEATS, &mut last)?;
        progress.advance(1);
        if !repeats {
            progress.end();
            return self.people(&format!(
                "\nIt did not fail again with the same choices ({}): the command itself does not do the same each time.\n",
                story::sizes(trial)
            ));
        }
        let mut problem = None;
        let shrunk = shrink(stale, self.args.shrink_runs, |kept| {
            progress.advance(1);
            self.again(trial, kept, 1, &mut last)
                .map_err(|failure| problem = Some(failure))
                .ok()
                .filter(|_| !self.is_interrupted())
        });
        progress.end();
        if let Some(problem) = problem {
            return Err(problem);
        }
        let last = last.expect("it has failed again at least once");
        // Some that were to stay as they were may be fresh now, because of others before them.
        let needed = stale_reads(&last.run).len();
        if needed == 0 {
            return self.people(
                "\nIt fails as well if every read returns the newest: isolation is not what this failure is about.\n",
            );
        }
        let (sizes, kept) = (story::sizes(trial), count(needed, "stale read"));
        let head = if shrunk.is_minimal {
            let without = if needed == 1 { "without it" } else { "without any one of them" };
            format!("\nOf {sizes}, it takes {kept} to fail; {without} the command passes:\n")
        } else {
            format!("\nOf {sizes}, {kept} are enough to fail, perhaps fewer:\n")
        };
        let told = story::tell(&last, self.terminal.out)?;
        self.people(&format!("{head}{told}"))?;
        self.machine(&last, "shrunk")
    }

    /// Whether the command fails again if all reads but these are fresh. What failed last is kept.
    fn again(&self, trial: &Trial, kept: &[Place], times: usize, last: &mut Option<Trial>) -> Result<bool, Failure> {
        let mut script = Script::new(&trial.run);
        for (session, number, read) in stale_reads(&trial.run) {
            if !kept.contains(&(session, number, read)) {
                script.make_newest(session, number, read);
            }
        }
        for _ in 0..times {
            let again = self.job.run(trial.seed, Some(script.clone()))?;
            if again.has_failed() {
                *last = Some(again);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_interrupted(&self) -> bool {
        self.job.interrupted.load(Ordering::Relaxed)
    }

    fn people(&mut self, text: &str) -> Result<(), Failure> {
        if self.args.json { Ok(()) } else { self.out.print(text) }
    }

    fn machine(&mut self, trial: &Trial, kind: &str) -> Result<(), Failure> {
        if !self.args.json {
            return Ok(());
        }
        let counts = trial.counts;
        let mut line = json!({
            "kind": kind,
            "seed": trial.seed,
            "level": self.job.store.level.name(),
            "failed": trial.has_failed(),
            "ending": trial.ending.to_string(),
            "committed": counts.committed,
            "aborted": counts.aborted,
            "reads": counts.reads,
            "stale": counts.stale,
        });
        if kind == "shrunk" {
            let stale = trial.run.iter().filter(|ended| ended.reads.iter().any(|read| read.is_stale()));
            line["transactions"] = json!(stale.collect::<Vec<&Ended>>());
        }
        self.out.print(&format!("{line}\n"))
    }
}

fn noun(seeds: usize) -> &'static str {
    if seeds == 1 { "seed" } else { "seeds" }
}
