//! Runs all tools on a history at a level, and compares what they say and what they took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::arguments::Arguments;
use crate::data::{Data, Files};
use crate::inputs::Input;
use crate::measure::{self, Output, Usage};
use crate::peers::Peer;
use crate::sets::{Level, Variant};
use crate::table::{RivalResult, Row};
use crate::verdict::{self, Outcome, Verdict};

/// The tools, and how often and how long they may run.
pub(crate) struct Comparison {
    isonomy: PathBuf,
    peers: Vec<Peer>,
    repeats: usize,
    limit: Duration,
    output: Output,
    /// What rivals did not manage.
    limits: Vec<Defeat>,
    /// What peers did whose input says nothing of the order of transactions of different sessions.
    known: Vec<Known>,
}

/// A rival that is slower than this is not run again for a median: its noise matters less than everybody's patience.
const SLOW: Duration = Duration::from_secs(10);

/// What a peer did on a history that is the same file in either order.
struct Known {
    peer: String,
    family: String,
    transactions: u64,
    level: Level,
    summary: Summary,
}

/// A rival failed, or was stopped.
struct Defeat {
    rival: String,
    family: String,
    level: Level,
    transactions: u64,
    why: String,
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
    /// What the last run said of itself.
    pub(crate) stats: Option<Value>,
}

/// A tool on a file. A variant is ourselves in another way, on the binary file.
enum Tool<'c> {
    Isonomy { format: &'static str, file: &'c Path },
    Variant { variant: Variant, file: &'c Path },
    Peer { peer: &'c Peer, level: &'c str, file: PathBuf },
}

impl Comparison {
    pub(crate) fn new(isonomy: PathBuf, peers: Vec<Peer>, arguments: &Arguments) -> Result<Comparison, Failure> {
        Ok(Comparison {
            isonomy,
            peers,
            repeats: usize::try_from(arguments.repeats.get())?,
            limit: arguments.timeout(),
            output: Output::within(&arguments.data),
            limits: Vec::new(),
            known: Vec::new(),
        })
    }

