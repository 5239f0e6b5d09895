//! Verdicts for people.

use std::fmt::Write;

use isonomy::{Counterexample, History, IsolationLevel, Standing, Verdict, explain};

use super::judge::Judged;
use crate::load::Loaded;
use crate::output::{Paint, Style, Table, count, indented, time};

/// How a verdict looks.
pub(crate) fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Holds(_) => Style::Good,
        Verdict::Violated(_) => Style::Bad,
        Verdict::Undecided(_) => Style::Doubtful,
    }
}

/// A line for each level, and the story of each violation below.
pub(crate) fn lines(name: &str, history: &History, judged: &[Judged], paint: Paint) -> String {
    let mut text = String::new();
    for Judged { level, verdict, took, .. } in judged {
        let word = paint.style(style(verdict), verdict.name());
        let _ = match verdict {
            Verdict::Holds(_) => writeln!(text, "{name}: {level} {word} ({})", time(*took)),
            Verdict::Violated(counterexample) => {
                let anomaly = counterexample.anomaly;
                writeln!(text, "{name}: {level} {word}: {anomaly} ({})", time(*took))
            }
            Verdict::Undecided(reason) => writeln!(text, "{name}: {level} {word}: {reason}"),
        };
        if let Verdict::Violated(counterexample) = verdict {
            text += &story(history, counterexample);
        }
    }
    text
}

/// The story of a violation, pushed to the right.
pub(crate) fn story(history: &History, counterexample: &Counterexample) -> String {
    let mut text = indented(&explain(history, counterexample).to_string(), 2);
    let _ = writeln!(text, "  Usual cause: {}.", counterexample.anomaly.info().cause);
    text
}

/// A table of all levels, which ends with the strongest ones that hold.
pub(crate) fn table(name: &str, loaded: &Loaded, judged: &[Judged], paint: Paint) -> String {
    let history = &loaded.history;
    let mut text = format!(
        "{}: {}, {}, {}, {}\n",
        paint.style(Style::Strong, name),
        count(history.sessions().len(), "session"),
        count(history.transaction_count(), "transaction"),
        count(history.event_count(), "event"),
        count(history.key_count(), "key"),
    );
    let mut table = Table::new(["level", "verdict", "anomaly", "time"]).right(3);
    for Judged { level, verdict, took, .. } in judged {
        let (anomaly, took) = match verdict {
            Verdict::Holds(_) => (String::new(), time(*took)),
            Verdict::Violated(counterexample) => (counterexample.anomaly.to_string(), time(*took)),
            Verdict::Undecided(_) => (String::new(), String::new()),
        };
        table.row([
            (level.to_string(), Style::Plain),
            (verdict.name().into(), style(verdict)),
            (anomaly, Style::Plain),
            (took, Style::Faint),
        ]);
    }
    text += &table.render(paint);
    text += &undecided(judged);
    if let Some(weakest) = weakest_violated(judged) {
        let _ = writeln!(text, "why not {weakest}: ask with --level {weakest}");
    }
    let _ = writeln!(text, "you got: {}", paint.style(Style::Strong, &got(judged)));
    text
}

/// The levels that stayed undecided, a line for each reason.
fn undecided(judged: &[Judged]) -> String {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for Judged { level, verdict, .. } in judged {
        let Verdict::Undecided(reason) = verdict else { continue };
        let reason = reason.to_string();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, levels)) => levels.push(level.name()),
            None => reasons.push((reason, vec![level.name()])),
        }
    }
    reasons.iter().map(|(reason, levels)| format!("undecided: {}: {reason}\n", levels.join(", "))).collect()
}

fn weakest_violated(judged: &[Judged]) -> Option<IsolationLevel> {
    judged.iter().find(|judged| matches!(judged.verdict, Verdict::Violated(_))).map(|judged| judged.level)
}

/// The strongest levels that hold.
pub(crate) fn strongest<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> Vec<&'static str> {
    strongest_levels(judged).into_iter().map(IsolationLevel::name).collect()
}

/// The same as levels.
pub(crate) fn strongest_levels<'j>(judged: impl IntoIterator<Item = &'j Judged>) -> Vec<IsolationLevel> {
    let holds = |judged: &&Judged| matches!(judged.verdict, Verdict::Holds(_));
    let holding: Vec<IsolationLevel> = judged.into_iter().filter(holds).map(|judged| judged.level).collect();
    Standing::new(&[], &holding).holds
}

/// The same for people.
pub(crate) fn got<'j>(judged: impl IntoIterator<Item = &'j Judged> + Clone) -> String {
    let strongest = strongest(judged.clone());
    if !strongest.is_empty() {
        strongest.join(", ")
    } else if judged.into_iter().any(|judged| matches!(judged.verdict, Verdict::Violated(_))) {
        "none of the levels".into()
    } else {
        "undecided".into()
    }
}
