//! A drawing as data, before anything has a place on paper.

use isonomy_checker::{Counterexample, Edge, End, Evidence, Party, explain};
use isonomy_history::{EventId, History, Key, Outcome, TxnId};

use crate::kind::Kind;
use crate::text::{shortened, with_short_words};
use crate::{dot, gather, svg};

/// Names in sentences may be anything.
const MOST_OF_A_WORD: usize = 40;
const MOST_OF_A_SENTENCE: usize = 300;

/// The drawing of a counterexample.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The anomaly's name.
    pub(crate) title: String,
    /// What the anomaly is, and what is wrong here if that can be said in a sentence.
    pub(crate) subtitle: Vec<String>,
    /// The whole story, for those who cannot see the drawing.
    pub(crate) story: String,
    /// Of which the first is the main one.
    pub(crate) panels: Vec<Panel>,
    /// What it says of arrows if some are thick and others thin.
    pub(crate) thin: &'static str,
}

/// What it is in drawings of dependencies.
pub(crate) const THIN_REASONS: &str = "Thick arrows make the circle; thin ones are the reasons.";

/// A part of a drawing, with lanes of its own.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) caption: Option<String>,
    /// The names of sessions or replicas. That of the initial state is empty.
    pub(crate) lanes: Vec<String>,
    /// Within each lane in its order.
    pub(crate) boxes: Vec<Transaction>,
    pub(crate) arrows: Vec<Arrow>,
    /// The first and last moment of all that takes part, where times are known.
    pub(crate) clock: Option<(i64, i64)>,
}

/// What a box stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    InitialState,
    Transaction(TxnId, Outcome),
    /// An operation of a replica that changes something.
    Update,
    /// An operation of a replica that asks.
    Query,
}

/// A transaction, the initial state, or an operation of a replica, which has one line.
#[derive(Clone, Debug)]
pub(crate) struct Transaction {
    pub(crate) subject: Subject,
    pub(crate) name: String,
    pub(crate) lane: usize,
    pub(crate) lines: Vec<Line>,
    /// All that is to be said of it, where the box has no room for that.
    pub(crate) tip: Option<String>,
    /// How many neighbours in its lane are left out before it, if that is to be seen.
    pub(crate) skipped: usize,
    /// How many events are not among the lines.
    pub(crate) folded: usize,
    /// Start and finish.
    pub(crate) times: Option<(i64, Option<i64>)>,
}

/// An event in a box.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// `None` in an operation of a replica.
    pub(crate) event: Option<EventId>,
    pub(crate) text: String,
    /// It is what is wrong.
    pub(crate) bad: bool,
}

/// One transaction comes before another, or is read by it.
#[derive(Clone, Debug)]
pub(crate) struct Arrow {
    /// Index of a box.
    pub(crate) from: usize,
    /// Index of a box.
    pub(crate) to: usize,
    pub(crate) kind: Kind,
    /// What it stands for: several edges if they differ in nothing but the key.
    pub(crate) edges: Vec<Edge>,
    pub(crate) label: String,
    /// Whether it is of the circle, or the faulty read; else it is a reason of one that is.
    pub(crate) main: bool,
    /// The event it leaves from: index of a line.
    pub(crate) from_line: Option<usize>,
    /// The event it arrives at.
    pub(crate) to_line: Option<usize>,
    /// All events that its edges speak of, those of keys beyond the first too.
    pub(crate) events: Vec<EventId>,
    /// For real time: from which end to which.
    pub(crate) ends: Option<(End, End)>,
}

impl Arrow {
    /// The keys that it is about.
    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        self.edges.iter().filter_map(|edge| edge.why.key())
    }
}

impl Drawing {
    /// Draws a counterexample of a history.
    pub fn new(history: &History, counterexample: &Counterexample) -> Self {
        let info = counterexample.anomaly.info();
        let explanation = explain(history, counterexample);
        let mut subtitle = vec![info.meaning.to_string()];
        // A faulty read is told in one sentence; circles are what arrows are for.
        if let Evidence::Read(_) = counterexample.evidence {
            let told = explanation.steps.iter().map(|step| with_short_words(&step.text, MOST_OF_A_WORD));
            subtitle.extend(told.map(|told| shortened(&told, MOST_OF_A_SENTENCE)));
        }
        let story = with_short_words(&explanation.to_string(), MOST_OF_A_WORD);
        let panels = gather::panels(history, counterexample, &explanation);
        Drawing { title: info.name.to_string(), subtitle, story, panels, thin: THIN_REASONS }
    }

    /// As an SVG document.
    pub fn svg(&self) -> String {
        svg::render(self)
    }

    /// As a graph for Graphviz.
    pub fn dot(&self) -> String {
        dot::render(self)
    }

    /// The kinds of arrows that occur, in the order of the legend.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        let used = |kind: &Kind| self.panels.iter().any(|panel| panel.arrows.iter().any(|arrow| arrow.kind == *kind));
        Kind::ALL.into_iter().filter(used).collect()
    }

    /// Whether it shows operations of replicas.
    pub(crate) fn has_operations(&self) -> bool {
        self.panels.iter().flat_map(|panel| &panel.boxes).any(Transaction::is_operation)
    }

    /// Whether some arrows are reasons of others.
    pub(crate) fn has_reasons(&self) -> bool {
        self.panels.iter().any(|panel| panel.arrows.iter().any(|arrow| !arrow.main))
    }
}

impl Transaction {
    /// What stands beside its name.
    pub(crate) fn mark(&self) -> &'static str {
        match self.subject {
            Subject::Transaction(_, Outcome::Aborted) => " ✗ aborted",
            Subject::Transaction(_, Outcome::Indeterminate) => " ? unknown",
            _ => "",
        }
    }

    /// Whether it is an operation of a replica.
    pub(crate) fn is_operation(&self) -> bool {
        matches!(self.subject, Subject::Update | Subject::Query)
    }

    /// Which transaction it is.
    pub(crate) fn party(&self) -> Party {
        match self.subject {
            Subject::Transaction(txn, _) => Some(txn),
            _ => None,
        }
    }

    /// What stands for the events that are not shown.
    pub(crate) fn more(&self) -> Option<String> {
        match (self.folded, self.lines.is_empty()) {
            (0, _) => None,
            (1, true) => Some("… 1 event".into()),
            (folded, true) => Some(format!("… {folded} events")),
            (folded, false) => Some(format!("… {folded} more")),
        }
    }
}
