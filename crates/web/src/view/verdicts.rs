//! Verdicts: in a word or two, and as a table that leads to the counterexamples.

use isonomy::IsolationLevel;

use super::escaped;
use super::numbers::time;
use super::table::{Column, table};
use crate::library::Told;

/// What leads to the counterexample of a violated level.
pub(super) enum Way {
    /// It is below.
    Here,
    /// A page has it.
    Page(String),
    /// A check of the history with this id would show it.
    Check(String),
    Nowhere,
}

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

/// A verdict with the anomaly, or with why there is none.
pub(super) fn words(told: &Told) -> String {
    let more =
        told.anomaly.as_ref().or(told.reason.as_ref()).map_or(String::new(), |more| format!(": {}", escaped(more)));
    word(&told.verdict) + &more
}

/// The strongest of the levels that hold.
pub(crate) fn strongest(told: &[Told]) -> Vec<IsolationLevel> {
    let holding: Vec<_> = told.iter().filter(|told| told.verdict == "holds").filter_map(Told::known).collect();
    let is_implied = |level: IsolationLevel| {
        holding.iter().any(|other| *other != level && other.implies(level) && !level.implies(*other))
    };
    holding.iter().copied().filter(|level| !is_implied(*level)).collect()
}

/// The strongest levels that hold, and the weakest that are violated.
pub(super) fn summary(told: &[Told]) -> String {
    let violated: Vec<(IsolationLevel, &Told)> =
        told.iter().filter(|told| told.is_violated()).filter_map(|told| Some((told.known()?, told))).collect();
    let weakest = violated.iter().filter(|(level, _)| {
        !violated.iter().any(|(other, _)| other != level && level.implies(*other) && !other.implies(*level))
    });
    let holds = |level: IsolationLevel| {
        format!("<span class=\"holds\"><span aria-hidden=\"true\">✓</span> {level} holds</span>")
    };
    let mut parts: Vec<String> = strongest(told).into_iter().map(holds).collect();
    parts.extend(weakest.map(|(level, told)| {
        let anomaly = told.anomaly.as_ref().map_or(String::new(), |anomaly| format!(": {}", escaped(anomaly)));
        format!("<span class=\"violated\"><span aria-hidden=\"true\">✗</span> {level} violated{anomaly}</span>")
    }));
    parts.join("<br>")
}

/// A table of verdicts. `way` says where the counterexample of a violated level is.
pub(super) fn rows(all: &[Told], way: impl Fn(&Told) -> Way) -> String {
    let row = |told: &Told| {
        let level = escaped(&told.level);
        let way = if told.is_violated() { way(told) } else { Way::Nowhere };
        // The level is in the name of each link: whoever goes through them by ear hears nothing else.
        let name = |words: &str| format!("class=\"link\" aria-label=\"{words} why {level} is violated\"");
        let way = match way {
            Way::Here => format!("<a href=\"#why\" {} aria-current=\"true\">Shown below</a>", name("Shown below:")),
            Way::Page(page) => format!("<a href=\"{page}\" {}>Show why</a>", name("Show")),
            Way::Check(id) => format!(
                "<form method=\"post\" action=\"/histories/{id}/check\"><input type=\"hidden\" name=\"level\" value=\"{level}\">\
                 <button {}>Show why</button></form>",
                name("Show")
            ),
            Way::Nowhere => String::new(),
        };
        vec![level, words(told), way, told.seconds.map_or(String::new(), time)]
    };
    let columns = [Column::name("level"), Column::plain("verdict"), Column::plain("why"), Column::aside("time")];
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if rows.is_empty() { String::new() } else { table("Verdicts", &columns, &rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(level: &str, verdict: &str) -> Told {
        Told { level: level.into(), verdict: verdict.into(), ..Told::default() }
    }

    #[test]
    fn the_ends_of_the_table_are_told() {
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

    #[test]
    fn only_violated_levels_lead_to_counterexamples() {
        let text = rows(&[told("causal", "holds"), told("serializable", "violated")], |_| Way::Check("7".into()));
        assert_eq!(text.matches("<button").count(), 1, "{text}");
        assert!(text.contains("Show why serializable is violated"), "{text}");
    }
}
