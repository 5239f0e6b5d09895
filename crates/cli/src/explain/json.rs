//! An explanation for programs: one object. The fields are a contract.

use isonomy::patterns::Patterns;
use isonomy::{History, IsolationLevel, Standing, Verdict, explain, report};
use serde_json::json;

use crate::check::judge::Judged;
use crate::check::patterns;

/// The object, in a line. `shown` is the level that is explained, if one is violated or was asked for.
pub(super) fn line(
    name: &str,
    history: &History,
    shown: Option<&Judged>,
    standing: &Standing,
    all: Option<&Patterns>,
) -> String {
    let names = |levels: &[IsolationLevel]| levels.iter().map(|level| level.name()).collect::<Vec<_>>();
    let mut line = json!({ "history": name, "violates": names(&standing.violated), "holds": names(&standing.holds) });
    if let Some(Judged { level, verdict, .. }) = shown {
        line["level"] = level.name().into();
        line["verdict"] = verdict.name().into();
        match verdict {
            Verdict::Holds(_) => {}
            Verdict::Violated(counterexample) => {
                let explanation = explain(history, counterexample).among(standing.clone());
                line["anomaly"] = counterexample.anomaly.name().into();
                line["counterexample"] = report::explanation(history, &explanation);
            }
            Verdict::Undecided(reason) => line["reason"] = reason.to_string().into(),
        }
    }
    if let Some(all) = all {
        line["anomalies"] = patterns::json(history, all);
    }
    format!("{line}\n")
}
