//! The story of a counterexample, as data: who took part, what they did, and why it cannot be. Renderings draw this value.

use std::fmt;

use isonomy_history::{Datum, Event, FaultKind, History, Key, Name, NamedEvent, Place, ReadFault, TxnId, Writer};

use crate::anomaly::Anomaly;
use crate::verdict::{Case, Counterexample, Edge, Evidence, Party, Step, Why};

mod cases;
mod edges;
mod topics;

use edges::Words;
pub use topics::{Topic, told_edge, topics};

/// A counterexample in words.
#[derive(Clone, Debug)]
pub struct Explanation<'h> {
    /// What it is called.
    pub anomaly: Anomaly,
    /// The transactions that take part.
    pub transactions: Vec<Participant<'h>>,
    /// What follows from what, a sentence each.
    pub steps: Vec<Sentence>,
}

/// A sentence of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its number, for others to refer to. Below a distinction of cases it has several parts: `3.1.2`.
    pub number: String,
    /// What it says.
    pub text: String,
}

/// A transaction in a counterexample.
#[derive(Clone, Debug)]
pub struct Participant<'h> {
    /// Which one.
    pub txn: TxnId,
    /// Its name.
    pub name: String,
    /// Its session's name.
    pub session: Name<'h>,
    /// Its position in the session, from 1.
    pub position: u32,
    /// Where in the input it stands.
    pub place: Place,
    /// The events that matter.
    pub events: Vec<NamedEvent<'h>>,
    /// How many other events it has.
    pub folded: usize,
}

/// Tells the story of a counterexample.
pub fn explain<'h>(history: &'h History, counterexample: &Counterexample) -> Explanation<'h> {
    let teller = Teller::new(history, counterexample);
    let mut keys = counterexample.keys();
    keys.sort_unstable_by_key(|&key| history.key_name(key));
    let mut txns = counterexample.transactions();
    let steps = match &counterexample.evidence {
        Evidence::Read(fault) => {
            let writer = fault.value.map(|value| history.derived().writer(value));
            if let Some(Writer::Txn(writer)) = writer
                && writer != fault.txn
            {
                txns.insert(0, writer);
            }
            if let FaultKind::IncompatibleOrder(other) = fault.kind {
                let reader = history.transactions().find(|&txn| history.event_ids(txn).any(|id| id == other));
                txns.extend(reader.filter(|&reader| reader != fault.txn));
            }
            numbered([told_fault(history, fault)])
        }
        Evidence::Cycle(edges) => numbered(edges.iter().map(|edge| teller.edge(edge))),
        Evidence::Refutation(refutation) => cases::tell(history, teller.words, &refutation.cases),
    };
    let transactions = txns.into_iter().map(|txn| participant(history, txn, &keys)).collect();
    Explanation { anomaly: counterexample.anomaly, transactions, steps }
}

fn numbered(texts: impl IntoIterator<Item = String>) -> Vec<Sentence> {
    texts.into_iter().zip(1..).map(|(text, number)| Sentence { number: number.to_string(), text }).collect()
}

/// Tells parts of a counterexample by themselves.
pub(crate) struct Teller<'h> {
    history: &'h History,
    words: Words,
}

impl<'h> Teller<'h> {
    pub(crate) fn new(history: &'h History, counterexample: &Counterexample) -> Self {
        Teller { history, words: Words::of(&counterexample.evidence) }
    }

    /// An edge in a sentence.
    pub(crate) fn edge(&self, edge: &Edge) -> String {
        match edge.why {
            Why::Initial => format!("The initial state comes before {}.", party(self.history, edge.to)),
            _ => {
                let (claim, reason) = self.words.edge(self.history, edge);
                format!("{claim}: {reason}.")
            }
        }
    }

    /// A case in a sentence.
    pub(crate) fn case(&self, case: &Case) -> String {
        cases::tell_one(self.history, self.words, case)
    }
}

