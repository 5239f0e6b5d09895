//! The story of a counterexample, as data: who took part, what they did, how they are related, and why it cannot be.
//!
//! One value, from which all renderings come: text ([`Display`](fmt::Display)), JSON ([`report`](crate::report)), timelines. What it does not know by
//! itself, which levels hold nonetheless, is added by whoever has checked them ([`Explanation::among`]).

use std::fmt;

use isonomy_history::{EventId, History, Name, NamedEvent, Outcome, Place, Times, TxnId};
use rustc_hash::FxHashSet;

use crate::anomaly::Anomaly;
use crate::events;
use crate::level::IsolationLevel;
use crate::verdict::{Case, Counterexample, Edge, Evidence, Party, Why};

mod cases;
mod edges;
mod faults;
mod instances;
mod shown;
mod topics;
mod words;

use edges::Words;
pub use topics::Topic;

/// A counterexample in words.
#[derive(Clone, Debug)]
pub struct Explanation<'h> {
    /// What it is called.
    pub anomaly: Anomaly,
    /// The transactions that take part, in order of appearance.
    pub transactions: Vec<Participant<'h>>,
    /// How they are related. Of a cycle each comes before the next, and the last before the first; of a proof by cases there are the
    /// cycles of all cases, one after the other. Empty if one read is wrong by itself.
    pub relations: Vec<Relation<'h>>,
    /// The cases, if it depends on the order of some versions where the cycle is. The first is the root.
    pub cases: Vec<Distinction<'h>>,
    /// What follows from what, a sentence each.
    pub steps: Vec<Sentence>,
    /// Where the history stands among the levels, if that is known.
    pub standing: Option<Standing>,
    words: Words,
}

/// A sentence of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its number, for others to refer to. Below a distinction of cases it has several parts: `3.1.2`.
    pub number: String,
    /// What it says.
    pub text: String,
    /// What it speaks of.
    pub topic: Topic,
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
    /// How it ended.
    pub outcome: Outcome,
    /// When it ran.
    pub times: Times,
    /// Where in the input it stands.
    pub place: Place,
    /// The events that matter: those that relations and the story speak of.
    pub events: Vec<NamedEvent<'h>>,
    /// Their ids.
    pub event_ids: Vec<EventId>,
    /// How many other events it has.
    pub folded: usize,
}

/// One transaction comes before another.
#[derive(Clone, Debug)]
pub struct Relation<'h> {
    /// The earlier one.
    pub from: Party,
    /// The later one.
    pub to: Party,
    /// Why, as data.
    pub why: Why,
    /// The key that it is about.
    pub key: Option<Name<'h>>,
    /// What it says: `T3 began before T2 committed`.
    pub claim: String,
    /// Why that is so: `T3 read x=4, which T1 wrote; T2 overwrote that with 5`.
    pub reason: String,
    /// The event of the earlier one, if it is about events.
    pub from_event: Option<EventId>,
    /// The event of the later one.
    pub to_event: Option<EventId>,
}

/// A case of a proof by cases.
#[derive(Clone, Debug)]
pub enum Distinction<'h> {
    /// One of two transactions wrote the earlier version of a key.
    Split {
        /// The key that both write.
        key: Name<'h>,
        /// One of them.
        first: TxnId,
        /// The other.
        second: TxnId,
        /// The case in which `first` wrote the earlier version: its index.
        before: usize,
        /// The case in which `second` did: its index.
        after: usize,
        /// The same in words.
        told: String,
    },
    /// With what was assumed on the way here, there is a cycle.
    Closed {
        /// Its relations: a range of [`Explanation::relations`].
        relations: std::ops::Range<usize>,
        /// The same in words.
        told: String,
    },
}

/// Where a history stands among the levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The weakest levels that are violated.
    pub violated: Vec<IsolationLevel>,
    /// The strongest that hold.
    pub holds: Vec<IsolationLevel>,
}

impl Standing {
    /// From all levels that are known to be violated, and all that are known to hold.
    pub fn new(violated: &[IsolationLevel], holds: &[IsolationLevel]) -> Self {
        let weakest = |level: &&IsolationLevel| !violated.iter().any(|other| other != *level && level.implies(*other));
        let strongest = |level: &&IsolationLevel| !holds.iter().any(|other| other != *level && other.implies(**level));
        Standing {
            violated: violated.iter().filter(weakest).copied().collect(),
            holds: holds.iter().filter(strongest).copied().collect(),
        }
    }
}

/// Tells the story of a counterexample.
pub fn explain<'h>(history: &'h History, counterexample: &Counterexample) -> Explanation<'h> {
    let mut txns = counterexample.transactions();
    let lists = shown::lists(history, &counterexample.evidence, &txns);
    let mut telling = Telling {
        history,
        words: Words::of(&counterexample.evidence, lists),
        events: FxHashSet::default(),
        witnesses: Vec::new(),
        spared: Vec::new(),
        needed: FxHashSet::default(),
        relations: Vec::new(),
    };
    let mut cases = Vec::new();
    let mut steps = match &counterexample.evidence {
        Evidence::Read(fault) => {
            let faults::Fault { txns: all, events, told } = faults::tell(history, fault);
            txns = all;
            telling.events.extend(events);
            vec![Sentence { number: "1".into(), text: told, topic: Topic::Read }]
        }
        Evidence::Cycle(edges) => {
            telling.cycle(edges);
            let sentence = |(edge, relation): (usize, &Relation<'_>)| Sentence {
                number: (edge + 1).to_string(),
                text: relation.to_string(),
                topic: Topic::Edge { case: 0, edge },
            };
            telling.relations.iter().enumerate().map(sentence).collect()
        }
        Evidence::Refutation(refutation) => {
            cases = refutation.cases.iter().map(|case| telling.case(case)).collect();
            cases::tell(history, &telling.words, &refutation.cases)
        }
    };
    txns.retain(|txn| !telling.spared.contains(txn) || telling.needed.contains(txn));
    txns.extend(telling.witnesses.iter().copied());
    for observed in shown::observed(history, &txns, &telling.events) {
        steps.push(telling.observed(&observed, steps.last()));
        txns.push(observed.reader);
    }
    let mut met = FxHashSet::default();
    txns.retain(|&txn| met.insert(txn));
    let transactions = txns.into_iter().map(|txn| telling.participant(txn)).collect();
    let Telling { words, relations, .. } = telling;
    Explanation { anomaly: counterexample.anomaly, transactions, relations, cases, steps, standing: None, words }
}

