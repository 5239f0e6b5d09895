//! Two histories or runs, side by side.

use isonomy::IsolationLevel;
use serde_json::Value;

use super::home::kind;
use super::layout::page;
use super::numbers::{grouped, short, size, time};
use super::{escaped, plot, table, verdicts};
use crate::library::{Entry, Told};

/// One of them.
pub(crate) struct Side {
    pub(crate) entry: Entry,
    pub(crate) report: Option<Value>,
    /// Of the last check, or of the report.
    pub(crate) verdicts: Vec<Told>,
}

/// The page.
pub(crate) fn compare(left: &Side, right: &Side) -> String {
    let link = |side: &Side| format!("<a href=\"/histories/{}\">{}</a>", side.entry.id, escaped(&side.entry.name));
    let mut rows = vec![vec!["name".to_owned(), link(left), link(right)]];
    let mut add = |name: &str, tell: &dyn Fn(&Side) -> Option<String>| {
        let (a, b) = (tell(left), tell(right));
        if a.is_some() || b.is_some() {
            rows.push(vec![name.to_owned(), a.unwrap_or_default(), b.unwrap_or_default()]);
        }
    };
    let of = |side: &Side, name: &str| side.report.as_ref().map(|report| report[name].clone());
    let number = |side: &Side, name: &str| of(side, name)?.as_u64().map(grouped);
    let float = |side: &Side, name: &str| of(side, name)?.as_f64();
    let latency = |side: &Side, name: &str| of(side, "latency_seconds")?[name].as_f64().map(time);
    let database = |side: &Side, name: &str| of(side, "database")?[name].as_str().map(escaped);
    add("format", &|side| Some(kind(&side.entry)));
    add("size", &|side| Some(size(side.entry.size)));
    add("database", &|side| database(side, "product"));
    add("version", &|side| database(side, "version"));
    add("isolation", &|side| database(side, "isolation"));
    add("workload", &|side| of(side, "workload")?.as_str().map(escaped));
    add("sessions", &|side| number(side, "sessions"));
    add("committed", &|side| number(side, "committed"));
    add("aborted", &|side| number(side, "aborted"));
    add("abort rate", &|side| float(side, "abort_rate").map(plot::share));
    add("seconds", &|side| float(side, "seconds").map(time));
    add("commits per second", &|side| float(side, "commits_per_second").map(short));
    add("latency, half within", &|side| latency(side, "p50"));
    add("latency, 99 % within", &|side| latency(side, "p99"));
    let mut out = table("Numbers", &["", "left", "right"], &rows);
    out += "<h2>Verdicts</h2>\n";
    let verdict = |side: &Side, level: IsolationLevel| {
        let told = side.verdicts.iter().find(|told| told.level == level.name())?;
        let anomaly = told.anomaly.as_ref().map_or(String::new(), |anomaly| format!(": {}", escaped(anomaly)));
        Some(verdicts::word(&told.verdict) + &anomaly)
    };
    let rows: Vec<Vec<String>> = IsolationLevel::ALL
        .into_iter()
        .filter_map(|level| {
            let (a, b) = (verdict(left, level), verdict(right, level));
            let any = a.is_some() || b.is_some();
            any.then(|| vec![level.to_string(), a.unwrap_or_default(), b.unwrap_or_default()])
        })
        .collect();
    if rows.is_empty() {
        out += "<p class=\"hint\">Neither was checked yet.</p>\n";
    } else {
        out += &table("Verdicts", &["level", "left", "right"], &rows);
    }
    out += "<h2>Statistics</h2>\n<div class=\"sides\">\n";
    for side in [left, right] {
        out += &format!(
            "<section aria-label=\"{name}\">\n<h3>{name}</h3>\n<div data-load=\"/histories/{}/statistics\" aria-live=\"polite\">\
             <p class=\"hint\">Reading the history…</p></div>\n</section>\n",
            side.entry.id,
            name = escaped(&side.entry.name),
        );
    }
    page("Comparison", &(out + "</div>\n"))
}
