//! A panel in the making: edges go in, boxes and arrows come out.

use std::collections::{BTreeMap, BTreeSet};

use isonomy_checker::{Edge, Party, Why, events};
use isonomy_history::{EventId, History, Key, TxnId};

use crate::kind::Kind;
use crate::model::{Arrow, Line, Panel, Subject, Transaction};
use crate::text::shortened;

/// Longer names are cut.
const MOST_OF_A_NAME: usize = 18;
const MOST_OF_AN_EVENT: usize = 34;

/// Whether an arrow is what the drawing shows, or why that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Main,
    Reason,
}

pub(crate) struct Draft<'h> {
    history: &'h History,
    /// The initial state comes first, then transactions session by session.
    parties: BTreeSet<Party>,
    /// The events to show, and whether each is what is wrong.
    events: BTreeMap<EventId, bool>,
    arrows: Vec<DraftArrow>,
}

struct DraftArrow {
    from: Party,
    to: Party,
    kind: Kind,
    /// What it stands for, one for each key.
    edges: Vec<Edge>,
    role: Role,
    from_event: Option<EventId>,
    to_event: Option<EventId>,
    events: Vec<EventId>,
}

impl<'h> Draft<'h> {
    pub(crate) fn new(history: &'h History) -> Self {
        Draft { history, parties: BTreeSet::new(), events: BTreeMap::new(), arrows: Vec::new() }
    }

    pub(crate) fn party(&mut self, party: Party) {
        self.parties.insert(party);
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: EventId) {
        self.events.entry(event).or_insert(false);
    }

    /// Shows an event that is wrong.
    pub(crate) fn bad_event(&mut self, event: EventId) {
        self.events.insert(event, true);
    }

    /// An edge of a circle. Returns the index of its arrow.
    pub(crate) fn edge(&mut self, edge: &Edge, role: Role) -> usize {
        let write_in = |party: Party, key: Key| party.and_then(|txn| events::last_write(self.history, txn, key));
        match edge.why {
            Why::Initial | Why::Session | Why::RealTime { .. } => self.arrow(edge.clone(), role, [None; 2]),
            Why::WriteRead(key) => self.read(edge.from, edge.to, key, role),
            Why::Version(key) | Why::Assumed(key) | Why::Overwritten { key, .. } => {
                let ends = [write_in(edge.from, key), write_in(edge.to, key)];
                self.arrow(edge.clone(), role, ends)
            }
            Why::AntiDependency { key, over } => {
                let read = edge.from.and_then(|reader| events::read_from(self.history, reader, key, over));
                let ends = [read.map(|(event, _)| event), write_in(edge.to, key)];
                self.arrow(edge.clone(), role, ends)
            }
        }
    }

    /// What an edge rests on: how the earlier one was seen, and what was read instead. Returns the indices of the arrows.
    pub(crate) fn reasons(&mut self, edge: &Edge) -> Vec<usize> {
        match &edge.why {
            Why::Overwritten { key, reader, seen } => {
                let mut reasons = Vec::new();
                for step in seen {
                    let (from, to) = (Some(step.from), Some(step.to));
                    reasons.push(match step.key {
                        Some(key) => self.read(from, to, key, Role::Reason),
                        None => self.arrow(Edge { from, to, why: Why::Session }, Role::Reason, [None; 2]),
                    });
                }
                reasons.push(self.read(edge.to, Some(*reader), *key, Role::Reason));
                reasons
            }
            // That something was read from the initial state, the event itself says.
            Why::AntiDependency { key, over: over @ Some(_) } => vec![self.read(*over, edge.from, *key, Role::Reason)],
            _ => Vec::new(),
        }
    }

    /// `to` read a key from `from`.
    pub(crate) fn read(&mut self, from: Party, to: Party, key: Key, role: Role) -> usize {
        let ends = events::ends_of_read(self.history, from, to, key);
        self.arrow(Edge { from, to, why: Why::WriteRead(key) }, role, ends)
    }

    /// An arrow between two events. One that is there already is not drawn twice. Returns its index.
    pub(crate) fn arrow(&mut self, edge: Edge, role: Role, ends: [Option<EventId>; 2]) -> usize {
        let (from, to, kind, key) = (edge.from, edge.to, Kind::of(&edge.why), edge.why.key());
        self.parties.extend([from, to]);
        ends.into_iter().flatten().for_each(|event| self.event(event));
        let alike = |arrow: &DraftArrow| {
            let has = |key: Key| arrow.edges.iter().any(|other| other.why.key() == Some(key));
            (arrow.from, arrow.to, arrow.kind) == (from, to, kind) && (key.is_none_or(has) || arrow.role == role)
        };
        if let Some(index) = self.arrows.iter().position(alike) {
            let arrow = &mut self.arrows[index];
            if role == Role::Main {
                arrow.role = role;
            }
            if !arrow.edges.iter().any(|other| other.why.key() == key) {
                arrow.edges.push(edge);
            }
            arrow.events.extend(ends.into_iter().flatten());
            return index;
        }
        let [from_event, to_event] = ends;
        let events = ends.into_iter().flatten().collect();
        self.arrows.push(DraftArrow { from, to, kind, edges: vec![edge], role, from_event, to_event, events });
        self.arrows.len() - 1
    }

