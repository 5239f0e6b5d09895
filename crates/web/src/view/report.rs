//! What a run tells of itself.

use serde_json::Value;

use super::numbers::{grouped, share, short, time};
use super::table::{Column, table};
use super::{escaped, facts};

/// The section of a page. `report` is `report.json` of a run, or the line of `run --json`.
pub(super) fn told(report: &Value) -> String {
    let number = |name: &str| report[name].as_u64().map_or_else(|| "unknown".into(), grouped);
    let seconds = |value: &Value| value.as_f64().map_or_else(|| "unknown".into(), time);
    let database = &report["database"];
    let text = |value: &Value| escaped(value.as_str().unwrap_or("unknown"));
    let latency = &report["latency_seconds"];
    let promises = database["promises"].as_str().map_or("no level by name".into(), escaped);
    let mut out = String::from("<section class=\"section\" aria-labelledby=\"run\">\n<h2 id=\"run\">The run</h2>\n");
    out += &facts(&[
        (
            "database",
            format!("{} {}, {}", text(&database["product"]), text(&database["version"]), text(&database["isolation"])),
        ),
        ("promises", promises),
        ("committed", number("committed")),
        ("aborted", format!("{} ({})", number("aborted"), share(report["abort_rate"].as_f64().unwrap_or(0.0)))),
        ("indeterminate", number("indeterminate")),
        ("took", seconds(&report["seconds"])),
        ("commits per second", report["commits_per_second"].as_f64().map_or_else(|| "unknown".into(), short)),
        ("latency", format!("half within {}, 99 % within {}", seconds(&latency["p50"]), seconds(&latency["p99"]))),
        ("ended", end(report["end"].as_str().unwrap_or("unknown"))),
        ("command", format!("<code>{}</code>", text(&report["command"]))),
    ]);
    let reasons = report["reasons"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |one: &Value| vec![text(&one["reason"]), one["times"].as_u64().map_or(String::new(), grouped)];
    if !reasons.is_empty() {
        let columns = [Column::name("reason"), Column::number("aborted")];
        out += &table("Why transactions aborted", &columns, &reasons.iter().map(row).collect::<Vec<_>>());
    }
    out + "</section>\n"
}

/// Why the run came to its end.
fn end(word: &str) -> String {
    match word {
        "complete" => "all transactions were run".into(),
        "time-is-up" => "the time was up".into(),
        "interrupted" => "interrupted: somebody stopped it".into(),
        "too-many-attempts" => "nearly all attempts aborted".into(),
        "disconnected" => "the connection was lost and did not come back".into(),
        other => escaped(other),
    }
}
