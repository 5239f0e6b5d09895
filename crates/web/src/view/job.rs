//! A job: how far it is, and what came of it.

use isonomy::Page;
use serde_json::Value;

use super::layout::page;
use super::numbers::{grouped, moment, time};
use super::{escaped, plot, verdicts};
use crate::jobs::{Job, State, Task};

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

/// The page. `run` is the id of what a run left in the library.
pub(crate) fn job(job: &Job, run: Option<&str>) -> String {
    let progress = job.progress();
    let mut out = match job.task() {
        Task::Check(check) => format!("<p><a href=\"/histories/{}\">{}</a></p>\n", check.id, escaped(&check.name)),
        Task::Run(_) => run.map_or(String::new(), |id| {
            format!("<p><a href=\"/histories/{id}\">The run: statistics, transactions, further checks</a></p>\n")
        }),
    };
    if job.is_running() {
        out += &format!(
            "<div class=\"box wide\" data-job=\"{number}\">\n<p role=\"status\" data-doing>{}</p>\n\
             <progress data-progress aria-label=\"Progress\"></progress>\n<p class=\"hint\" data-numbers></p>\n\
             <form method=\"post\" action=\"/jobs/{number}/stop\"><button class=\"action\">Stop</button></form>\n\
             <noscript><p><a href=\"/jobs/{number}\">See how far it is</a></p></noscript>\n</div>\n",
            escaped(&progress.doing),
            number = job.number(),
        );
        return page(&job.task().title(), &out);
    }
    out += &format!("<p>{}, {}; started {}.</p>\n", state(job), time(progress.seconds), moment(job.started));
    if !progress.said.is_empty() {
        let said: Vec<String> = progress.said.iter().map(|line| escaped(line)).collect();
        out += &format!("<pre tabindex=\"0\" aria-label=\"Messages\">{}</pre>\n", said.join("\n"));
    }
    out += &exports(job);
    // The command that wrote it is this one: the page is made as ours are, and what is not ours is escaped in it.
    let html = job.read("page.html").and_then(|html| String::from_utf8(html).ok());
    match html.as_deref().and_then(Page::content) {
        Some(content) => out += content,
        None => out += &verdicts::rows(&job.lines()),
    }
    out += &plots(&job.lines());
    page(&job.task().title(), &out)
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
        format!("<nav class=\"contents\" aria-label=\"Export\"><ul>{links}</ul></nav>\n")
    }
}

/// Where the time went, and how many constraints there were.
fn plots(lines: &[Value]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for line in lines {
        for name in line["stats"]["stages"].as_object().into_iter().flat_map(|stages| stages.keys()) {
            if !parts.contains(&name.as_str()) {
                parts.push(name);
            }
        }
    }
    let level = |line: &Value| line["level"].as_str().unwrap_or_default().to_owned();
    let stages: Vec<(String, Vec<f64>)> = lines
        .iter()
        .filter(|line| line["stats"]["stages"].as_object().is_some_and(|stages| !stages.is_empty()))
        .map(|line| {
            let took = |part: &&str| line["stats"]["stages"][*part].as_f64().unwrap_or(0.0);
            (level(line), parts.iter().map(took).collect())
        })
        .collect();
    let mut out = String::new();
    if !stages.is_empty() {
        out += &plot::rows("Time of each stage", &parts, &stages, time);
    }
    let mut constraints = Vec::new();
    for line in lines {
        let counts = &line["stats"]["counts"];
        for (name, what) in [("constraints", "before"), ("constraints_after_pruning", "after pruning")] {
            if let Some(number) = counts[name].as_u64() {
                constraints.push((format!("{}, {what}", level(line)), vec![number as f64]));
            }
        }
    }
    if !constraints.is_empty() {
        out += &plot::rows("Constraints", &["constraints"], &constraints, |number| grouped(number as u64));
    }
    if out.is_empty() {
        return out;
    }
    format!(
        "<section class=\"section\" aria-labelledby=\"work\">\n<h2 id=\"work\">The work</h2>\n<div class=\"plots\">\n{out}</div>\n</section>\n"
    )
}