    /// The panel. Without events, boxes have nothing but names.
    pub(crate) fn finish(self, caption: Option<String>, with_events: bool) -> Panel {
        let history = self.history;
        let mut lanes = Vec::new();
        let mut sessions = Vec::new();
        let mut boxes = Vec::new();
        let mut lines_of: Vec<Vec<EventId>> = Vec::new();
        for &party in &self.parties {
            let session = party.map(|txn| history.session_of(txn));
            // Transactions are numbered session by session.
            if sessions.last() != Some(&session) {
                sessions.push(session);
                lanes.push(session.map_or(String::new(), |session| {
                    shortened(&history.session_name(session).to_string(), MOST_OF_A_NAME)
                }));
            }
            let lane = lanes.len() - 1;
            let shown: Vec<EventId> = match party {
                Some(txn) if with_events => history.event_ids(txn).filter(|id| self.events.contains_key(id)).collect(),
                _ => Vec::new(),
            };
            boxes.push(self.transaction(party, lane, &shown, with_events));
            lines_of.push(shown);
        }
        let index =
            |party: Party| self.parties.iter().position(|&other| other == party).expect("both ends are parties");
        let arrows = self.arrows.iter().map(|arrow| {
            let (from, to) = (index(arrow.from), index(arrow.to));
            let line = |at: usize, event: Option<EventId>| lines_of[at].iter().position(|&id| Some(id) == event);
            Arrow {
                from,
                to,
                kind: arrow.kind,
                edges: arrow.edges.clone(),
                label: self.label(arrow),
                main: arrow.role == Role::Main,
                from_line: line(from, arrow.from_event),
                to_line: line(to, arrow.to_event),
                events: arrow.events.clone(),
                ends: arrow.edges.iter().find_map(|edge| match edge.why {
                    Why::RealTime { from, to } => Some((from, to)),
                    _ => None,
                }),
            }
        });
        let moments =
            || boxes.iter().filter_map(|b| b.times).flat_map(|(start, finish)| [Some(start), finish]).flatten();
        let clock = moments().min().zip(moments().max());
        Panel { caption, lanes, arrows: arrows.collect(), clock, boxes }
    }

    fn transaction(&self, party: Party, lane: usize, shown: &[EventId], with_events: bool) -> Transaction {
        let history = self.history;
        let Some(txn) = party else {
            return Transaction {
                subject: Subject::InitialState,
                name: "initial state".into(),
                lane,
                lines: Vec::new(),
                tip: None,
                skipped: 0,
                folded: 0,
                times: None,
            };
        };
        let line = |id: &EventId| Line {
            event: Some(*id),
            text: shortened(&history.named(history.event(*id)).to_string(), MOST_OF_AN_EVENT),
            bad: self.events[id],
        };
        let folded = if with_events { history.event_ids(txn).len() - shown.len() } else { 0 };
        let times = history.times(txn);
        Transaction {
            subject: Subject::Transaction(txn, history.outcome(txn)),
            name: name(history, txn),
            lane,
            lines: shown.iter().map(line).collect(),
            tip: None,
            skipped: 0,
            folded,
            times: times.start.map(|start| (start, times.finish)),
        }
    }

    fn label(&self, arrow: &DraftArrow) -> String {
        let word = arrow.kind.look().word;
        let keys = arrow.edges.iter().filter_map(|edge| edge.why.key());
        let keys: Vec<String> = keys.map(|key| self::key(self.history, key)).collect();
        match (arrow.kind, keys.is_empty()) {
            (_, true) => word.to_string(),
            // As one says it.
            (Kind::Overwritten, _) => format!("{} {word}", keys.join(", ")),
            _ => format!("{word} {}", keys.join(", ")),
        }
    }
}

/// The name of a transaction, cut if it is long.
pub(crate) fn name(history: &History, txn: TxnId) -> String {
    shortened(&history.transaction_name(txn).to_string(), MOST_OF_A_NAME + 6)
}

/// The name of a key, cut if it is long.
pub(crate) fn key(history: &History, key: Key) -> String {
    shortened(&history.key_name(key).to_string(), MOST_OF_A_NAME)
}
