//! From an explanation to a panel: which operations it shows, and which arrows are between them.

use isonomy_crdt::{Arrow, Explanation, History, OpId};

use crate::kind::Kind;
use crate::model::{self, Line, Panel, Subject, Transaction};
use crate::text::shortened;

/// Longer names and texts are cut.
const MOST_OF_A_NAME: usize = 18;
const MOST_OF_AN_OPERATION: usize = 34;
const MOST_OF_A_TIP: usize = 2_000;

/// Beyond so many arrows nobody sees anything, and finding ways for them takes seconds. Those of later sentences are told alone.
const MOST_ARROWS: usize = 120;

/// A panel, and what is in it.
pub(crate) struct Gathered {
    pub(crate) panel: Panel,
    /// For each box its operation, in ascending order.
    pub(crate) operations: Vec<OpId>,
    /// For each arrow what it says.
    pub(crate) arrows: Vec<Arrow>,
}

impl Gathered {
    /// The box of an operation.
    pub(crate) fn box_of(&self, op: OpId) -> usize {
        self.operations.binary_search(&op).expect("all operations that are spoken of have boxes")
    }
}

/// An operation by its replica and its place there, which is cut if it is long.
pub(crate) fn name(history: &History, op: OpId) -> String {
    let replica = history.replica_label(history.replica_of(op)).to_string();
    format!("{}:{}", shortened(&replica, MOST_OF_A_NAME), history.position(op) + 1)
}

/// Takes an explanation apart.
pub(crate) fn gather(history: &History, explanation: &Explanation) -> Gathered {
    let operations = operations(explanation);
    let (lanes, boxes) = boxes(history, &operations);
    let (arrows, certain) = arrows(explanation);
    let index = |op: OpId| operations.binary_search(&op).expect("both ends of arrows have boxes");
    let drawn = arrows.iter().zip(certain).map(|(arrow, main)| {
        let kind = Kind::between(arrow.kind);
        model::Arrow {
            from: index(arrow.from),
            to: index(arrow.to),
            kind,
            edges: Vec::new(),
            label: kind.look().word.to_string(),
            main,
            from_line: None,
            to_line: None,
            events: Vec::new(),
            ends: None,
        }
    });
    let panel = Panel { caption: None, lanes, boxes, arrows: drawn.collect(), clock: None };
    Gathered { panel, operations, arrows }
}

/// All operations that an explanation speaks of, in ascending order: replica by replica.
fn operations(explanation: &Explanation) -> Vec<OpId> {
    let mut operations = explanation.operations.clone();
    for sentence in &explanation.sentences {
        operations.extend(&sentence.operations);
        operations.extend(sentence.arrows.iter().flat_map(|arrow| [arrow.from, arrow.to]));
    }
    operations.sort_unstable();
    operations.dedup();
    operations
}

/// The lanes that are not empty, and the boxes in them.
fn boxes(history: &History, operations: &[OpId]) -> (Vec<String>, Vec<Transaction>) {
    let (mut lanes, mut boxes) = (Vec::new(), Vec::new());
    let mut before: Option<OpId> = None;
    for &op in operations {
        let replica = history.replica_of(op);
        let neighbour = before.filter(|&before| history.replica_of(before) == replica);
        if neighbour.is_none() {
            lanes.push(shortened(&history.replica_label(replica).to_string(), MOST_OF_A_NAME));
        }
        let skipped = neighbour.map_or(history.position(op), |before| op.0 - before.0 - 1) as usize;
        boxes.push(Transaction { skipped, ..one(history, op, lanes.len() - 1) });
        before = Some(op);
    }
    (lanes, boxes)
}

fn one(history: &History, op: OpId, lane: usize) -> Transaction {
    let text = history.show(op).to_string();
    let line = Line { event: None, text: shortened(&text, MOST_OF_AN_OPERATION), bad: false };
    let place = match history.line(op) {
        0 => String::new(),
        line => format!(" (line {line})"),
    };
    let tip = shortened(&format!("{} {text}", isonomy_crdt::name(history, op)), MOST_OF_A_TIP) + &place;
    Transaction {
        subject: if history.operation(op).is_query() { Subject::Query } else { Subject::Update },
        name: name(history, op),
        lane,
        lines: vec![line],
        tip: Some(tip),
        skipped: 0,
        folded: 0,
        times: None,
    }
}

/// The arrows of all sentences, each once, and whether each holds without a supposition.
fn arrows(explanation: &Explanation) -> (Vec<Arrow>, Vec<bool>) {
    let (mut arrows, mut certain): (Vec<Arrow>, Vec<bool>) = (Vec::new(), Vec::new());
    for sentence in &explanation.sentences {
        for &arrow in &sentence.arrows {
            if let Some(index) = arrows.iter().position(|&other| other == arrow) {
                certain[index] |= sentence.depth == 0;
            } else if arrows.len() < MOST_ARROWS {
                arrows.push(arrow);
                certain.push(sentence.depth == 0);
            }
        }
    }
    (arrows, certain)
}
