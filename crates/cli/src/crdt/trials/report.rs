//! What came of the runs, for people and for programs.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::RunArgs;
use super::subject::{Kept, Subject};
use crate::crdt::json::counterexample;
use crate::crdt::text::story;
use crate::explain::text::wrapped;
use crate::output::{Paint, Style, Table, Terminal, time};

/// A table of all types, and for each that is not as it should be, the first run that shows it.
pub(super) fn text(args: &RunArgs, subjects: &[Subject], terminal: Terminal) -> String {
    let mut text = table(args, subjects, terminal.out);
    for subject in subjects {
        text += &violation(subject, terminal);
        text += &deviation(subject, terminal);
    }
    text
}

fn table(args: &RunArgs, subjects: &[Subject], paint: Paint) -> String {
    let head = ["library", "type", "runs", "holds", "violated", "undecided", "time", "by"];
    let mut table = Table::new(head).right(2).right(3).right(4).right(5).right(6);
    for subject in subjects {
        let number = |number: u64, style| (number.to_string(), if number > 0 { style } else { Style::Plain });
        table.row([
            (subject.library.to_string(), Style::Plain),
            (subject.offer.data_type.to_string(), Style::Plain),
            (args.runs.to_string(), Style::Plain),
            number(subject.holds, Style::Good),
            number(subject.violated, Style::Bad),
            number(subject.undecided, Style::Doubtful),
            (time(subject.took), Style::Faint),
            (subject.offer.by.into(), Style::Faint),
        ]);
    }
    table.render(paint)
}

fn violation(subject: &Subject, terminal: Terminal) -> String {
    let Some(Kept { what: (history, judged, explanation), seed, file, again }) = &subject.violation else {
        return String::new();
    };
    let isonomy_crdt::Verdict::Violated(counterexample) = &judged.verdict else { return String::new() };
    let word = terminal.out.style(Style::Bad, "violated");
    let mut text = format!("\n{} {}, seed {seed}: {word}\n", subject.library, subject.offer.data_type);
    text += &story(history, counterexample, explanation, terminal);
    text + &how_again(file.as_deref(), again)
}

fn deviation(subject: &Subject, terminal: Terminal) -> String {
    let Some(Kept { what, seed, file, again }) = &subject.deviation else { return String::new() };
    let (runs, their) = match subject.unseen {
        1 => ("1 run deviates".into(), "its"),
        runs => (format!("{runs} runs deviate"), "their"),
    };
    let runs = terminal.out.style(Style::Bad, &runs);
    let mut text = format!(
        "\n{} {}: {runs} from the type by what was delivered, although {their} answers could be explained\n",
        subject.library, subject.offer.data_type
    );
    text += &wrapped(&format!("the first, seed {seed}: {what}"), terminal.width(), 2);
    if let Some(file) = file {
        let _ = writeln!(text, "  kept in {}", file.display());
    }
    // The history alone does not show it.
    text + &how_again(None, again)
}

fn how_again(file: Option<&Path>, again: &str) -> String {
    let mut text = String::new();
    let _ = match file {
        Some(file) => writeln!(text, "  to see it again: isonomy crdt check {}", file.display()),
        None => writeln!(text, "  to see it again: {again}"),
    };
    text
}

#[derive(Serialize)]
struct Line<'a> {
    library: &'a str,
    r#type: &'a str,
    by: &'a str,
    delivery: &'a str,
    seed: u64,
    runs: u64,
    holds: u64,
    violated: u64,
    undecided: u64,
    deviating: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Shown<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<Shown<'a>>,
}

/// A run that is shown.
#[derive(Serialize)]
struct Shown<'a> {
    seed: u64,
    file: Option<String>,
    again: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl<'a> Shown<'a> {
    fn new<T>(kept: &'a Kept<T>) -> Self {
        let file = kept.file.as_deref().map(|file| file.display().to_string());
        Shown { seed: kept.seed, file, again: &kept.again, counterexample: None, text: None }
    }
}

/// One type of one library.
pub(super) fn json(args: &RunArgs, subject: &Subject) -> String {
    let violation = subject.violation.as_ref().map(|kept| {
        let (history, judged, explanation) = &kept.what;
        Shown { counterexample: counterexample(history, judged, Some(explanation)), ..Shown::new(kept) }
    });
    let deviation =
        subject.deviation.as_ref().map(|kept| Shown { text: Some(kept.what.to_string()), ..Shown::new(kept) });
    let line = Line {
        library: subject.library.name(),
        r#type: subject.offer.data_type.name(),
        by: subject.offer.by,
        delivery: args.delivery.name(),
        seed: args.seed,
        runs: args.runs,
        holds: subject.holds,
        violated: subject.violated,
        undecided: subject.undecided,
        deviating: subject.unseen,
        seconds: subject.took.as_secs_f64(),
        violation,
        deviation,
    };
    serde_json::to_string(&line).expect("it has only strings for keys") + "\n"
}
