//! Verdicts, and how to read those of `isonomy check --json`.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::{End, Output};

/// What a checker said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Holds,
    Violated,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
        })
    }
}

/// What came of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Decided(Verdict),
    TimedOut,
    /// No verdict, and why.
    Failed(String),
    /// Not run, and why.
    Skipped(String),
}

impl Outcome {
    pub(crate) fn verdict(&self) -> Option<Verdict> {
        match self {
            Outcome::Decided(verdict) => Some(*verdict),
            _ => None,
        }
    }

    /// For a run that ended in a way that nobody foresaw: how it ended, and the first thing it complained about.
    pub(crate) fn unclear(end: End, output: &Output) -> io::Result<Outcome> {
        let how = match end {
            End::TimedOut => return Ok(Outcome::TimedOut),
            End::Exited(code) => format!("exit code {code}"),
            End::Killed { signal: 9 } => "killed, perhaps for lack of memory".to_owned(),
            End::Killed { signal } => format!("signal {signal}"),
        };
        Ok(Outcome::Failed(match first_line(output)? {
            Some(line) => format!("{how}: {line}"),
            None => how,
        }))
    }
}

/// The first line of standard error that says something.
fn first_line(output: &Output) -> io::Result<Option<String>> {
    const MOST: usize = 100;
    let mut file = BufReader::new(io::Read::take(File::open(&output.stderr)?, 1 << 16));
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            return Ok(Some(text.trim().chars().take(MOST).collect()));
        }
        line.clear();
    }
    Ok(None)
}

/// Reads what `isonomy check --json` said of one history and level; and its own statistics.
pub(crate) fn of_isonomy(end: End, output: &Output) -> io::Result<(Outcome, Option<Value>)> {
    #[derive(Deserialize)]
    struct Line {
        verdict: String,
        stats: Option<Value>,
    }

    let file = BufReader::new(File::open(&output.stdout)?);
    let line = serde_json::Deserializer::from_reader(file).into_iter::<Line>().next();
    let (outcome, stats) = match (end, line) {
        (End::Exited(code), Some(Ok(line))) => {
            let outcome = match (code, line.verdict.as_str()) {
                (0, "holds") => Outcome::Decided(Verdict::Holds),
                (1, "violated") => Outcome::Decided(Verdict::Violated),
                (_, verdict) => Outcome::Failed(format!("exit code {code}, verdict `{verdict}`")),
            };
            (outcome, line.stats)
        }
        _ => (Outcome::unclear(end, output)?, None),
    };
    Ok((outcome, stats))
}
