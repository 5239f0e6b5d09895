//! `--junit`: histories as test suites, and each level that was checked as a test.

use std::fmt::Write;

use isonomy::Verdict;

use super::Subject;
use crate::check::judge::Judged;
use crate::check::text;
use crate::markup::escaped;

/// The test suite of a history.
pub(super) fn suite(subject: &Subject<'_>) -> String {
    let count = |wanted: fn(&Verdict) -> bool| subject.judged.iter().filter(|judged| wanted(&judged.verdict)).count();
    let mut suite = format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3}\">\n",
        escaped(subject.name),
        subject.judged.len(),
        count(|verdict| matches!(verdict, Verdict::Violated(_))),
        count(|verdict| matches!(verdict, Verdict::Undecided(_))),
        subject.took.as_secs_f64(),
    );
    let class = escaped(subject.class);
    for Judged { level, verdict, took, .. } in subject.judged {
        let head = format!("    <testcase classname=\"{class}\" name=\"{level}\" time=\"{:.3}\"", took.as_secs_f64());
        let _ = match verdict {
            Verdict::Holds(_) => writeln!(suite, "{head}/>"),
            Verdict::Violated(found) => writeln!(
                suite,
                "{head}><failure message=\"{level} is violated: {0}\" type=\"{0}\">{1}</failure></testcase>",
                found.anomaly,
                escaped(&text::story(subject.history, found)),
            ),
            Verdict::Undecided(reason) => {
                let reason = escaped(&reason.to_string());
                writeln!(suite, "{head}><skipped message=\"undecided: {reason}\"/></testcase>")
            }
        };
    }
    if let Some(note) = subject.note {
        let _ = writeln!(suite, "    <system-out>{}</system-out>", escaped(note));
    }
    suite + "  </testsuite>\n"
}

/// The test suite of a history that could not be read.
pub(super) fn unreadable(name: &str, told: &str) -> String {
    let (name, told) = (escaped(name), escaped(told));
    format!(
        "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0\">\n    \
         <testcase classname=\"{name}\" name=\"read\" time=\"0\"><error message=\"{told}\"/></testcase>\n  </testsuite>\n"
    )
}

/// The file of all suites.
pub(super) fn document(suites: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}