impl<'h> Explanation<'h> {
    /// The same, with what is known of the levels.
    pub fn among(self, standing: Standing) -> Self {
        Explanation { standing: Some(standing), ..self }
    }

    /// An edge of the counterexample, or one that such an edge rests on, in the words of the story.
    pub fn relation(&self, history: &'h History, edge: &Edge) -> Relation<'h> {
        relation(history, &self.words, edge)
    }

    /// Who takes part by this id.
    pub fn participant(&self, txn: TxnId) -> Option<&Participant<'h>> {
        self.transactions.iter().find(|participant| participant.txn == txn)
    }
}

/// A sentence.
impl fmt::Display for Relation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut claim = self.claim.chars();
        // What begins with a word instead of a name, as the initial state does.
        claim.next().into_iter().flat_map(char::to_uppercase).try_for_each(|c| write!(f, "{c}"))?;
        match self.why {
            Why::Initial => write!(f, "{}.", claim.as_str()),
            _ => write!(f, "{}: {}.", claim.as_str(), self.reason),
        }
    }
}

fn relation<'h>(history: &'h History, words: &Words, edge: &Edge) -> Relation<'h> {
    let (claim, reason) = words.edge(history, edge);
    let [from_event, to_event] = edges::ends(history, edge);
    let key = edge.why.key().map(|key| history.key_name(key));
    let Edge { from, to, ref why } = *edge;
    Relation { from, to, why: why.clone(), key, claim, reason, from_event, to_event }
}

/// A story being told.
struct Telling<'h> {
    history: &'h History,
    words: Words,
    /// The events that matter.
    events: FxHashSet<EventId>,
    /// Who shows orders of versions without being related by them.
    witnesses: Vec<TxnId>,
    /// Whose versions were read in lists that show by themselves what they have not.
    spared: Vec<TxnId>,
    /// Who must take part for another reason.
    needed: FxHashSet<TxnId>,
    relations: Vec<Relation<'h>>,
}

impl<'h> Telling<'h> {
    /// Adds the relations of a cycle.
    fn cycle(&mut self, edges: &[Edge]) {
        for edge in edges {
            let history = self.history;
            let relation = relation(history, &self.words, edge);
            self.events.extend([relation.from_event, relation.to_event].into_iter().flatten());
            self.events.extend(edges::reasons(history, edge));
            if let Why::AntiDependency { over: Some(over), .. } = edge.why
                && edges::by_list(history, edge)
            {
                self.spared.push(over);
            } else {
                edge.each_transaction(|txn| self.needed.extend([txn]));
            }
            self.needed.extend([edge.from, edge.to].into_iter().flatten());
            if let Some((reader, event)) = self.words.list_of(edge) {
                self.witnesses.push(reader);
                self.events.insert(event);
            }
            self.relations.push(relation);
        }
    }

    fn case(&mut self, case: &Case) -> Distinction<'h> {
        let told = cases::tell_one(self.history, &self.words, case);
        match case {
            &Case::Split { key, first, second, before, after } => {
                let writes = [first, second].map(|txn| events::last_write(self.history, txn, key));
                self.events.extend(writes.into_iter().flatten());
                self.needed.extend([first, second]);
                Distinction::Split { key: self.history.key_name(key), first, second, before, after, told }
            }
            Case::Closed(edges) => {
                let first = self.relations.len();
                self.cycle(edges);
                Distinction::Closed { relations: first..self.relations.len(), told }
            }
        }
    }

    /// Why a transaction of unknown outcome counts, after the last sentence.
    fn observed(&mut self, observed: &shown::Observed, last: Option<&Sentence>) -> Sentence {
        let &shown::Observed { txn, reader, key } = observed;
        let history = self.history;
        self.events.extend(events::ends_of_read(history, Some(txn), Some(reader), key).into_iter().flatten());
        let last = last.and_then(|last| last.number.split('.').next()?.parse().ok()).unwrap_or(0);
        let (name, read) = (words::name(history, txn), words::read(history, reader, key, Some(txn)));
        let text = format!("{name} took effect, although its client never learnt that: {read}.");
        Sentence { number: (last + 1).to_string(), text, topic: Topic::Observed { writer: txn, reader, key } }
    }

    fn participant(&self, txn: TxnId) -> Participant<'h> {
        let history = self.history;
        let event_ids: Vec<EventId> = history.event_ids(txn).filter(|id| self.events.contains(id)).collect();
        Participant {
            txn,
            name: words::name(history, txn),
            session: history.session_name(history.session_of(txn)),
            position: history.position(txn) + 1,
            outcome: history.outcome(txn),
            times: history.times(txn),
            place: history.place(txn),
            events: event_ids.iter().map(|&id| history.named(history.event(id))).collect(),
            folded: history.event_ids(txn).len() - event_ids.len(),
            event_ids,
        }
    }
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
        for Sentence { number, text, .. } in &self.steps {
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
