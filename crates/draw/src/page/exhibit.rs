//! A counterexample as data for a page: drawings, story and transactions, joined by the names of what they speak of.

use isonomy_checker::{
    AnomalyInfo, Counterexample, Edge, Evidence, Explanation, IsolationLevel, Topic, Why, events, explain,
};
use isonomy_history::{EventId, History, Outcome, TxnId};

use super::names::Names;
use super::scenes::{Scene, scene_of, scenes};
use super::view;
use crate::model::Transaction;
use crate::text::{shortened, with_short_words};

/// So many events of a transaction are on the page beside those that matter.
const MOST_EVENTS: usize = 300;
/// Names may be anything.
const MOST_OF_A_WORD: usize = 60;
const MOST_OF_AN_EVENT: usize = 200;

/// A counterexample to look at: who did what, why it cannot be, and how it looks.
///
/// It keeps nothing of the history.
pub struct Exhibit {
    pub(super) info: &'static AnomalyInfo,
    pub(super) violated: Option<IsolationLevel>,
    pub(super) holding: Vec<IsolationLevel>,
    pub(super) source: Option<String>,
    /// Whether it stands under its name, or the section has that.
    pub(super) titled: bool,
    /// The history as text, and what it shows.
    pub(super) example: Option<(String, String)>,
    /// More to be said of it.
    pub(super) facts: Vec<(String, String)>,
    /// Whether it is a read that is wrong by itself, and no circle.
    pub(super) is_read: bool,
    /// The names of the keys that it speaks of.
    pub(super) keys: Vec<String>,
    pub(super) transactions: Vec<Card>,
    pub(super) scenes: Vec<Scene>,
    /// For each scene, for each arrow: its reason in words.
    pub(super) told: Vec<Vec<String>>,
    pub(super) steps: Vec<Step>,
    pub(super) names: Names,
}

/// A transaction with its events.
pub(super) struct Card {
    pub(super) txn: TxnId,
    pub(super) name: String,
    pub(super) session: String,
    /// In its session, from 1.
    pub(super) position: u32,
    pub(super) outcome: Outcome,
    /// Where in the input it stands.
    pub(super) place: Option<String>,
    pub(super) times: Option<(i64, Option<i64>)>,
    pub(super) events: Vec<CardEvent>,
    /// How many more events it has.
    pub(super) left_out: usize,
}

pub(super) struct CardEvent {
    pub(super) event: EventId,
    pub(super) text: String,
    /// It is in the story or the drawings.
    pub(super) matters: bool,
}

/// A sentence, and what it speaks of.
pub(super) struct Step {
    pub(super) number: String,
    /// How many distinctions of cases it is below of.
    pub(super) depth: usize,
    pub(super) text: String,
    /// `None` if it is about a case that is not drawn.
    pub(super) scene: Option<usize>,
    /// Indices of arrows.
    pub(super) arrows: Vec<usize>,
    /// The arrows that these rest on.
    pub(super) reasons: Vec<usize>,
    pub(super) events: Vec<EventId>,
    pub(super) txns: Vec<TxnId>,
}

impl Exhibit {
    /// Takes a counterexample of a history apart.
    pub fn new(history: &History, counterexample: &Counterexample) -> Self {
        let explanation = explain(history, counterexample);
        let scenes = scenes(history, counterexample, &explanation);
        let txns = parties(&explanation, &scenes);
        let keys = counterexample.keys();
        let names = Names::new(history, keys.clone(), &txns);
        let told = scenes.iter().map(|scene| told(history, counterexample, &explanation, scene)).collect();
        let steps = explanation.steps.iter().map(|sentence| Step {
            number: sentence.number.clone(),
            depth: sentence.number.matches('.').count(),
            text: with_short_words(&sentence.text, MOST_OF_A_WORD),
            ..step(history, &scenes, sentence.topic)
        });
        Exhibit {
            info: counterexample.anomaly.info(),
            violated: None,
            holding: Vec::new(),
            source: None,
            titled: true,
            example: None,
            facts: Vec::new(),
            is_read: matches!(counterexample.evidence, Evidence::Read(_)),
            keys: keys.iter().map(|&key| shortened(&history.key_name(key).to_string(), MOST_OF_A_WORD)).collect(),
            transactions: txns.iter().map(|&txn| card(history, txn, &explanation, &scenes)).collect(),
            steps: steps.collect(),
            scenes,
            told,
            names,
        }
    }

    /// The weakest level that it violates.
    pub fn violating(mut self, level: IsolationLevel) -> Self {
        self.violated = Some(level);
        self
    }

    /// The strongest levels that the history satisfies all the same.
    pub fn holding(mut self, levels: &[IsolationLevel]) -> Self {
        self.holding = levels.to_vec();
        self
    }

    /// What the history is called: a file, as a rule.
    pub fn source(mut self, name: impl Into<String>) -> Self {
        self.source = Some(name.into());
        self
    }

    /// By itself, for a server that shows it in pages of its own with [`Page::style`](crate::Page::style) and
    /// [`Page::script`](crate::Page::script). Headings begin at the third level.
    pub fn html(&self) -> String {
        let mut out = String::new();
        view::render(&mut out, self, 1);
        out
    }

