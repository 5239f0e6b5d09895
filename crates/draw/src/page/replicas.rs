//! A counterexample of a replicated data type on a page: the story, the drawing, the operations replica by replica.
//!
//! Its elements and its data are called as those of an [`Exhibit`](super::Exhibit), so that the same script and the same style sheet serve both. An
//! operation is what a transaction is there.

use std::fmt::Write;

use isonomy_crdt::{Arrow, ArrowKind, Explanation, History, OpId, Sentence};
use serde_json::{Map, Value, json};

use super::exhibit::Step;
use super::names::Names;
use super::{data, drawings, story, view};
use crate::geometry::Rect;
use crate::layout::arrange;
use crate::paint::{self, Marks};
use crate::replicas::{Gathered, THIN_SUPPOSED, gather, name};
use crate::text::{shortened, with_short_words, xml};

const MOST_OF_A_WORD: usize = 60;
const MOST_OF_AN_OPERATION: usize = 200;
/// Suppositions within more suppositions than these are not moved further to the right.
const DEEPEST: usize = 8;

/// Why a history of a replicated data type is not allowed, to look at. It keeps nothing of the history.
pub(crate) struct ReplicasExhibit {
    title: String,
    headline: String,
    facts: Vec<(&'static str, String)>,
    /// The operations of the drawing, in its order.
    operations: Vec<Operation>,
    drawn: Gathered,
    /// For each arrow its reason in words.
    told: Vec<String>,
    steps: Vec<Step>,
    /// For each step the boxes that it speaks of.
    spoken_of: Vec<Vec<usize>>,
}

struct Operation {
    name: String,
    text: String,
    replica: String,
    /// In the input, from 1.
    line: Option<u32>,
}

impl ReplicasExhibit {
    /// Takes an explanation apart.
    pub(crate) fn new(history: &History, explanation: &Explanation) -> Self {
        let drawn = gather(history, explanation);
        let steps = steps(&explanation.sentences, &drawn);
        let spoken_of = |sentence: &Sentence| sentence.operations.iter().map(|&op| drawn.box_of(op)).collect();
        ReplicasExhibit {
            title: format!("{} violated", history.data_type()),
            headline: with_short_words(&explanation.headline, MOST_OF_A_WORD),
            facts: facts(history, explanation, &drawn),
            operations: drawn.operations.iter().map(|&op| operation(history, op)).collect(),
            told: drawn.arrows.iter().map(|arrow| told(history, explanation, arrow)).collect(),
            spoken_of: explanation.sentences.iter().map(spoken_of).collect(),
            steps,
            drawn,
        }
    }

    /// Writes it. Its number makes the ids of its elements unique on the page.
    pub(super) fn render(&self, out: &mut String, number: usize) {
        let _ = writeln!(out, "{}id=\"x{number}\" aria-labelledby=\"x{number}-title\">", view::BEGIN);
        self.header(out, number);
        view::bar(out, self.steps.len(), "an arrow or an operation", number);
        let _ = writeln!(out, "<div class=\"columns\">\n<section class=\"told\" aria-labelledby=\"x{number}-told\">");
        let _ = writeln!(out, "<h4 id=\"x{number}-told\">The story</h4>");
        story::render(out, &self.steps, number);
        let _ = writeln!(out, "</section>\n<div class=\"drawings\">\n<div class=\"scene\" data-scene=\"0\">");
        let (panel, marks) = (&self.drawn.panel, self.marks());
        let layout = arrange(panel, 0.0);
        let all = Rect { x: 0.0, y: 0.0, width: layout.width, height: layout.height };
        drawings::figure(out, "timeline", "Replicas", &all, |out| paint::panel(out, panel, &layout, Some(&marks)));
        out.push_str("</div>\n");
        drawings::legend(out, &[panel], THIN_SUPPOSED);
        out.push_str("</div>\n</div>\n");
        self.cards(out, number);
        let _ = write!(out, "<script type=\"application/json\">{}</script>\n{}", self.json(), view::END);
    }

    fn header(&self, out: &mut String, number: usize) {
        let _ = writeln!(out, "<header>\n<div>\n<h3 id=\"x{number}-title\">{}</h3>", xml(&self.title));
        let _ = writeln!(out, "<p class=\"meaning\">{}</p>\n<dl class=\"facts\">", xml(&self.headline));
        for (name, text) in &self.facts {
            let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", xml(text));
        }
        out.push_str("</dl>\n</div>\n</header>\n");
    }

    /// A card for each replica, with its operations.
    fn cards(&self, out: &mut String, number: usize) {
        let _ = writeln!(
            out,
            "<section class=\"transactions\" aria-labelledby=\"x{number}-ops\">\n<h4 id=\"x{number}-ops\">The operations</h4>\n<ul class=\"cards\">"
        );
        let of_lane = |index: usize| self.drawn.panel.boxes[index].lane;
        let all: Vec<usize> = (0..self.operations.len()).collect();
        for operations in all.chunk_by(|&a, &b| of_lane(a) == of_lane(b)) {
            let replica = xml(&self.operations[operations[0]].replica);
            let _ =
                writeln!(out, "<li class=\"card\">\n<p class=\"where\">replica {replica}</p>\n<ul class=\"events\">");
            for &index in operations {
                let Operation { name, text, line, .. } = &self.operations[index];
                let line = line.map_or(String::new(), |line| format!(" <span class=\"hint\">line {line}</span>"));
                let _ = writeln!(
                    out,
                    "<li><button type=\"button\" class=\"event\" data-txn=\"{}\"><b>{}</b> {}{line}</button></li>",
                    txn(index),
                    xml(name),
                    xml(text)
                );
            }
            out.push_str("</ul>\n</li>\n");
        }
        out.push_str("</ul>\n</section>\n");
    }

