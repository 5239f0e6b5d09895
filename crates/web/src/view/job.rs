//! A job: how far it is, and what came of it.

use isonomy::IsolationLevel;

use super::layout::page;
use super::numbers::{moment, time};
use super::verdicts::{self, Way};
use super::{escaped, report, work};
use crate::jobs::{Job, Progress, State, Task};
use crate::library::Told;

/// What is shown of a job that has ended.
#[derive(Default)]
pub(crate) struct Outcome {
    /// The id of what a run left in the library.
    pub(crate) kept: Option<String>,
    pub(crate) verdicts: Vec<Told>,
    /// The violated level whose counterexample is shown, and the counterexample itself, marked up.
    pub(crate) shown: Option<(IsolationLevel, String)>,
    /// What a run tells of itself.
    pub(crate) run: Option<serde_json::Value>,
}

/// Where it stands, for people.
pub(super) fn state(job: &Job) -> String {
    match job.state() {
        State::Running => "running".into(),
        State::Stopping => "stopping".into(),
        State::Stopped => "stopped".into(),
        State::Ended(0) => "<span class=\"holds\">done</span>".into(),
        State::Ended(1) => "<span class=\"violated\">done: violated</span>".into(),
        State::Ended(3) => "<span class=\"undecided\">done: undecided</span>".into(),
        State::Ended(_) => "<span class=\"violated\">could not run</span>".into(),
    }
}

/// The page of a job that goes on.
pub(crate) fn running(job: &Job) -> String {
    let progress = job.progress();
    let number = job.number();
    let (stop, hint) = match (progress.state, job.task()) {
        (State::Stopping, _) => ("Stop at once", "It is about to stop. Stopping it at once leaves no verdict."),
        (_, Task::Check(_)) => ("Stop", "A check that is stopped has no verdict."),
        (_, Task::Run(_)) => ("Stop", "A run that is stopped checks what it has recorded so far."),
    };
    // Checks count the bytes that they have read.
    let counts = if matches!(job.task(), Task::Check(_)) { "bytes" } else { "commits" };
    let out = format!(
        "{}<div class=\"box wide\" data-job=\"{number}\" data-counts=\"{counts}\">\n<p data-doing>{}</p>\n\
         <p class=\"unseen\" role=\"status\" data-aloud></p>\n\
         <progress data-progress aria-label=\"Progress\"></progress>\n<p class=\"hint\" data-numbers></p>\n\
         <form method=\"post\" action=\"/jobs/{number}/stop\"><button class=\"action\">{stop}</button></form>\n\
         <p class=\"hint\">{hint}</p>\n\
         <noscript><p><a href=\"/jobs/{number}\">See how far it is</a></p></noscript>\n</div>\n",
        of_what(job, None),
        escaped(&progress.doing),
    );
    page(&job.task().title(), &out)
}

/// The page of a job that has ended.
pub(crate) fn ended(job: &Job, outcome: &Outcome) -> String {
    let progress = job.progress();
    let mut out = of_what(job, outcome.kept.as_deref());
    out += &format!("<p>{}, {}; started {}.</p>\n", state(job), time(progress.seconds), moment(job.started));
    out += &messages(&progress);
    if !outcome.verdicts.is_empty() {
        out += "<section class=\"section\" aria-labelledby=\"verdicts\">\n<h2 id=\"verdicts\">Verdicts</h2>\n";
        out += &verdicts::rows(&outcome.verdicts, |told| way(job, outcome, told));
        out += "</section>\n";
    }
    out += &exports(job);
    if let Some((level, exhibit)) = &outcome.shown {
        out += &format!(
            "<section class=\"section\" aria-labelledby=\"why\">\n<h2 id=\"why\">Why {level} is violated</h2>\n{exhibit}</section>\n"
        );
    }
    out += &outcome.run.as_ref().map_or(String::new(), report::told);
    out += &work::plots(&outcome.verdicts, matches!(job.task(), Task::Check(check) if check.constraints));
    page(&job.task().title(), &out)
}

/// A link to what it is about.
fn of_what(job: &Job, kept: Option<&str>) -> String {
    match (job.task(), kept) {
        (Task::Check(check), _) => {
            format!("<p>History: <a href=\"/histories/{}\">{}</a></p>\n", check.id, escaped(&check.name))
        }
        (Task::Run(_), Some(id)) => {
            format!("<p><a href=\"/histories/{id}\">The run: statistics, transactions, further checks</a></p>\n")
        }
        (Task::Run(_), None) => String::new(),
    }
}

/// Checks leave evidence for each level. Of runs, the page of the command shows one; for the others a check is quickly made.
fn way(job: &Job, outcome: &Outcome, told: &Told) -> Way {
    let is_shown = outcome.shown.as_ref().is_some_and(|(level, _)| Some(*level) == told.known());
    match (job.task(), &outcome.kept) {
        _ if is_shown => Way::Here,
        (Task::Check(_), _) => Way::Page(address(job.number(), &told.level)),
        (Task::Run(_), Some(id)) => Way::Check(id.clone()),
        (Task::Run(_), None) => Way::Nowhere,
    }
}

/// Where the counterexample of a level is.
pub(super) fn address(job: u64, level: &str) -> String {
    format!("/jobs/{job}?level={}#why", escaped(level))
}

fn messages(progress: &Progress) -> String {
    if progress.said.is_empty() {
        return String::new();
    }
    let said: Vec<String> = progress.said.iter().map(|line| escaped(line)).collect();
    format!("<pre tabindex=\"0\" role=\"group\" aria-label=\"Messages\">{}</pre>\n", said.join("\n"))
}

/// What can be taken away: the name of the file, and what it is.
pub(crate) const FILES: [(&str, &str); 4] =
    [("verdicts.jsonl", "JSON"), ("page.html", "Page"), ("why.svg", "Drawing"), ("certificate.jsonl", "Certificate")];

fn exports(job: &Job) -> String {
    let link = |(name, what): &(&str, &str)| {
        format!("<li><a href=\"/jobs/{}/files/{name}\" download>{what}</a></li>", job.number())
    };
    let links: String = FILES.iter().filter(|(name, _)| job.has(name)).map(link).collect();
    if links.is_empty() {
        links
    } else {
        format!("<nav class=\"contents\" aria-label=\"Export\"><ul><li>Save:</li>{links}</ul></nav>\n")
    }
}
