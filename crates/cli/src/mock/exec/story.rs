//! The reads that a failure needs, told.

use isonomy::{IsolationLevel, Verdict, check};
use isonomy_store::{Ended, ReadChoice};

use super::trial::Trial;
use crate::check::text::story;
use crate::exit::Failure;
use crate::output::{Paint, Style, count};

/// A read: its session, its transaction, and its place there.
pub(super) type Place = (u32, u32, usize);

/// The stale reads of a run.
pub(super) fn stale_reads(run: &[Ended]) -> Vec<Place> {
    let reads = run.iter().flat_map(|ended| {
        let stale = ended.reads.iter().enumerate().filter(|(_, read)| read.is_stale());
        stale.map(|(place, _)| (ended.session, ended.number, place))
    });
    reads.collect()
}

/// The stale reads of a run, and what the checker says of it.
pub(super) fn tell(trial: &Trial, paint: Paint) -> Result<String, Failure> {
    let mut text = String::new();
    for ended in &trial.run {
        for read in ended.reads.iter().filter(|read| read.is_stale()) {
            text += &format!("  {}\n", sentence(ended, read, paint));
        }
    }
    let history = trial.history()?;
    let serializable = IsolationLevel::Serializable;
    match check(&history, serializable, &isonomy::Options::default()) {
        Verdict::Violated(counterexample) => {
            let told = story(&history, &counterexample);
            text += &format!("\nSo the run is not serializable.\n{told}");
        }
        Verdict::Holds(_) => {
            text += "\nThe run as a whole is serializable: what the command minds is an order of transactions.\n"
        }
        Verdict::Undecided(_) => {}
    }
    Ok(text)
}

fn sentence(ended: &Ended, read: &ReadChoice, paint: Paint) -> String {
    let who = |(session, number): (u32, u32)| format!("transaction {number} of session {session}");
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
    let from = match read.from {
        Some(from) => format!("{}, as {} left it", value(&read.value), who(from)),
        None => "nothing, as it was at first".into(),
    };
    let missed = read
        .newest
        .as_ref()
        .map_or(String::new(), |newest| format!("; {} had already made it {}", who(newest.from), value(&newest.value)));
    let reader = paint.style(Style::Strong, &who((ended.session, ended.number)));
    format!("{reader} ({}) read {} = {from}{missed}", ended.level, read.key)
}

/// How many reads a run had, and how many of them were stale.
pub(super) fn sizes(trial: &Trial) -> String {
    let reads = trial.run.iter().map(|ended| ended.reads.len()).sum();
    let stale = stale_reads(&trial.run).len();
    format!("{} in {}, {stale} of them stale", count(reads, "read"), count(trial.run.len(), "transaction"))
}
