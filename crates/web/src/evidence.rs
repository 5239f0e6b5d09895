//! The counterexample of a level, made from the certificate that a check left.
//!
//! The page that a check writes shows the weakest violated level. The others are made here when somebody asks for one: the evidence is at hand,
//! and the history is loaded for the page of its transactions anyway.

use std::io::{BufRead, BufReader};

use isonomy::certify::certify;
use isonomy::report::Certificate;
use isonomy::{Exhibit, History, IsolationLevel, Verdict};
use serde::Deserialize;

use crate::jobs::Job;

/// Why there is no counterexample.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvidenceError {
    #[error("this check did not find {0} violated")]
    NotViolated(IsolationLevel),
    #[error("the history has changed since it was checked; check it again")]
    Changed,
}

/// What a line of certificates is about. The order of a hundred thousand transactions need not be read to know.
#[derive(Deserialize)]
struct About {
    level: String,
}

/// The counterexample of a level of a history, as a part of a page. `holding` are the strongest levels that hold.
pub(crate) fn exhibit(
    job: &Job,
    history: &History,
    level: IsolationLevel,
    holding: &[IsolationLevel],
) -> Result<String, EvidenceError> {
    let certificate = certificate(job, level).ok_or(EvidenceError::NotViolated(level))?;
    let (level, verdict) = certificate.verdict(history).map_err(|_| EvidenceError::Changed)?;
    let Verdict::Violated(counterexample) = &verdict else { return Err(EvidenceError::NotViolated(level)) };
    // The file may be another one by now, of the same size.
    certify(history, level, certificate.terms(), &verdict).map_err(|_| EvidenceError::Changed)?;
    Ok(Exhibit::new(history, counterexample).violating(level).holding(holding).html())
}

fn certificate(job: &Job, level: IsolationLevel) -> Option<Certificate> {
    let lines = BufReader::new(job.open("certificate.jsonl")?).lines().map_while(Result::ok);
    let is_it = |line: &String| serde_json::from_str::<About>(line).is_ok_and(|about| about.level == level.name());
    serde_json::from_str(&lines.into_iter().find(is_it)?).ok()
}
