//! A panel in the making: edges go in, boxes and arrows come out.

use std::collections::{BTreeMap, BTreeSet};

use isonomy_checker::{Edge, End, Party, Why};
use isonomy_history::{EventId, History, Key, TxnId};

use crate::events;
use crate::kind::Kind;
use crate::model::{Arrow, Line, Panel, Transaction};
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
    keys: Vec<Key>,
    role: Role,
    from_event: Option<EventId>,
    to_event: Option<EventId>,
    ends: Option<(End, End)>,
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

    /// An edge of a circle.
    pub(crate) fn edge(&mut self, edge: &Edge, role: Role) {
        let (from, to) = (edge.from, edge.to);
        let write_in = |party: Party, key: Key| party.and_then(|txn| events::last_write(self.history, txn, key));
        let kind = Kind::of(&edge.why);
        match edge.why {
            Why::Initial | Why::Session => self.arrow(from, to, kind, None, role, [None; 2]),
            Why::WriteRead(key) => self.read(from, to, key, role),
            Why::Version(key) | Why::Assumed(key) | Why::Overwritten { key, .. } => {
                let ends = [write_in(from, key), write_in(to, key)];
                self.arrow(from, to, kind, Some(key), role, ends);
            }
            Why::AntiDependency { key, over } => {
                let read = from.and_then(|reader| events::read_from(self.history, reader, key, over));
                let ends = [read.map(|(event, _)| event), write_in(to, key)];
                self.arrow(from, to, kind, Some(key), role, ends);
            }
            Why::RealTime { from: leaves, to: arrives } => {
                self.arrow(from, to, kind, None, role, [None; 2]);
                if let Some(last) = self.arrows.last_mut() {
                    last.ends = Some((leaves, arrives));
                }
            }
        }
    }

    /// What an edge rests on: how the earlier one was seen, and what was read instead.
    pub(crate) fn reasons(&mut self, edge: &Edge) {
        match &edge.why {
            Why::Overwritten { key, reader, seen } => {
                for step in seen {
                    match step.key {
                        Some(key) => self.read(Some(step.from), Some(step.to), key, Role::Reason),
                        None => {
                            self.arrow(Some(step.from), Some(step.to), Kind::Session, None, Role::Reason, [None; 2])
                        }
                    }
                }
                self.read(edge.to, Some(*reader), *key, Role::Reason);
            }
            // That something was read from the initial state, the event itself says.
            Why::AntiDependency { key, over: over @ Some(_) } => self.read(*over, edge.from, *key, Role::Reason),
            _ => {}
        }
    }

    /// `to` read a key from `from`.
    pub(crate) fn read(&mut self, from: Party, to: Party, key: Key, role: Role) {
        let read = to.and_then(|reader| events::read_from(self.history, reader, key, from));
        let write = from.and_then(|writer| match read {
            Some((_, Some(value))) => events::write_of(self.history, writer, value),
            _ => events::last_write(self.history, writer, key),
        });
        self.arrow(from, to, Kind::WriteRead, Some(key), role, [write, read.map(|(event, _)| event)]);
    }

    /// An arrow between two events. One that is there already is not drawn twice.
    pub(crate) fn arrow(
        &mut self,
        from: Party,
        to: Party,
        kind: Kind,
        key: Option<Key>,
        role: Role,
        [from_event, to_event]: [Option<EventId>; 2],
    ) {
        self.parties.extend([from, to]);
        [from_event, to_event].into_iter().flatten().for_each(|event| self.event(event));
        let mut alike = self.arrows.iter_mut().filter(|a| (a.from, a.to, a.kind) == (from, to, kind));
        match alike.find(|a| key.is_none_or(|key| a.keys.contains(&key)) || a.role == role) {
            Some(arrow) => {
                if role == Role::Main {
                    arrow.role = role;
                }
                if let Some(key) = key
                    && !arrow.keys.contains(&key)
                {
                    arrow.keys.push(key);
                }
            }
            None => self.arrows.push(DraftArrow {
                from,
                to,
                kind,
                keys: key.into_iter().collect(),
                role,
                from_event,
                to_event,
                ends: None,
            }),
        }
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
                label: self.label(arrow),
                main: arrow.role == Role::Main,
                from_line: line(from, arrow.from_event),
                to_line: line(to, arrow.to_event),
                ends: arrow.ends,
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
            let name = "initial state".into();
            return Transaction { name, lane, outcome: None, lines: Vec::new(), folded: 0, times: None };
        };
        let line = |id: &EventId| Line {
            text: shortened(&history.named(history.event(*id)).to_string(), MOST_OF_AN_EVENT),
            bad: self.events[id],
        };
        let folded = if with_events { history.event_ids(txn).len() - shown.len() } else { 0 };
        let times = history.times(txn);
        Transaction {
            name: name(history, txn),
            lane,
            outcome: Some(history.outcome(txn)),
            lines: shown.iter().map(line).collect(),
            folded,
            times: times.start.map(|start| (start, times.finish)),
        }
    }

    fn label(&self, arrow: &DraftArrow) -> String {
        let word = arrow.kind.look().word;
        let keys: Vec<String> = arrow.keys.iter().map(|&key| self::key(self.history, key)).collect();
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
