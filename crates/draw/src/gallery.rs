//! The gallery: a page of all anomalies, each with a small history that shows it.

use std::borrow::Cow;

use isonomy_checker::{ANOMALIES, AnomalyInfo, Counterexample, IsolationLevel, Options, Standing, Verdict, check};
use isonomy_history::History;
use isonomy_history::formats::{self, Format, ReadOptions, Source};

use crate::page::{Exhibit, Page, Section};

/// All anomalies, each with the history that the caller has for it, in the notation `hist`. The last of its comments says what it shows.
///
/// # Panics
///
/// If a history cannot be read, or does not show its anomaly: the gallery is made of what we keep ourselves.
pub fn gallery<'a>(example: impl Fn(&AnomalyInfo) -> Cow<'a, str>) -> Page {
    let page = Page::new("Anomalies of isolation").paragraph(
        "An anomaly is a named pattern that some isolation levels forbid. Each is shown by a small history: a line is a session, brackets are a \
         transaction, r reads and w writes, _ is the initial state, ! means aborted, @ is when it ran. Those that every level forbids come first.",
    );
    ANOMALIES.iter().fold(page, |page, info| page.section(section(info, &example(info))))
}

fn section(info: &AnomalyInfo, text: &str) -> Section {
    let (comments, sessions): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    // Lines are counted in what is shown.
    let text = sessions.join("\n");
    let options = ReadOptions { format: Some(Format::Hist), ..ReadOptions::default() };
    let history = formats::read(Source::Stream(Box::new(text.as_bytes())), options).expect("an example is well formed");
    let (counterexample, holding) = examined(&history, info);
    let says = comments.last().map_or("", |line| line.trim_start_matches(['#', ' ']));
    let names = |levels: &[IsolationLevel]| levels.iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
    let exhibit = Exhibit::new(&history, &counterexample)
        .untitled()
        .example(&text, says)
        .fact("Ruled out by", format!("{}, and what is stronger", names(info.rules_out)))
        .holding(&holding);
    Section::new(info.name).exhibit(exhibit)
}

/// How the anomaly shows, and the strongest levels that hold all the same.
fn examined(history: &History, info: &AnomalyInfo) -> (Counterexample, Vec<IsolationLevel>) {
    let (mut found, mut holding) = (None, Vec::new());
    for level in IsolationLevel::ALL {
        match check(history, level, &Options::default()) {
            Verdict::Violated(counterexample) if counterexample.anomaly == info.anomaly => {
                found = found.or(Some(counterexample));
            }
            Verdict::Holds(_) => holding.push(level),
            Verdict::Violated(_) | Verdict::Undecided(_) => {}
        }
    }
    (found.expect("the example shows the anomaly"), Standing::new(&[], &holding).holds)
}
