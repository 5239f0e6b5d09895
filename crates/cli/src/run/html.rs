//! `--html`: a page of all runs, with what was violated to step through.

use isonomy::{Page, Section, VerdictRow};

use super::Job;
use super::report::Ran;
use crate::check::html::exhibit;
use crate::check::judge::Judged;
use crate::output::time;

/// The runs so far.
#[derive(Default)]
pub(super) struct Runs(Vec<Section>);

impl Runs {
    pub(super) fn add(&mut self, job: &Job<'_>, ran: &Ran) {
        let mut section = Section::new(format!("Run {}, seed {}", ran.number, ran.seed)).paragraph(ran.numbers());
        if !ran.summary.reasons.is_empty() {
            let row = |(reason, times): &(String, u64)| vec![times.to_string(), reason.clone()];
            let rows: Vec<Vec<String>> = ran.summary.reasons.iter().map(row).collect();
            section = section.table(&["aborted", "reason"], &rows);
        }
        let judged = || ran.judged.iter().chain(&ran.others);
        let rows: Vec<VerdictRow<'_>> = judged()
            .map(|Judged { level, verdict, took, .. }| VerdictRow {
                level: *level,
                verdict,
                asked: job.asked.contains(level),
                took: Some(time(*took)),
            })
            .collect();
        section = section.verdicts(&rows).paragraph(format!("It got: {}.", ran.got()));
        if let Some(exhibit) = exhibit(&ran.loaded.history, judged()) {
            section = section.exhibit(match ran.folder.kept() {
                Some(_) => exhibit.source("history.jsonl"),
                None => exhibit,
            });
        }
        self.0.push(section);
    }

    pub(super) fn finish(self, job: &Job<'_>) -> String {
        let page = Page::new(format!("isonomy run: {}", job.urls.join(" and ")));
        let page = page.paragraph(job.introduction().trim_end());
        self.0.into_iter().fold(page, Page::section).html()
    }
}
