//! One history: what is known of it, a form to check it, its statistics and its transactions.

use isonomy::IsolationLevel;
use serde_json::Value;

use super::home::kind;
use super::layout::page;
use super::numbers::{grouped, moment, short, size, time};
use super::{escaped, facts, plot, table, verdicts};
use crate::library::{Entry, Kind, Told};
use crate::statistics::Statistics;

/// The page. `checked` is the last check, with its job.
pub(crate) fn history(entry: &Entry, report: Option<&Value>, checked: Option<(u64, Vec<Told>)>) -> String {
    let mut known = vec![
        ("format", kind(entry)),
        ("size", size(entry.size)),
        ("changed", moment(entry.modified)),
        ("where", escaped(&entry.path.display().to_string())),
    ];
    if entry.kind == Kind::Run || entry.path.is_file() {
        known.push(("file", format!("<a href=\"/histories/{}/file\" download>Save the history</a>", entry.id)));
    }
    let told = checked.as_ref().map_or(&entry.verdicts, |(_, told)| told);
    if !told.is_empty() {
        known.push(("verdicts", verdicts::summary(told)));
    }
    if let Some((job, _)) = checked {
        known.push(("last check", format!("<a href=\"/jobs/{job}\">Verdicts and counterexample</a>")));
    }
    let mut out = facts(&known);
    out += &check_form(&entry.id);
    if let Some(report) = report {
        out += &of_run(report);
    }
    out += &format!(
        "<section class=\"section\" aria-labelledby=\"statistics\">\n<h2 id=\"statistics\">Statistics</h2>\n\
         <div data-load=\"/histories/{id}/statistics\" aria-live=\"polite\"><p class=\"hint\">Reading the history…</p></div>\n</section>\n\
         <section class=\"section\" aria-labelledby=\"transactions\">\n<h2 id=\"transactions\">Transactions</h2>\n\
         <form class=\"row\" data-slices=\"/histories/{id}/transactions\">\n\
         <label>Session <input name=\"session\" size=\"10\"></label>\n<label>Key <input name=\"key\" size=\"10\"></label>\n\
         <label>From <input name=\"offset\" type=\"number\" min=\"0\" value=\"0\"></label>\n<button class=\"action\">Show</button>\n</form>\n\
         <div data-slice aria-live=\"polite\"></div>\n</section>\n",
        id = entry.id
    );
    page(&entry.name, &out)
}

fn check_form(id: &str) -> String {
    let level = |level: IsolationLevel| {
        format!(
            "<label class=\"pick\"><input type=\"checkbox\" name=\"level\" value=\"{level}\"> {level}<span class=\"hint\">{}</span></label>\n",
            escaped(level.summary())
        )
    };
    format!(
        "<section class=\"section\" aria-labelledby=\"check\">\n<h2 id=\"check\">Check</h2>\n\
         <form method=\"post\" action=\"/histories/{id}/check\">\n<fieldset>\n<legend>Levels; all that the data allows if none is marked</legend>\n\
         <div class=\"picks\">\n{}</div>\n</fieldset>\n<div class=\"row\">\n\
         <label>Seconds for each level <input name=\"timeout\" type=\"number\" min=\"1\" max=\"86400\" placeholder=\"no limit\"></label>\n\
         <label><input type=\"checkbox\" name=\"constraints\" value=\"1\"> all constraints at once, to count them</label>\n\
         <button class=\"action\">Check</button>\n</div>\n</form>\n</section>\n",
        IsolationLevel::ALL.into_iter().map(level).collect::<String>()
    )
}

/// What the report of a run says.
fn of_run(report: &Value) -> String {
    let number = |name: &str| report[name].as_u64().map_or_else(|| "unknown".into(), grouped);
    let seconds = |value: &Value| value.as_f64().map_or_else(|| "unknown".into(), time);
    let database = &report["database"];
    let text = |value: &Value| escaped(value.as_str().unwrap_or("unknown"));
    let latency = &report["latency_seconds"];
    let mut out = String::from("<section class=\"section\" aria-labelledby=\"run\">\n<h2 id=\"run\">The run</h2>\n");
    out += &facts(&[
        (
            "database",
            format!("{} {}, {}", text(&database["product"]), text(&database["version"]), text(&database["isolation"])),
        ),
        ("promises", text(&database["promises"])),
        ("committed", number("committed")),
        ("aborted", format!("{} ({})", number("aborted"), plot::share(report["abort_rate"].as_f64().unwrap_or(0.0)))),
        ("indeterminate", number("indeterminate")),
        ("took", seconds(&report["seconds"])),
        ("commits per second", report["commits_per_second"].as_f64().map_or_else(|| "unknown".into(), short)),
        ("latency", format!("half within {}, 99 % within {}", seconds(&latency["p50"]), seconds(&latency["p99"]))),
        ("end", text(&report["end"])),
        ("command", format!("<code>{}</code>", text(&report["command"]))),
    ]);
    let reasons = report["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |one: &Value| vec![one["times"].as_u64().map_or(String::new(), grouped), text(&one["reason"])];
    if !reasons.is_empty() {
        out += &table("Why transactions aborted", &["aborted", "reason"], &reasons.iter().map(row).collect::<Vec<_>>());
    }
    let lines: Vec<Value> =
        ["verdicts", "others"].iter().flat_map(|name| report[*name].as_array().cloned().unwrap_or_default()).collect();
    out + &verdicts::rows(&lines) + "</section>\n"
}

/// The statistics, as a part of a page.
pub(crate) fn statistics(found: &Statistics) -> String {
    let number = |number: usize| grouped(number as u64);
    let mut out = facts(&[
        ("sessions", number(found.sessions)),
        ("transactions", number(found.transactions)),
        ("events", number(found.events)),
        ("keys", number(found.keys)),
        ("committed", number(found.committed)),
        ("aborted", number(found.aborted)),
        ("indeterminate", number(found.indeterminate)),
    ]);
    match &found.course {
        Some(course) => {
            out += "<div class=\"plots\">\n";
            out += &plot::over_time("Commits per second", &course.rate, course.seconds, short);
            out += &plot::over_time("Share of transactions that aborted", &course.aborted, course.seconds, plot::share);
            out += "</div>\n";
        }
        None => out += "<p class=\"hint\">The history has no times, so there is nothing to tell over time.</p>\n",
    }
    out
}
