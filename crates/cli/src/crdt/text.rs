//! Verdicts for people.

use std::fmt::Write;

use isonomy_crdt::{Counterexample, Explanation, History, OpId, Verdict, name};

use super::judge::Judged;
use crate::explain::text::wrapped;
use crate::output::{Paint, Style, Table, Terminal, count, indented, time};

/// How a verdict looks.
pub(super) fn style(verdict: &Verdict) -> Style {
    match verdict {
        Verdict::Holds(_) => Style::Good,
        Verdict::Violated(_) => Style::Bad,
        Verdict::Undecided => Style::Doubtful,
    }
}

/// The verdict on one history, and why.
pub(super) fn answer(
    file: &str,
    history: &History,
    judged: &Judged,
    explanation: Option<&Explanation>,
    terminal: Terminal,
) -> String {
    let Judged { verdict, took, reason, .. } = judged;
    let head = format!("{file}: {} {}", history.data_type(), terminal.out.style(style(verdict), verdict.name()));
    match (verdict, explanation) {
        (Verdict::Violated(counterexample), Some(explanation)) => {
            format!("{head} ({})\n{}", time(*took), story(history, counterexample, explanation, terminal))
        }
        (Verdict::Undecided, _) => {
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{head}{reason}\n")
        }
        _ => {
            let size = [count(history.replicas().len(), "replica"), count(history.len(), "operation")].join(", ");
            format!("{head}: {size}; there is a visibility that explains all answers ({})\n", time(*took))
        }
    }
}

/// Why a history is violated: what is wrong, who did what, and what follows from it.
pub(super) fn story(
    history: &History,
    counterexample: &Counterexample,
    explanation: &Explanation,
    terminal: Terminal,
) -> String {
    let width = terminal.width();
    let mut text = wrapped(&explanation.headline, width, 2);
    text.push('\n');
    text += &operations(history, &counterexample.operations, terminal.out);
    if !counterexample.minimal {
        text += &wrapped("(Perhaps not all of these matter: the limit was reached before that was known.)", width, 2);
    }
    if !explanation.sentences.is_empty() {
        text.push('\n');
    }
    for (number, sentence) in (1..).zip(&explanation.sentences) {
        let head = format!("{:indent$}{number}. ", "", indent = 2 + 3 * sentence.depth);
        let told = wrapped(&sentence.text, width, head.chars().count());
        let _ = write!(text, "{head}{}", told.trim_start());
    }
    let ends = [("Promise: ", explanation.promise), ("Usual cause: ", explanation.cause)];
    let ends = ends.into_iter().filter(|(_, told)| !told.is_empty());
    for (number, (head, told)) in ends.enumerate() {
        if number == 0 {
            text.push('\n');
        }
        text += &wrapped(&format!("{head}{}.", told.trim_end_matches('.')), width, 2);
    }
    text
}

/// The operations, replica by replica, with the lines where they stand.
fn operations(history: &History, few: &[OpId], paint: Paint) -> String {
    let mut table = Table::default();
    for &op in few {
        let line = history.line(op);
        let place = if line > 0 { format!("line {line}") } else { String::new() };
        let name = (name(history, op), Style::Strong);
        table.row([(place, Style::Faint), name, (history.show_among(op, few), Style::Plain)]);
    }
    let nowhere = few.iter().all(|&op| history.line(op) == 0);
    let text = indented(&table.render(paint), 2);
    // Without lines the first column is empty, but not its margin.
    if nowhere { text.lines().map(|line| format!("  {}\n", line.trim_start())).collect() } else { text }
}