fn participant<'h>(history: &'h History, txn: TxnId, keys: &[Key]) -> Participant<'h> {
    let matters = |event: &Event<'h>| match *event {
        Event::Read(value)
        | Event::Write(value)
        | Event::Append(value)
        | Event::Insert(value)
        | Event::Delete(value) => keys.contains(&history.key_of(value)),
        Event::CompareAndSet { new, .. } => keys.contains(&history.key_of(new)),
        Event::ReadList { key, .. } => keys.contains(&key),
        Event::Range { lo, hi, .. } => keys.iter().any(|&key| (lo..=hi).contains(&history.key_name(key))),
    };
    let all = history.events(txn);
    let total = all.len();
    let events: Vec<NamedEvent<'h>> = all.filter(matters).map(|event| history.named(event)).collect();
    Participant {
        txn,
        name: history.transaction_name(txn).to_string(),
        session: history.session_name(history.session_of(txn)),
        position: history.position(txn) + 1,
        place: history.place(txn),
        folded: total - events.len(),
        events,
    }
}

fn told_fault(history: &History, fault: &ReadFault) -> String {
    let reader = history.transaction_name(fault.txn);
    let key = history.key_name(fault.key);
    let value = fault.value.map_or(Datum::Initial, |value| history.given(value));
    let writer = match fault.value.map(|value| history.derived().writer(value)) {
        Some(Writer::Txn(writer)) => history.transaction_name(writer).to_string(),
        _ => "the initial state".to_string(),
    };
    match fault.kind {
        FaultKind::ThinAir => format!("{reader} read {key}={value}, which nobody wrote."),
        FaultKind::Aborted => format!("{reader} read {key}={value} from {writer}, which aborted."),
        FaultKind::Intermediate => {
            format!("{reader} read {key}={value} from {writer}, which overwrote it itself before it ended.")
        }
        FaultKind::Future => format!("{reader} read {key}={value} before it wrote that value itself."),
        FaultKind::NotMyOwnWrite => format!("{reader} had written {key} and then read {key}={value} from {writer}."),
        FaultKind::NotMyLastWrite => format!("{reader} read {key}={value}, which it had itself overwritten before."),
        FaultKind::NonRepeatable => {
            format!("{reader} had read another value of {key} before and now read {key}={value} from {writer}.")
        }
        FaultKind::DuplicateElement => format!("{reader} read a list in {key} that holds {value} twice."),
        FaultKind::IncompatibleOrder(other) if other == fault.event => {
            format!(
                "{reader} read a list in {key} that has the elements of one transaction in another order than it appended them."
            )
        }
        FaultKind::IncompatibleOrder(_) => {
            format!("{reader} read a list in {key} that is no prefix of a longer one read elsewhere.")
        }
    }
}

fn told_steps(history: &History, steps: &[Step]) -> String {
    let step = |step: &Step| {
        let (from, to) = (history.transaction_name(step.from), history.transaction_name(step.to));
        match step.key {
            Some(key) => format!("{to} read {} from {from}", history.key_name(key)),
            None => format!("{to} follows {from} in its session"),
        }
    };
    steps.iter().map(step).collect::<Vec<_>>().join(", ")
}

fn party(history: &History, party: Party) -> String {
    party.map_or("the initial state".to_string(), |txn| history.transaction_name(txn).to_string())
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.anomaly, self.anomaly.info().meaning)?;
        let width = self.transactions.iter().map(|t| t.name.chars().count()).max().unwrap_or(0);
        for transaction in &self.transactions {
            write!(f, "  {:width$}  {}", transaction.name, Events(transaction))?;
            if transaction.place.line > 0 || transaction.place.file.is_some() {
                write!(f, "  ({})", transaction.place)?;
            }
            writeln!(f)?;
        }
        for Sentence { number, text } in &self.steps {
            writeln!(f, "  {number}. {text}")?;
        }
        Ok(())
    }
}

/// The events of a participant in the notation of `hist`.
struct Events<'a, 'h>(&'a Participant<'h>);

impl fmt::Display for Events<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, event) in self.0.events.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{event}")?;
        }
        match (self.0.folded, self.0.events.is_empty()) {
            (0, _) => f.write_str("]"),
            (folded, true) => write!(f, "… {folded} events]"),
            (folded, false) => write!(f, " … {folded} more]"),
        }
    }
}