    /// The first exhibit of a document that [`Page::html`](crate::Page::html) made, as [`html`](Exhibit::html) would write it.
    pub fn in_page(page: &str) -> Option<&str> {
        // Neither mark can be inside an exhibit: all that is not ours is escaped there.
        let begin = page.find(view::BEGIN)?;
        let end = begin + page[begin..].find(view::END)? + view::END.len();
        Some(&page[begin..end])
    }

    /// For a section that has the name of the anomaly itself.
    pub(crate) fn untitled(mut self) -> Self {
        self.titled = false;
        self
    }

    /// The whole history, where it is small, and what it shows.
    pub(crate) fn example(mut self, history: impl Into<String>, shows: impl Into<String>) -> Self {
        self.example = Some((history.into(), shows.into()));
        self
    }

    /// Something else to be said of it.
    pub(crate) fn fact(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.facts.push((name.into(), text.into()));
        self
    }
}

/// All that take part, in the order of the story.
fn parties(explanation: &Explanation<'_>, scenes: &[Scene]) -> Vec<TxnId> {
    let mut txns: Vec<TxnId> = explanation.transactions.iter().map(|participant| participant.txn).collect();
    for party in scenes.iter().flat_map(|scene| &scene.panel.boxes).filter_map(Transaction::party) {
        if !txns.contains(&party) {
            txns.push(party);
        }
    }
    txns
}

/// For each arrow of a scene, why it is there.
fn told(
    history: &History,
    counterexample: &Counterexample,
    explanation: &Explanation<'_>,
    scene: &Scene,
) -> Vec<String> {
    let one = |edge: &Edge| {
        let relation = explanation.relation(history, edge);
        match counterexample.evidence {
            // A faulty read puts nobody before anybody.
            Evidence::Read(_) => format!("{}.", relation.reason),
            _ => relation.to_string(),
        }
    };
    let told = |edges: &[Edge]| edges.iter().map(one).collect::<Vec<_>>().join(" ");
    scene.panel.arrows.iter().map(|arrow| with_short_words(&told(&arrow.edges), MOST_OF_A_WORD)).collect()
}

/// What a sentence speaks of, without its words.
fn step(history: &History, scenes: &[Scene], topic: Topic) -> Step {
    let at = scene_of(scenes, topic);
    let (mut arrows, mut reasons, mut events, mut txns) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    if let Some(scene) = at.map(|at| &scenes[at]) {
        match topic {
            Topic::Read => {
                arrows = (0..scene.panel.arrows.len()).filter(|&arrow| scene.panel.arrows[arrow].main).collect();
                let lines = scene.panel.boxes.iter().flat_map(|b| &b.lines);
                events = lines.filter(|line| line.bad).filter_map(|line| line.event).collect();
            }
            Topic::Edge { edge, .. } => {
                let (arrow, rests_on) = scene.arrows_of(edge);
                arrows = vec![arrow];
                reasons = rests_on.to_vec();
            }
            Topic::Cycle { .. } => arrows = scene.circle(),
            Topic::Observed { writer, reader, key } => {
                let is_it =
                    |edge: &Edge| (edge.from, edge.to, &edge.why) == (Some(writer), Some(reader), &Why::WriteRead(key));
                let arrow = |arrow: &usize| scene.panel.arrows[*arrow].edges.iter().any(is_it);
                arrows = (0..scene.panel.arrows.len()).filter(arrow).collect();
                txns = vec![writer, reader];
            }
            Topic::Split { key, first, second } | Topic::Side { key, first, second } => {
                txns = vec![first, second];
                events = txns.iter().filter_map(|&txn| events::last_write(history, txn, key)).collect();
            }
        }
        for &arrow in arrows.iter().chain(&reasons) {
            events.extend(&scene.panel.arrows[arrow].events);
        }
    }
    for list in [&mut arrows, &mut reasons] {
        list.sort_unstable();
        list.dedup();
    }
    reasons.retain(|reason| !arrows.contains(reason));
    events.sort_unstable();
    events.dedup();
    Step { number: String::new(), depth: 0, text: String::new(), scene: at, arrows, reasons, events, txns }
}

fn card(history: &History, txn: TxnId, explanation: &Explanation<'_>, scenes: &[Scene]) -> Card {
    let told = explanation.participant(txn).map_or(&[][..], |participant| &participant.event_ids);
    let lines = || scenes.iter().flat_map(|scene| &scene.panel.boxes).flat_map(|b| &b.lines);
    let mut others = 0;
    let mut events = Vec::new();
    for event in history.event_ids(txn) {
        let matters = told.contains(&event) || lines().any(|line| line.event == Some(event));
        others += usize::from(!matters);
        if matters || others <= MOST_EVENTS {
            let text = shortened(&history.named(history.event(event)).to_string(), MOST_OF_AN_EVENT);
            events.push(CardEvent { event, text, matters });
        }
    }
    let (place, times) = (history.place(txn), history.times(txn));
    let short = |text: String| shortened(&text, MOST_OF_A_WORD);
    Card {
        txn,
        name: short(history.transaction_name(txn).to_string()),
        session: short(history.session_name(history.session_of(txn)).to_string()),
        position: history.position(txn) + 1,
        outcome: history.outcome(txn),
        place: (place.line > 0 || place.file.is_some()).then(|| place.to_string()),
        times: times.start.map(|start| (start, times.finish)),
        left_out: history.event_ids(txn).len() - events.len(),
        events,
    }
}
