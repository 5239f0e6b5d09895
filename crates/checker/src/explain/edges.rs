//! Edges in words, and the events that they speak of.

use isonomy_history::{Event, EventId, History, Key, Outcome, TxnId};

use super::shown::Lists;
use super::words;
use super::words::party;
use crate::events;
use crate::verdict::{Case, Edge, End, Evidence, Party, Why};

/// How to speak of transactions.
#[derive(Clone, Debug)]
pub(super) struct Words {
    /// Whether they begin and commit, and others may come between; else they are before or after each other.
    snapshots: bool,
    /// What shows the order of versions in lists.
    pub(super) lists: Lists,
}

impl Words {
    /// The ones that make circles of all cycles. Where transactions begin and commit, a cycle cannot go from a commit back to the begin;
    /// one that does speaks of single moments.
    pub(super) fn of(evidence: &Evidence, lists: Lists) -> Self {
        let snapshots = match evidence {
            Evidence::Read(_) => true,
            Evidence::Cycle(edges) => fits_snapshots(edges),
            Evidence::Refutation(refutation) => refutation.cases.iter().all(|case| match case {
                Case::Split { .. } => true,
                Case::Closed(edges) => fits_snapshots(edges),
            }),
        };
        Words { snapshots, lists }
    }

    /// What an edge claims, and why it is so.
    pub(super) fn edge(&self, history: &History, edge: &Edge) -> (String, String) {
        let (from, to) = (party(history, edge.from), party(history, edge.to));
        let before = format!("{from} comes before {to}");
        match &edge.why {
            Why::Initial => (before, "everything comes after it".into()),
            Why::Session => (before, session(history, edge)),
            Why::WriteRead(key) => match edge.to {
                Some(reader) => (before, words::read(history, reader, *key, edge.from)),
                None => (before, format!("{to} read {} from it", history.key_name(*key))),
            },
            Why::Version(key) => (before, self.listed(history, edge, *key)),
            Why::Overwritten { key, reader, seen } => {
                let reason = format!(
                    "{read}, although it saw {from}, which {wrote} ({how})",
                    read = words::read(history, *reader, *key, edge.to),
                    wrote = words::wrote(history, edge.from, *key),
                    how = words::steps(history, seen),
                );
                (before, reason)
            }
            Why::Assumed(key) => {
                let [first, second] = [edge.from, edge.to].map(|writer| words::version_of(history, writer, *key));
                (before, format!("on {}, {first} is before {second}", history.key_name(*key)))
            }
            Why::AntiDependency { key, over } => {
                let claim = if self.snapshots { format!("{from} began before {to} committed") } else { before };
                let read = match edge.from {
                    Some(reader) => words::read(history, reader, *key, *over),
                    None => format!("{from} read {}", history.key_name(*key)),
                };
                if by_list(history, edge)
                    && let Some(reader) = edge.from
                {
                    let read = words::list_read(history, reader, *key, *over);
                    return (claim, format!("{read}, without {}", words::version_of(history, edge.to, *key)));
                }
                (claim, format!("{read}; {to} {}", words::replaced(history, edge.to, *key)))
            }
            Why::RealTime { from: leaves, to: arrives } => {
                let did = |end: &End| match end {
                    End::Begin => "began",
                    End::Commit => "committed",
                };
                let claim = format!("{from} {} before {to} {}", did(leaves), did(arrives));
                let latest = edge.from.and_then(|txn| latest(history, txn, *leaves));
                let earliest = edge.to.and_then(|txn| earliest(history, txn, *arrives));
                let reason = match latest.zip(earliest) {
                    Some((latest, earliest)) => format!("by their clocks, {latest} < {earliest}"),
                    None => "by their clocks".into(),
                };
                (claim, reason)
            }
        }
    }
}

impl Words {
    /// The list that shows an order of versions.
    fn listed(&self, history: &History, edge: &Edge, key: Key) -> String {
        let [first, second] = [edge.from, edge.to].map(|writer| words::version_of(history, writer, key));
        let list = edge.from.and_then(|writer| self.lists.get(&(key, writer)));
        let Some(&(reader, event)) = list else {
            return format!("lists read from {} put {first} before {second}", history.key_name(key));
        };
        let Event::ReadList { elements, .. } = history.event(event) else { unreachable!("it is a list") };
        let later = edge.to.and_then(|txn| events::last_write(history, txn, key));
        let later = later.and_then(|id| events::written(history.event(id)));
        let read = format!(
            "{} read {}={}",
            words::name(history, reader),
            history.key_name(key),
            words::list(history, elements)
        );
        match later.is_some_and(|later| elements.contains(&later)) {
            true => format!("{read}, where {first} stands before {second}"),
            false => format!("{read}, with {first} and not yet {second}"),
        }
    }

