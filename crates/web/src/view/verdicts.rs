//! Verdicts: in a word or two, and as a table.

use isonomy::IsolationLevel;
use serde_json::Value;

use super::numbers::time;
use super::{escaped, table};
use crate::library::Told;

/// A verdict with its sign.
pub(super) fn word(verdict: &str) -> String {
    let sign = match verdict {
        "holds" => "✓",
        "violated" => "✗",
        _ => "?",
    };
    let class = if ["holds", "violated"].contains(&verdict) { verdict } else { "undecided" };
    format!("<span class=\"{class}\"><span aria-hidden=\"true\">{sign}</span> {}</span>", escaped(verdict))
}

/// The strongest levels that hold, and the weakest that is violated.
pub(super) fn summary(told: &[Told]) -> String {
    let of = |verdict: &str| -> Vec<(IsolationLevel, &Told)> {
        let fitting = told.iter().filter(|told| told.verdict == verdict);
        fitting.filter_map(|told| Some((told.level.parse().ok()?, told))).collect()
    };
    let (holding, violated) = (of("holds"), of("violated"));
    let strongest = holding.iter().filter(|(level, _)| {
        !holding.iter().any(|(other, _)| other != level && other.implies(*level) && !level.implies(*other))
    });
    let weakest = violated.iter().filter(|(level, _)| {
        !violated.iter().any(|(other, _)| other != level && level.implies(*other) && !other.implies(*level))
    });
    let mut parts: Vec<String> = strongest
        .map(|(level, _)| format!("<span class=\"holds\"><span aria-hidden=\"true\">✓</span> {level} holds</span>"))
        .collect();
    parts.extend(weakest.map(|(level, told)| {
        let anomaly = told.anomaly.as_ref().map_or(String::new(), |anomaly| format!(": {}", escaped(anomaly)));
        format!("<span class=\"violated\"><span aria-hidden=\"true\">✗</span> {level} violated{anomaly}</span>")
    }));
    parts.join("<br>")
}

/// A table of verdicts with times, from the lines of `check --json`.
pub(super) fn rows(lines: &[Value]) -> String {
    let row = |line: &Value| {
        let text = |name: &str| line[name].as_str().unwrap_or_default();
        let more = if text("anomaly").is_empty() { text("reason") } else { text("anomaly") };
        let took = line["stats"]["seconds"].as_f64().map_or(String::new(), time);
        vec![escaped(text("level")), word(text("verdict")), escaped(more), took]
    };
    let rows: Vec<Vec<String>> = lines.iter().filter(|line| line["verdict"].is_string()).map(row).collect();
    if rows.is_empty() { String::new() } else { table("Verdicts", &["level", "verdict", "anomaly", "time"], &rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_table_are_told() {
        let told = |level: &str, verdict: &str| Told { level: level.into(), verdict: verdict.into(), anomaly: None };
        let text = summary(&[
            told("read-committed", "holds"),
            told("causal", "holds"),
            told("snapshot-isolation", "violated"),
            told("serializable", "violated"),
            told("nonsense", "violated"),
        ]);
        assert!(text.contains("causal holds") && !text.contains("read-committed"), "{text}");
        assert!(text.contains("snapshot-isolation violated") && !text.contains(" serializable violated"), "{text}");
    }
}
