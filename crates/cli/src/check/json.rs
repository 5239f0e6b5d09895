//! Verdicts for programs: one object per history and level, a line each. The fields are a contract.

use std::time::Duration;

use isonomy::patterns::Patterns;
use isonomy::{Verdict, report};
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::judge::Judged;
use super::patterns;
use crate::load::Loaded;

#[derive(Serialize)]
struct Line<'a> {
    history: &'a str,
    level: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    anomaly: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anomalies: Option<&'a Value>,
    stats: Stats<'a>,
}

#[derive(Serialize)]
struct Stats<'a> {
    sessions: usize,
    transactions: usize,
    events: usize,
    keys: usize,
    seconds: f64,
    load_seconds: f64,
    stages: Stages<'a>,
    #[serde(skip_serializing_if = "Counts::is_empty")]
    counts: Counts<'a>,
}

/// An object with the stages in their order.
struct Stages<'a>(&'a [(&'static str, Duration)]);

impl Serialize for Stages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, took)| (name, took.as_secs_f64())))
    }
}

/// An object with what was counted.
struct Counts<'a>(&'a [(&'static str, u64)]);

impl Counts<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Counts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

/// The verdicts on one history.
pub(crate) fn lines(name: &str, loaded: &Loaded, judged: &[Judged], patterns: Option<&Patterns>) -> String {
    let history = &loaded.history;
    let anomalies = patterns.map(|patterns| patterns::json(history, patterns));
    let mut text = String::new();
    for Judged { level, verdict, took, stages, counts } in judged {
        let (counterexample, reason) = match verdict {
            Verdict::Holds(_) => (None, None),
            Verdict::Violated(counterexample) => (Some(counterexample), None),
            Verdict::Undecided(reason) => (None, Some(reason.to_string())),
        };
        let line = Line {
            history: name,
            level: level.name(),
            verdict: verdict.name(),
            anomaly: counterexample.map(|counterexample| counterexample.anomaly.name()),
            reason,
            counterexample: counterexample.map(|counterexample| report::counterexample(history, counterexample)),
            anomalies: anomalies.as_ref(),
            stats: Stats {
                sessions: history.sessions().len(),
                transactions: history.transaction_count(),
                events: history.event_count(),
                keys: history.key_count(),
                seconds: took.as_secs_f64(),
                load_seconds: loaded.took.as_secs_f64(),
                stages: Stages(stages),
                counts: Counts(counts),
            },
        };
        text += &serde_json::to_string(&line).expect("it has only strings for keys");
        text.push('\n');
    }
    text
}
