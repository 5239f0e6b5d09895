//! What is known of the levels of a history: by its checks, and by the report of a run.

use crate::jobs::{Job, Jobs};
use crate::library::{Entry, Told};

/// What is known of a level, and from where.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) told: Told,
    /// The check that found it; otherwise the report of a run says so.
    pub(crate) check: Option<u64>,
}

/// What is known of an entry, a level at most once, weaker levels first. The last check that decided a level speaks for it.
pub(crate) fn findings(jobs: &Jobs, entry: &Entry) -> Vec<Finding> {
    let checks = jobs.checks_of(entry);
    let of_check = |job: &Job| -> Vec<Finding> {
        job.verdicts().into_iter().map(|told| Finding { told, check: Some(job.number()) }).collect()
    };
    let of_report = entry.verdicts.iter().map(|told| Finding { told: told.clone(), check: None });
    let all = checks.iter().flat_map(|job| of_check(job)).chain(of_report);
    let mut found: Vec<Finding> = Vec::new();
    for finding in all {
        match found.iter_mut().find(|other| other.told.level == finding.told.level) {
            None => found.push(finding),
            // A check that ran out of time does not hide what an earlier one found.
            Some(known) if is_undecided(known) && !is_undecided(&finding) => *known = finding,
            Some(_) => {}
        }
    }
    found.sort_by_key(|finding| finding.told.place());
    found
}

fn is_undecided(finding: &Finding) -> bool {
    !["holds", "violated"].contains(&finding.told.verdict.as_str())
}

/// Without their sources.
pub(crate) fn told(findings: &[Finding]) -> Vec<Told> {
    findings.iter().map(|finding| finding.told.clone()).collect()
}
