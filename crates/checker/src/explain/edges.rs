//! Edges in words.

use isonomy_history::{Event, History, Key, Name, Outcome, TxnId};

use super::{party, told_steps};
use crate::verdict::{Case, Edge, End, Evidence, Why};

/// How to speak of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// They begin and commit, and others may come between.
    Snapshots,
    /// They are before or after each other.
    OneMoment,
}

impl Words {
    /// The ones that make circles of all cycles. Where transactions begin and commit, a cycle cannot go from a commit back to the begin;
    /// one that does speaks of single moments.
    pub(super) fn of(evidence: &Evidence) -> Self {
        let fits = match evidence {
            Evidence::Read(_) => true,
            Evidence::Cycle(edges) => fits_snapshots(edges),
            Evidence::Refutation(refutation) => refutation.cases.iter().all(|case| match case {
                Case::Split { .. } => true,
                Case::Closed(edges) => fits_snapshots(edges),
            }),
        };
        if fits { Words::Snapshots } else { Words::OneMoment }
    }

    /// What an edge claims, and why it is so.
    pub(super) fn edge(self, history: &History, edge: &Edge) -> (String, String) {
        let (from, to) = (party(history, edge.from), party(history, edge.to));
        let before = format!("{from} comes before {to}");
        match &edge.why {
            Why::Initial => (before, "everything comes after it".into()),
            Why::Session => (before, "they are of one session, in this order".into()),
            Why::WriteRead(key) => (before, format!("{to} read {} from it", history.key_name(*key))),
            Why::Version(key) => (before, format!("lists read from {} have its element first", history.key_name(*key))),
            Why::Overwritten { key, reader, seen } => {
                let reason = format!(
                    "{reader} read {key} from {to}, although it saw {from}, which wrote {key} too ({how})",
                    reader = history.transaction_name(*reader),
                    key = history.key_name(*key),
                    how = told_steps(history, seen),
                );
                (before, reason)
            }
            Why::Assumed(key) => (before, format!("its version of {} is the earlier one", history.key_name(*key))),
            Why::AntiDependency { key, over } => {
                let claim = match self {
                    Words::Snapshots => format!("{from} began before {to} committed"),
                    Words::OneMoment => before,
                };
                let name = history.key_name(*key);
                let read = match edge.from.and_then(|reader| range_without(history, reader, *key)) {
                    Some((lo, hi)) if over.is_none() => format!("its range {lo}..{hi} did not return {name}"),
                    _ => format!("it read {name} from {}", party(history, *over)),
                };
                (claim, format!("{read} and missed {to}'s later version"))
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

/// Whether a cycle never arrives at a commit and leaves from the begin.
fn fits_snapshots(edges: &[Edge]) -> bool {
    let leaves_begin =
        |edge: &Edge| matches!(edge.why, Why::AntiDependency { .. } | Why::RealTime { from: End::Begin, .. });
    let arrives_at_commit =
        |edge: &Edge| matches!(edge.why, Why::AntiDependency { .. } | Why::RealTime { to: End::Commit, .. });
    edges.iter().zip(edges.iter().cycle().skip(1)).all(|(edge, next)| !(arrives_at_commit(edge) && leaves_begin(next)))
}

/// A range in which a transaction did not find a key that it did not read otherwise.
fn range_without(history: &History, reader: TxnId, key: Key) -> Option<(Name<'_>, Name<'_>)> {
    let mut found = None;
    for event in history.events(reader) {
        match event {
            Event::Read(value) if history.key_of(value) == key => return None,
            Event::Range { lo, hi, rows } if (lo..=hi).contains(&history.key_name(key)) => {
                let returned = rows.iter().any(|&row| history.key_of(row) == key);
                found = found.or((!returned).then_some((lo, hi)));
            }
            _ => {}
        }
    }
    found
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
