//! Runs all tools on a history at a level, and compares what they say and what they took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::arguments::Arguments;
use crate::data::Files;
use crate::measure::{self, Output, Usage};
use crate::peers::Peer;
use crate::sets::Level;
use crate::table::Row;
use crate::verdict::{self, Outcome, Verdict};

/// The tools, and how often and how long they may run.
pub(crate) struct Comparison {
    isonomy: PathBuf,
    peers: Vec<Peer>,
    repeats: usize,
    limit: Duration,
    output: Output,
}

/// One run, as it is kept.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    input: String,
    transactions: u64,
    events: u64,
    level: &'static str,
    tool: String,
    format: &'static str,
    repeat: usize,
    verdict: Option<Verdict>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    user_seconds: f64,
    system_seconds: f64,
    wall_seconds: f64,
    peak_bytes: u64,
    /// What `isonomy` says of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Value>,
}

/// What the runs of one tool on one input came to.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// The worst: a failure over a timeout over a verdict.
    pub(crate) outcome: Outcome,
    /// All verdicts that were given.
    pub(crate) verdicts: Vec<Verdict>,
    /// Medians.
    pub(crate) cpu: Duration,
    pub(crate) peak_memory: u64,
}

/// A tool on a file.
enum Tool<'c> {
    Isonomy { format: &'static str, file: &'c Path },
    Peer { peer: &'c Peer, level: &'c str, file: &'c Path },
}

impl Comparison {
    pub(crate) fn new(isonomy: PathBuf, peers: Vec<Peer>, arguments: &Arguments) -> Result<Comparison, Failure> {
        Ok(Comparison {
            isonomy,
            peers,
            repeats: usize::try_from(arguments.repeats.get())?,
            limit: arguments.timeout(),
            output: Output::within(&arguments.data),
        })
    }

    /// Runs everything on a history at a level: a row for each peer that has the level, or one without.
    pub(crate) fn run(&mut self, files: &Files, level: Level) -> Result<(Vec<Row>, Vec<Sample>), Failure> {
        let mut tools = vec![
            Tool::Isonomy { format: "text", file: &files.text },
            Tool::Isonomy { format: "binary", file: &files.binary },
        ];
        for peer in &self.peers {
            if let Some(theirs) = peer.level(level) {
                tools.push(Tool::Peer { peer, level: theirs, file: &files.text });
            }
        }

        let mut samples = Vec::new();
        let mut runs: Vec<Vec<(Outcome, Usage)>> = vec![Vec::new(); tools.len()];
        // The tools take turns, so that what else happens on the machine meets all of them.
        for repeat in 0..self.repeats {
            for (tool, runs) in tools.iter().zip(&mut runs) {
                // What fails or takes too long once is not tried again.
                if runs.iter().any(|(outcome, _)| outcome.verdict().is_none()) {
                    continue;
                }
                let (outcome, usage, stats) = self.run_once(tool, level)?;
                samples.push(Sample {
                    input: files.set.name.clone(),
                    transactions: files.transactions,
                    events: files.events,
                    level: level.name(),
                    tool: tool.name().to_owned(),
                    format: tool.format(),
                    repeat,
                    verdict: outcome.verdict(),
                    failure: match &outcome {
                        Outcome::Decided(_) => None,
                        Outcome::TimedOut => Some("timeout".to_owned()),
                        Outcome::Failed(why) => Some(why.clone()),
                    },
                    user_seconds: usage.user.as_secs_f64(),
                    system_seconds: usage.system.as_secs_f64(),
                    wall_seconds: usage.wall.as_secs_f64(),
                    peak_bytes: usage.peak_memory,
                    stats,
                });
                runs.push((outcome, usage));
            }
        }

        let summaries: Vec<Summary> = runs.iter().map(|runs| Summary::of(runs)).collect();
        let row = |peer: Option<(String, Summary)>| Row {
            input: files.set.name.clone(),
            transactions: files.transactions,
            events: files.events,
            level: level.name(),
            expected: files.set.expected(level),
            limit: self.limit,
            text: summaries[0].clone(),
            binary: summaries[1].clone(),
            peer,
        };
        let mut rows: Vec<Row> = tools[2..]
            .iter()
            .zip(&summaries[2..])
            .map(|(tool, summary)| row(Some((tool.name().to_owned(), summary.clone()))))
            .collect();
        if rows.is_empty() {
            rows.push(row(None));
        }
        Ok((rows, samples))
    }

    fn run_once(&self, tool: &Tool<'_>, level: Level) -> Result<(Outcome, Usage, Option<Value>), Failure> {
        let mut command = match tool {
            Tool::Isonomy { file, .. } => {
                let mut command = Command::new(&self.isonomy);
                command.args(["check", "--json", "--level", level.name()]).arg(file);
                command
            }
            Tool::Peer { peer, level, file } => peer.command(level, file),
        };
        let (end, usage) = measure::run(&mut command, &self.output, self.limit)
            .map_err(|error| format!("{} cannot be run: {error}", tool.name()))?;
        let (outcome, stats) = match tool {
            Tool::Isonomy { .. } => verdict::of_isonomy(end, &self.output)?,
            Tool::Peer { peer, .. } => (peer.outcome(end, &self.output)?, None),
        };
        Ok((outcome, usage, stats))
    }
}

impl Tool<'_> {
    fn name(&self) -> &str {
        match self {
            Tool::Isonomy { .. } => "isonomy",
            Tool::Peer { peer, .. } => &peer.name,
        }
    }

    fn format(&self) -> &'static str {
        match self {
            Tool::Isonomy { format, .. } => format,
            Tool::Peer { .. } => "text",
        }
    }
}

impl Summary {
    /// What at least one run came to.
    fn of(runs: &[(Outcome, Usage)]) -> Summary {
        let badness = |outcome: &Outcome| match outcome {
            Outcome::Decided(_) => 0,
            Outcome::TimedOut => 1,
            Outcome::Failed(_) => 2,
        };
        let worst = runs.iter().map(|(outcome, _)| outcome).max_by_key(|outcome| badness(outcome));
        // Earlier runs that did better say nothing about the memory and time of the one that did not.
        let alike: Vec<&Usage> = runs
            .iter()
            .filter(|(outcome, _)| worst.map(badness) == Some(badness(outcome)))
            .map(|(_, usage)| usage)
            .collect();
        Summary {
            outcome: worst.expect("every tool runs at least once").clone(),
            verdicts: runs.iter().filter_map(|(outcome, _)| outcome.verdict()).collect(),
            cpu: median(alike.iter().map(|usage| usage.cpu()).collect()),
            peak_memory: median(alike.iter().map(|usage| usage.peak_memory).collect()),
        }
    }
}

/// The middle one; the lower of two.
fn median<T: Ord + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable();
    values[(values.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_taken() {
        assert_eq!(median(vec![3]), 3);
        assert_eq!(median(vec![3, 1]), 1);
        assert_eq!(median(vec![3, 1, 2]), 2);
    }
}
