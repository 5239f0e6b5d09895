//! `--junit`: runs as test suites, and each level that was asked for as a test.

use std::fmt::Write;

use isonomy::Verdict;

use super::Job;
use super::markup::escaped;
use super::report::Ran;
use crate::check::judge::Judged;
use crate::check::text;

/// The test suites so far.
#[derive(Default)]
pub(super) struct Tests(String);

impl Tests {
    pub(super) fn add(&mut self, job: &Job<'_>, ran: &Ran) {
        let failed = |wanted: fn(&Verdict) -> bool| ran.judged.iter().filter(|judged| wanted(&judged.verdict)).count();
        let _ = writeln!(
            self.0,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3}\">",
            escaped(&format!("isonomy run {} seed {}", job.urls.join(" "), ran.seed)),
            ran.judged.len(),
            failed(|verdict| matches!(verdict, Verdict::Violated(_))),
            failed(|verdict| matches!(verdict, Verdict::Undecided(_))),
            ran.summary.took.as_secs_f64(),
        );
        let class = escaped(&job.product());
        for Judged { level, verdict, took, .. } in &ran.judged {
            let head =
                format!("    <testcase classname=\"{class}\" name=\"{level}\" time=\"{:.3}\"", took.as_secs_f64());
            let _ = match verdict {
                Verdict::Holds(_) => writeln!(self.0, "{head}/>"),
                Verdict::Violated(found) => writeln!(
                    self.0,
                    "{head}><failure message=\"{level} is violated: {}\">{}</failure></testcase>",
                    found.anomaly,
                    escaped(&text::story(&ran.loaded.history, found)),
                ),
                Verdict::Undecided(reason) => {
                    let reason = escaped(&reason.to_string());
                    writeln!(self.0, "{head}><skipped message=\"undecided: {reason}\"/></testcase>")
                }
            };
        }
        let _ = writeln!(self.0, "    <system-out>{}</system-out>", escaped(&ran.numbers()));
        self.0 += "  </testsuite>\n";
    }

    pub(super) fn finish(self) -> String {
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{}</testsuites>\n", self.0)
    }
}
