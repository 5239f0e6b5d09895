//! `--html`: verdicts and counterexamples as a page.

use std::path::Path;

use isonomy::{Exhibit, History, Page, Section, VerdictRow};

use super::draw::weakest_level;
use super::judge::Judged;
use super::text;
use crate::exit::Failure;
use crate::files::{Problem, Target};
use crate::output::count;

/// The verdicts on one history, and why the weakest of the violated levels is violated. Without times: the same history always makes the same page.
pub(crate) fn section(name: &str, history: &History, judged: &[Judged], asked: bool) -> Section {
    let size = [
        count(history.sessions().len(), "session"),
        count(history.transaction_count(), "transaction"),
        count(history.event_count(), "event"),
        count(history.key_count(), "key"),
    ];
    let rows: Vec<VerdictRow<'_>> = judged
        .iter()
        .map(|Judged { level, verdict, .. }| VerdictRow { level: *level, verdict, asked, took: None })
        .collect();
    let section = Section::new(name).paragraph(size.join(", ")).verdicts(&rows);
    match exhibit(history, judged) {
        Some(exhibit) => section.exhibit(exhibit.source(file_name(name))),
        None => section.paragraph(format!("You got: {}.", text::got(judged))),
    }
}

/// The last part of a path: the whole of it is in the title already.
fn file_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_string(), |last| last.to_string_lossy().into_owned())
}

/// The counterexample of the weakest level that is violated.
pub(crate) fn exhibit<'j>(history: &History, judged: impl IntoIterator<Item = &'j Judged> + Clone) -> Option<Exhibit> {
    let (level, counterexample) = weakest_level(judged.clone())?;
    let holding = text::strongest_levels(judged);
    Some(Exhibit::new(history, counterexample).violating(level).holding(&holding))
}

/// A history that could not be read.
pub(crate) fn unreadable(name: &str, failure: &Failure) -> Section {
    Section::new(name).paragraph(format!("It could not be read: {failure}"))
}

/// Writes the page of all histories.
pub(crate) fn write(path: &Path, sections: Vec<Section>) -> Result<(), Failure> {
    save(path, &sections.into_iter().fold(Page::new("isonomy check"), Page::section))
}

/// Writes a page to a file.
pub(crate) fn save(path: &Path, page: &Page) -> Result<(), Failure> {
    let html = page.html();
    Target::File(path.to_path_buf()).write(|out| out.write_all(html.as_bytes()).map_err(Problem::Io)).map(|_| ())
}
