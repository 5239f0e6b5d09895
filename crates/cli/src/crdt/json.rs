//! Verdicts for programs.

use isonomy_crdt::{Explanation, History, Verdict, report};
use serde::Serialize;
use serde_json::Value;

use super::judge::Judged;

#[derive(Serialize)]
struct Line<'a> {
    history: &'a str,
    r#type: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    stats: Stats,
}

#[derive(Serialize)]
struct Stats {
    replicas: usize,
    operations: usize,
    seconds: f64,
    decisions: u64,
    conflicts: u64,
}

/// The verdict on one history.
pub(super) fn line(name: &str, history: &History, judged: &Judged, explanation: Option<&Explanation>) -> String {
    let line = Line {
        history: name,
        r#type: history.data_type().name(),
        verdict: judged.verdict.name(),
        counterexample: counterexample(history, judged, explanation),
        reason: judged.reason.map(|reason| reason.to_string()),
        stats: Stats {
            replicas: history.replicas().len(),
            operations: history.len(),
            seconds: judged.took.as_secs_f64(),
            decisions: judged.effort.decisions,
            conflicts: judged.effort.conflicts,
        },
    };
    serde_json::to_string(&line).expect("it has only strings for keys") + "\n"
}

/// The counterexample, if there is one.
pub(super) fn counterexample(history: &History, judged: &Judged, explanation: Option<&Explanation>) -> Option<Value> {
    match &judged.verdict {
        Verdict::Violated(evidence) => Some(report::counterexample(history, evidence, explanation?)),
        _ => None,
    }
}
