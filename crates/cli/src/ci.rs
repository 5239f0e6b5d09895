//! What CI systems read: test results (JUnit), code scanning (SARIF), annotations (GitHub).
//!
//! All three say the same of the same findings: a counterexample is found once, however many levels it violates.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use isonomy::{Counterexample, Explanation, History, IsolationLevel, Participant, Reason, Standing, Verdict, explain};
use serde_json::Value;

use crate::check::judge::Judged;
use crate::exit::Failure;
use crate::files::{Problem, Target};
use crate::load;

mod github;
mod junit;
mod sarif;

/// What is to be written.
#[derive(Debug, Args)]
pub(crate) struct CiArgs {
    /// Write the verdicts as test results, for CI systems
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the violations as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Print the violations as annotations of GitHub Actions, beside the usual text
    #[arg(long, conflicts_with = "json")]
    github: bool,
}

impl CiArgs {
    /// Whether anything is asked for.
    fn any(&self) -> bool {
        self.junit.is_some() || self.sarif.is_some() || self.github
    }

    /// The options that name files.
    pub(crate) fn files(&self) -> [(&'static str, Option<&Path>); 2] {
        [("--junit", self.junit.as_deref()), ("--sarif", self.sarif.as_deref())]
    }
}

/// A history with its verdicts.
pub(crate) struct Subject<'a> {
    /// The name of the test suite.
    pub(crate) name: &'a str,
    /// What was tested.
    pub(crate) class: &'a str,
    /// The file or directory of the history, if there is one to point at.
    pub(crate) path: Option<&'a Path>,
    pub(crate) history: &'a History,
    pub(crate) judged: &'a [Judged],
    pub(crate) took: Duration,
    /// What else is to be known.
    pub(crate) note: Option<&'a str>,
}

/// What was found in some histories.
#[derive(Default)]
pub(crate) struct Report {
    suites: String,
    results: Vec<Value>,
    notifications: Vec<Value>,
    /// Lines for standard output.
    pub(crate) commands: String,
}

impl Report {
    /// What was found in one history.
    pub(crate) fn of(args: &CiArgs, subject: &Subject<'_>) -> Self {
        if !args.any() {
            return Report::default();
        }
        let findings = findings(subject);
        let undecided = undecided(subject.judged);
        Report {
            suites: junit::suite(subject),
            results: findings.iter().map(|finding| sarif::result(subject, finding)).collect(),
            notifications: undecided.iter().map(|told| sarif::notification("warning", subject.path, told)).collect(),
            commands: if args.github { github::commands(subject, &findings, &undecided) } else { String::new() },
        }
    }

    /// A history that could not be read.
    pub(crate) fn unreadable(args: &CiArgs, path: &Path, failure: &Failure) -> Self {
        if !args.any() {
            return Report::default();
        }
        let (name, told) = (load::name(path), failure.message());
        let path = Some(path).filter(|path| !load::is_stdin(path));
        Report {
            suites: junit::unreadable(&name, told),
            results: Vec::new(),
            notifications: vec![sarif::notification("error", path, told)],
            commands: if args.github { github::unreadable(path, told) } else { String::new() },
        }
    }

    /// Adds what was found in others.
    pub(crate) fn extend(&mut self, other: Report) {
        self.suites += &other.suites;
        self.results.extend(other.results);
        self.notifications.extend(other.notifications);
        self.commands += &other.commands;
    }

    /// Writes the files that were asked for.
    pub(crate) fn write(self, args: &CiArgs) -> Result<(), Failure> {
        let write = |path: &Path, text: &str| {
            let target = Target::File(path.to_path_buf());
            target.write(|out| out.write_all(text.as_bytes()).map_err(Problem::Io)).map(|_| ())
        };
        if let Some(path) = &args.junit {
            write(path, &junit::document(&self.suites))?;
        }
        if let Some(path) = &args.sarif {
            write(path, &format!("{:#}\n", sarif::log(self.results, self.notifications)))?;
        }
        Ok(())
    }
}

/// A counterexample, with all levels that it violates.
struct Finding<'a> {
    /// The weakest ones come first.
    levels: Vec<IsolationLevel>,
    explanation: Explanation<'a>,
}

impl Finding<'_> {
    /// `snapshot-isolation is violated (and so serializable): lost-update`.
    fn headline(&self) -> String {
        let Standing { violated: weakest, .. } = Standing::new(&self.levels, &[]);
        let names = |levels: &[IsolationLevel]| levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
        let others: Vec<IsolationLevel> =
            self.levels.iter().copied().filter(|level| !weakest.contains(level)).collect();
        let so = if others.is_empty() { String::new() } else { format!(" (and so {})", names(&others)) };
        let verb = if weakest.len() == 1 { "is" } else { "are" };
        format!("{} {verb} violated{so}: {}", names(&weakest), self.explanation.anomaly)
    }

    /// The headline, what it means, and the story.
    fn message(&self) -> String {
        let mut text = format!("{}\n{}\n", self.headline(), self.explanation.anomaly.info().meaning);
        for step in &self.explanation.steps {
            text += &format!("{}. {}\n", step.number, step.text);
        }
        text + &format!("Usual cause: {}.", self.explanation.anomaly.info().cause)
    }

    /// Where to point: at the transaction that stands last in the input, with which the violation was complete.
    fn last(&self) -> Option<&Participant<'_>> {
        let place = |participant: &&Participant<'_>| (participant.place.line, participant.txn);
        self.explanation.transactions.iter().max_by_key(place)
    }
}

/// The different counterexamples, each once.
fn findings<'a>(subject: &Subject<'a>) -> Vec<Finding<'a>> {
    let mut groups: Vec<(&Counterexample, Vec<IsolationLevel>)> = Vec::new();
    for Judged { level, verdict, .. } in subject.judged {
        let Verdict::Violated(counterexample) = verdict else { continue };
        match groups.iter_mut().find(|(known, _)| *known == counterexample) {
            Some((_, levels)) => levels.push(*level),
            None => groups.push((counterexample, vec![*level])),
        }
    }
    let finding = |(counterexample, levels)| Finding { levels, explanation: explain(subject.history, counterexample) };
    groups.into_iter().map(finding).collect()
}

/// The levels that stayed undecided, in a sentence each. What a history cannot be asked for want of data is no finding.
fn undecided(judged: &[Judged]) -> Vec<String> {
    let told = |Judged { level, verdict, .. }: &Judged| match verdict {
        Verdict::Undecided(Reason::NoTimes | Reason::SeveralObjects) => None,
        Verdict::Undecided(reason) => Some(format!("{level} is undecided: {reason}")),
        _ => None,
    };
    judged.iter().filter_map(told).collect()
}

/// The file that a transaction stands in, and its line.
fn place(path: Option<&Path>, participant: &Participant<'_>) -> (Option<PathBuf>, Option<u64>) {
    let file = path.map(|path| match &participant.place.file {
        Some(file) => path.join(&**file),
        None => path.to_path_buf(),
    });
    (file, Some(participant.place.line).filter(|&line| line > 0))
}