    /// Attributes of the parts of the drawing.
    fn marks(&self) -> Marks {
        let boxes = self.operations.iter().enumerate().map(|(index, operation)| {
            format!("class=\"txn\" data-txn=\"{}\" {}", txn(index), drawings::button(&operation.in_words()))
        });
        // The text of a box is a part of it, and no button of its own.
        let line = |index: usize| vec![format!("class=\"did\" data-txn=\"{}\"", txn(index))];
        let edge = |index: usize| format!("data-edge=\"{}\"", Names::arrow(0, index));
        let labels = self.drawn.panel.arrows.iter().zip(&self.told).enumerate().map(|(index, (arrow, told))| {
            let button = drawings::button(&format!("{}. {told}", arrow.label));
            format!("class=\"edge-label\" {} {button}", edge(index))
        });
        Marks {
            boxes: boxes.collect(),
            lines: (0..self.operations.len()).map(line).collect(),
            more: vec![String::new(); self.operations.len()],
            arrows: (0..self.told.len()).map(|index| format!("class=\"edge\" {}", edge(index))).collect(),
            labels: labels.collect(),
        }
    }

    /// What the script must know.
    fn json(&self) -> String {
        let mut edges = Map::new();
        for (index, (arrow, told)) in self.drawn.panel.arrows.iter().zip(&self.told).enumerate() {
            let edge = json!({
                "scene": 0,
                "from": txn(arrow.from),
                "to": txn(arrow.to),
                "label": arrow.label,
                "why": told,
                "events": [],
            });
            edges.insert(Names::arrow(0, index), edge);
        }
        let step = |(step, boxes): (&Step, &Vec<usize>)| {
            json!({
                "scene": 0,
                "edges": step.arrows.iter().map(|&arrow| Names::arrow(0, arrow)).collect::<Vec<_>>(),
                "reasons": [],
                "events": [],
                "txns": boxes.iter().map(|&index| txn(index)).collect::<Vec<_>>(),
            })
        };
        let steps: Vec<Value> = self.steps.iter().zip(&self.spoken_of).map(step).collect();
        data::in_element(&json!({ "edges": edges, "steps": steps }))
    }
}

impl Operation {
    fn in_words(&self) -> String {
        let place = self.line.map_or(String::new(), |line| format!(", line {line}"));
        format!("{} {}{place}", self.name, self.text)
    }
}

/// What the page calls an operation.
fn txn(index: usize) -> String {
    format!("t{index}")
}

fn operation(history: &History, op: OpId) -> Operation {
    let replica = history.replica_label(history.replica_of(op)).to_string();
    Operation {
        name: name(history, op),
        text: shortened(&history.show(op).to_string(), MOST_OF_AN_OPERATION),
        replica: shortened(&replica, MOST_OF_A_WORD),
        line: Some(history.line(op)).filter(|&line| line > 0),
    }
}

fn facts(history: &History, explanation: &Explanation, drawn: &Gathered) -> Vec<(&'static str, String)> {
    let shown = format!(
        "{} of {} operations, at {} of {} replicas",
        drawn.operations.len(),
        history.len(),
        drawn.panel.lanes.len(),
        history.replicas().len()
    );
    let all = [
        ("Promised", explanation.promise.to_string()),
        ("Usual cause", explanation.cause.to_string()),
        ("Shown by", shown),
    ];
    all.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// An arrow in words, and the first sentence that concludes it.
fn told(history: &History, explanation: &Explanation, arrow: &Arrow) -> String {
    let [from, to] = [arrow.from, arrow.to].map(|op| name(history, op));
    let relation = match arrow.kind {
        ArrowKind::Saw => format!("{to} saw {from}"),
        ArrowKind::Missed => format!("{to} did not see {from}"),
        ArrowKind::Later => format!("{to} has a higher timestamp than {from}"),
    };
    let step = explanation.sentences.iter().position(|sentence| sentence.arrows.contains(arrow));
    let step = step.map_or(String::new(), |step| {
        let text = with_short_words(&explanation.sentences[step].text, MOST_OF_A_WORD);
        format!(" ({}. {text})", step + 1)
    });
    format!("{relation}{step}")
}

/// The sentences, numbered from 1. None is more than one deeper than the one before it.
fn steps(sentences: &[Sentence], drawn: &Gathered) -> Vec<Step> {
    // A story that begins with a supposition may have nothing else.
    let least = sentences.iter().map(|sentence| sentence.depth).min().unwrap_or(0);
    let mut deepest = 0;
    let step = |(index, sentence): (usize, &Sentence)| {
        let depth = (sentence.depth - least).min(deepest);
        deepest = (depth + 1).min(DEEPEST);
        let arrows = (0..drawn.arrows.len()).filter(|&arrow| sentence.arrows.contains(&drawn.arrows[arrow]));
        Step {
            number: (index + 1).to_string(),
            depth,
            text: with_short_words(&sentence.text, MOST_OF_A_WORD),
            scene: Some(0),
            arrows: arrows.collect(),
            reasons: Vec::new(),
            events: Vec::new(),
            txns: Vec::new(),
        }
    };
    sentences.iter().enumerate().map(step).collect()
}
