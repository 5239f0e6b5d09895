//! Drawings and pages of replicated data types: a lane for each replica, a box for each operation that matters, arrows for what saw what.
//!
//! What an explanation concludes may be contradictory: that is what it is for. Then not all arrows can point to the right.

use isonomy_crdt::{Explanation, History};

use crate::model::Drawing;
use crate::page::{Page, ReplicasExhibit, Section};
use crate::text::{shortened, with_short_words};

mod gather;

pub(crate) use gather::{Gathered, gather, name};

/// Names in sentences may be anything.
const MOST_OF_A_WORD: usize = 40;
const MOST_OF_A_SENTENCE: usize = 400;

/// What drawings say of arrows that hold only under a supposition.
pub(crate) const THIN_SUPPOSED: &str = "Thick arrows are certain; thin ones hold where something is supposed.";

/// A history of a replicated data type, and what was found of it.
#[derive(Clone, Copy, Debug)]
pub struct ReplicasItem<'a> {
    /// What the history is called: a file, as a rule.
    pub title: &'a str,
    /// The history.
    pub history: &'a History,
    /// What [`Verdict::name`](isonomy_crdt::Verdict::name) says.
    pub verdict: &'a str,
    /// Why it is violated, if it is.
    pub explanation: Option<&'a Explanation>,
}

/// Draws why a history of a replicated data type is not allowed, as an SVG document that needs nothing else.
///
/// ```
/// use isonomy_crdt::{Budget, DataType, Effort, HistoryBuilder, NamedOperation::*, Verdict, check, explain};
/// use isonomy_draw::replicas_svg;
///
/// let mut history = HistoryBuilder::new(DataType::Counter);
/// history.push("a".into(), Increment("x".into()))?;
/// history.push("a".into(), Count("x".into(), 0))?;
/// let history = history.finish();
/// let verdict = check(&history, &mut Budget::unlimited(), &mut Effort::default());
/// let Verdict::Violated(counterexample) = verdict else { panic!("its own increment is lost") };
/// let svg = replicas_svg(&history, &explain(&history, &counterexample));
/// assert!(svg.starts_with("<svg ") && svg.contains("read(x)=0"));
/// # Ok::<(), isonomy_crdt::HistoryError>(())
/// ```
pub fn replicas_svg(history: &History, explanation: &Explanation) -> String {
    let short = |text: &str| shortened(&with_short_words(text, MOST_OF_A_WORD), MOST_OF_A_SENTENCE);
    let told = [&*explanation.headline, explanation.promise];
    let drawing = Drawing {
        title: format!("{} violated", history.data_type()),
        subtitle: told.into_iter().filter(|text| !text.is_empty()).map(short).collect(),
        story: story(explanation),
        panels: vec![gather(history, explanation).panel],
        thin: THIN_SUPPOSED,
    };
    drawing.svg()
}

/// A page of histories of replicated data types: a table of verdicts, and each violation to step through.
///
/// It is complete in itself, and the same items give the same bytes.
pub fn replicas_page(items: &[ReplicasItem<'_>]) -> String {
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    let head = ["history", "type", "replicas", "operations", "verdict"];
    let exhibit = |item: &ReplicasItem<'_>| item.explanation.map(|told| ReplicasExhibit::new(item.history, told));
    let mut page = Page::new("Replicated data types");
    // Of a single history, there is one section: its verdict, and why.
    let all = if let [item] = items { title(item) } else { "Verdicts".into() };
    let mut verdicts = Section::new(all).judged(&head, &rows);
    if let [item] = items {
        if let Some(exhibit) = exhibit(item) {
            verdicts = verdicts.replicas(exhibit);
        }
        return page.section(verdicts).html();
    }
    page = page.section(verdicts);
    for item in items {
        if let Some(exhibit) = exhibit(item) {
            page = page.section(Section::new(title(item)).replicas(exhibit));
        }
    }
    page.html()
}

fn title(item: &ReplicasItem<'_>) -> String {
    shortened(item.title, MOST_OF_A_SENTENCE)
}

fn row(item: &ReplicasItem<'_>) -> Vec<String> {
    let ReplicasItem { history, verdict, .. } = *item;
    let [replicas, operations] = [history.replicas().len(), history.len()].map(|count| count.to_string());
    vec![title(item), history.data_type().to_string(), replicas, operations, verdict.to_string()]
}

/// All sentences, for those who cannot see the drawing.
fn story(explanation: &Explanation) -> String {
    let mut story = explanation.headline.clone();
    for (index, sentence) in explanation.sentences.iter().enumerate() {
        story += &format!("\n{}{}. {}", "  ".repeat(sentence.depth.min(12)), index + 1, sentence.text);
    }
    with_short_words(&story, MOST_OF_A_WORD)
}