    /// Runs everything on a history at a level: a row for each rival (a peer that has the level, or a variant of ours), or one
    /// without.
    pub(crate) fn run(&mut self, data: &Data, files: &Files, level: Level) -> Result<(Vec<Row>, Vec<Sample>), Failure> {
        let mut tools = vec![Tool::Isonomy { format: "binary", file: &files.binary }];
        if let (Some(format), Some(file)) = (files.set.text_format(), &files.text) {
            tools.push(Tool::Isonomy { format: format.name(), file });
        }
        let ours = tools.len();
        let mut others: Vec<RivalResult> = Vec::new();
        for variant in files.set.variants() {
            match self.defeat(variant.name, files, level) {
                Some(why) => others.push((variant.name.to_owned(), Summary::skipped(why))),
                None => tools.push(Tool::Variant { variant, file: &files.binary }),
            }
        }
        for peer in self.peers.iter().filter(|peer| peer.input.kind() == files.set.kind()) {
            let Some(theirs) = peer.level(level) else { continue };
            if let Some(summary) = self.known(peer, files, level) {
                others.push((peer.name.clone(), summary));
                continue;
            }
            match self.defeat(&peer.name, files, level) {
                Some(why) => others.push((peer.name.clone(), Summary::skipped(why))),
                None => tools.push(Tool::Peer { peer, level: theirs, file: data.input(files, peer.input)? }),
            }
        }

        let mut samples = Vec::new();
        let mut runs: Vec<Vec<(Outcome, Usage, Option<Value>)>> = vec![Vec::new(); tools.len()];
        // The tools take turns, so that what else happens on the machine meets all of them.
        for repeat in 0..self.repeats {
            for (tool, runs) in tools.iter().zip(&mut runs) {
                // What fails or takes too long once is not tried again.
                if runs.iter().any(|(outcome, ..)| outcome.verdict().is_none()) {
                    continue;
                }
                if !matches!(tool, Tool::Isonomy { .. }) && runs.iter().any(|(_, usage, _)| usage.cpu() > SLOW) {
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
                        Outcome::Failed(why) | Outcome::Skipped(why) => Some(why.clone()),
                    },
                    user_seconds: usage.user.as_secs_f64(),
                    system_seconds: usage.system.as_secs_f64(),
                    wall_seconds: usage.wall.as_secs_f64(),
                    peak_bytes: usage.peak_memory,
                    stats: stats.clone(),
                });
                runs.push((outcome, usage, stats));
            }
        }

        let summaries: Vec<Summary> = runs.iter().map(|runs| Summary::of(runs)).collect();
        let row = |rival: Option<RivalResult>| Row {
            set: files.set.clone(),
            transactions: files.transactions,
            events: files.events,
            level: level.name(),
            expected: files.set.expected(level),
            limit: self.limit,
            text: summaries[1..ours].first().cloned(),
            binary: summaries[0].clone(),
            rival,
        };
        let rivals = || tools.iter().zip(&summaries).skip(ours);
        let ran = rivals().map(|(tool, summary)| (tool.name().to_owned(), summary.clone()));
        let mut rows: Vec<Row> = ran.chain(others).map(|rival| row(Some(rival))).collect();
        if rows.is_empty() {
            rows.push(row(None));
        }
        let defeats = rows.iter().filter_map(|row| {
            let (rival, summary) = row.rival.as_ref()?;
            let why = match &summary.outcome {
                Outcome::TimedOut => "stopped",
                Outcome::Failed(_) => "failed",
                Outcome::Decided(_) | Outcome::Skipped(_) => return None,
            };
            Some(Defeat {
                rival: rival.clone(),
                family: files.set.family.clone(),
                level,
                transactions: files.transactions,
                why: format!("{why} at {}", files.set.name),
            })
        });
        self.limits.extend(defeats.collect::<Vec<_>>());
        for (tool, summary) in rivals() {
            if let Tool::Peer { peer, .. } = tool
                && !peer.input.has_order()
            {
                self.known.push(Known {
                    peer: peer.name.clone(),
                    family: files.set.family.clone(),
                    transactions: files.transactions,
                    level,
                    summary: summary.clone(),
                });
            }
        }
        Ok((rows, samples))
    }

    /// What a peer did on the same input, which it had for the other order.
    fn known(&self, peer: &Peer, files: &Files, level: Level) -> Option<Summary> {
        let applies = |known: &&Known| {
            known.peer == peer.name
                && known.family == files.set.family
                && known.transactions == files.transactions
                && known.level == level
        };
        self.known.iter().find(applies).map(|known| known.summary.clone())
    }

    /// Why a rival is not asked: it did not manage a history of this kind that is no larger.
    fn defeat(&self, rival: &str, files: &Files, level: Level) -> Option<String> {
        let applies = |defeat: &&Defeat| {
            defeat.rival == rival
                && defeat.family == files.set.family
                && defeat.level == level
                && defeat.transactions <= files.transactions
        };
        self.limits.iter().find(applies).map(|defeat| defeat.why.clone())
    }

    fn run_once(&self, tool: &Tool<'_>, level: Level) -> Result<(Outcome, Usage, Option<Value>), Failure> {
        let mut command = match tool {
            Tool::Isonomy { file, .. } => self.ourselves(level, &[], file),
            Tool::Variant { variant, file } => self.ourselves(level, variant.options, file),
            Tool::Peer { peer, level, file } => peer.command(level, file),
        };
        let (end, usage) = measure::run(&mut command, &self.output, self.limit)
            .map_err(|error| format!("{} cannot be run: {error}", tool.name()))?;
        let (outcome, stats) = match tool {
            Tool::Isonomy { .. } | Tool::Variant { .. } => verdict::of_isonomy(end, &self.output)?,
            Tool::Peer { peer, .. } => (peer.outcome(end, &self.output)?, None),
        };
        Ok((outcome, usage, stats))
    }

    fn ourselves(&self, level: Level, options: &[&str], file: &Path) -> Command {
        let mut command = Command::new(&self.isonomy);
        command.args(["check", "--json", "--level", level.name()]).args(options).arg(file);
        command
    }
}

impl Tool<'_> {
    fn name(&self) -> &str {
        match self {
            Tool::Isonomy { .. } => "isonomy",
            Tool::Variant { variant, .. } => variant.name,
            Tool::Peer { peer, .. } => &peer.name,
        }
    }

    fn format(&self) -> &'static str {
        match self {
            Tool::Isonomy { format, .. } => format,
            Tool::Variant { .. } => "binary",
            Tool::Peer { peer, .. } if peer.input == Input::Text => "text",
            Tool::Peer { peer, .. } => peer.input.name(),
        }
    }
}

impl Summary {
    /// What at least one run came to.
    fn of(runs: &[(Outcome, Usage, Option<Value>)]) -> Summary {
        let badness = |outcome: &Outcome| match outcome {
            Outcome::Decided(_) | Outcome::Skipped(_) => 0,
            Outcome::TimedOut => 1,
            Outcome::Failed(_) => 2,
        };
        let worst = runs.iter().map(|(outcome, ..)| outcome).max_by_key(|outcome| badness(outcome));
        // Earlier runs that did better say nothing about the memory and time of the one that did not.
        let alike: Vec<&Usage> = runs
            .iter()
            .filter(|(outcome, ..)| worst.map(badness) == Some(badness(outcome)))
            .map(|(_, usage, _)| usage)
            .collect();
        Summary {
            outcome: worst.expect("every tool runs at least once").clone(),
            verdicts: runs.iter().filter_map(|(outcome, ..)| outcome.verdict()).collect(),
            cpu: median(alike.iter().map(|usage| usage.cpu()).collect()),
            peak_memory: median(alike.iter().map(|usage| usage.peak_memory).collect()),
            stats: runs.last().and_then(|(.., stats)| stats.clone()),
        }
    }

    /// Of a tool that did not run.
    fn skipped(why: String) -> Summary {
        Summary {
            outcome: Outcome::Skipped(why),
            verdicts: Vec::new(),
            cpu: Duration::ZERO,
            peak_memory: 0,
            stats: None,
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