    /// Who shows the order of versions that an edge takes from lists.
    pub(super) fn list_of(&self, edge: &Edge) -> Option<(TxnId, EventId)> {
        match (&edge.why, edge.from) {
            (Why::Version(key), Some(writer)) => self.lists.get(&(*key, writer)).copied(),
            _ => None,
        }
    }
}

fn session(history: &History, edge: &Edge) -> String {
    match edge.from {
        Some(txn) => {
            format!("both are of session {}, in this order", history.session_name(history.session_of(txn)))
        }
        None => "they are of one session, in this order".into(),
    }
}

/// The events at both ends of an edge, where it is about events.
pub(super) fn ends(history: &History, edge: &Edge) -> [Option<EventId>; 2] {
    let write_in = |party: Party, key: Key| party.and_then(|txn| events::last_write(history, txn, key));
    match edge.why {
        Why::Initial | Why::Session | Why::RealTime { .. } => [None; 2],
        Why::WriteRead(key) => events::ends_of_read(history, edge.from, edge.to, key),
        Why::Version(key) | Why::Assumed(key) | Why::Overwritten { key, .. } => {
            [write_in(edge.from, key), write_in(edge.to, key)]
        }
        Why::AntiDependency { key, over } => {
            let read = edge.from.and_then(|reader| events::read_from(history, reader, key, over));
            [read.map(|(event, _)| event), write_in(edge.to, key)]
        }
    }
}

/// Whether an anti-dependency is by a list, which shows by itself what it has not.
pub(super) fn by_list(history: &History, edge: &Edge) -> bool {
    let Why::AntiDependency { key, over } = edge.why else { return false };
    let read = edge.from.and_then(|reader| events::read_from(history, reader, key, over));
    read.is_some_and(|(event, _)| matches!(history.event(event), Event::ReadList { .. }))
}

/// The events that an edge rests on besides: how the earlier one was seen, and what was read instead.
pub(super) fn reasons(history: &History, edge: &Edge) -> Vec<EventId> {
    let mut found = Vec::new();
    let mut read = |from: Party, to: Party, key: Key| {
        found.extend(events::ends_of_read(history, from, to, key).into_iter().flatten());
    };
    match &edge.why {
        Why::Overwritten { key, reader, seen } => {
            for step in seen {
                step.key.into_iter().for_each(|key| read(Some(step.from), Some(step.to), key));
            }
            read(edge.to, Some(*reader), *key);
        }
        Why::AntiDependency { key, over } if !by_list(history, edge) => read(*over, edge.from, *key),
        _ => {}
    }
    found
}

/// Whether a cycle never arrives at a commit and leaves from the begin.
fn fits_snapshots(edges: &[Edge]) -> bool {
    let leaves_begin =
        |edge: &Edge| matches!(edge.why, Why::AntiDependency { .. } | Why::RealTime { from: End::Begin, .. });
    let arrives_at_commit =
        |edge: &Edge| matches!(edge.why, Why::AntiDependency { .. } | Why::RealTime { to: End::Commit, .. });
    edges.iter().zip(edges.iter().cycle().skip(1)).all(|(edge, next)| !(arrives_at_commit(edge) && leaves_begin(next)))
}

/// The latest moment at which an end of a transaction may have happened.
fn latest(history: &History, txn: TxnId, end: End) -> Option<i64> {
    let times = history.times(txn);
    match end {
        End::Begin => times.began.or(times.start),
        End::Commit => times.finish,
    }
}

/// The earliest moment at which it may have happened.
fn earliest(history: &History, txn: TxnId, end: End) -> Option<i64> {
    let times = history.times(txn);
    match end {
        End::Begin => times.start,
        End::Commit if times.finish.is_none() && history.outcome(txn) == Outcome::Indeterminate => {
            times.committing.or(times.began).or(times.start)
        }
        End::Commit => times.committing.or(times.finish),
    }
}
