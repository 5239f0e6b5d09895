//! Linearizability: each object by itself is strictly serializable, where every transaction is one operation on one of them.

use isonomy_history::{Event, History, Key, SessionId, TxnId, Value};
use rustc_hash::FxHashMap;

use super::clock::moment;
use super::facts::{Facts, Source};
use super::{Flaw, cases, cycle, name};
use crate::level::{IsolationLevel, Terms};
use crate::verdict::{Case, Edge, End, Evidence, Verdict};

/// The object of a transaction that is one operation on one register.
fn object(history: &History, txn: TxnId) -> Option<Key> {
    let mut events = history.events(txn);
    let (event, None) = (events.next()?, events.next()) else { return None };
    match event {
        Event::Read(value) | Event::Write(value) | Event::Insert(value) | Event::Delete(value) => {
            Some(history.key_of(value))
        }
        Event::CompareAndSet { new, .. } => Some(history.key_of(new)),
        Event::Append(_) | Event::ReadList { .. } | Event::Range { .. } => None,
    }
}

pub(super) fn check(facts: &Facts<'_>, terms: Terms, verdict: &Verdict) -> Result<(), Flaw> {
    const STRICT: IsolationLevel = IsolationLevel::StrictSerializable;
    let history = facts.history;
    let of = |txn: TxnId| {
        let known = txn.index() < history.transaction_count() && facts.counts(txn);
        if known { object(history, txn).ok_or(Flaw::SeveralObjects) } else { Err(Flaw::SeveralObjects) }
    };
    for txn in history.transactions().filter(|&txn| facts.counts(txn)) {
        of(txn)?;
    }
    match verdict {
        Verdict::Holds(witness) => {
            let mut objects: Vec<Vec<TxnId>> = vec![Vec::new(); history.key_count()];
            let mut seen = vec![false; history.transaction_count()];
            for &txn in &witness.order {
                objects[of(txn)?.index()].push(txn);
                if std::mem::replace(&mut seen[txn.index()], true) {
                    return Err(Flaw::NotAPermutation);
                }
            }
            if history.transactions().any(|txn| facts.counts(txn) && !seen[txn.index()]) {
                return Err(Flaw::NotAPermutation);
            }
            objects.iter().try_for_each(|order| replay(facts, terms, order))
        }
        Verdict::Violated(counterexample) => {
            let one_object = |edges: &[Edge]| {
                let mut parties = edges.iter().flat_map(|edge| [edge.from, edge.to]);
                let mut first = None;
                parties.all(|party| match party.map(of) {
                    Some(Ok(object)) => *first.get_or_insert(object) == object,
                    _ => false,
                })
            };
            match &counterexample.evidence {
                Evidence::Read(fault) => cycle::check_fault(facts, STRICT, fault),
                Evidence::Cycle(edges) if one_object(edges) => cases::check_cycle(facts, STRICT, terms, edges),
                Evidence::Refutation(refutation) => {
                    let within = refutation.cases.iter().all(|case| match case {
                        Case::Closed(edges) => one_object(edges),
                        Case::Split { .. } => true,
                    });
                    let checked = || cases::check_refutation(facts, STRICT, terms, &refutation.cases);
                    if within { checked() } else { Err(Flaw::SeveralObjects) }
                }
                Evidence::Cycle(_) => Err(Flaw::SeveralObjects),
            }
        }
        Verdict::Undecided(_) => Err(Flaw::Undecided),
    }
}

/// Runs the operations on one object one after the other: each must find what it found, and none may stand behind one that began only
/// after it had ended.
fn replay(facts: &Facts<'_>, terms: Terms, order: &[TxnId]) -> Result<(), Flaw> {
    let history = facts.history;
    let mut last_of_session: FxHashMap<SessionId, TxnId> = FxHashMap::default();
    let mut current: Option<Value> = None;
    for &txn in order {
        if !facts.reads(txn).1.is_empty() {
            return Err(Flaw::FaultyRead(name(history, txn)));
        }
        let last = last_of_session.insert(history.session_of(txn), txn);
        if terms.session_order && last.is_some_and(|last| last > txn) {
            return Err(Flaw::AgainstSession(name(history, txn)));
        }
        let (found, left) = match history.events(txn).next() {
            Some(Event::Read(value)) => (Some(value), None),
            Some(Event::Write(value) | Event::Insert(value) | Event::Delete(value)) => (None, Some(value)),
            Some(Event::CompareAndSet { expected, new, succeeded: true }) => (Some(expected), Some(new)),
            // That it failed shows only that the object held something else.
            _ => (None, None),
        };
        if let Some(found) = found {
            let initial = facts.source(found) == Source::Initial;
            if (!initial || current.is_some()) && current != Some(found) {
                return Err(Flaw::AgainstRead(name(history, txn)));
            }
        }
        current = left.or(current);
    }
    // The earliest end of all that stand behind.
    let mut ended = i64::MAX;
    for &txn in order.iter().rev() {
        let moments = moment(history, txn, End::Begin).zip(moment(history, txn, End::Commit));
        let (begin, commit) = moments.ok_or(Flaw::NoTimes)?;
        if ended < begin.earliest {
            return Err(Flaw::AgainstTime(name(history, txn)));
        }
        ended = ended.min(commit.latest.saturating_add(terms.clock_drift));
    }
    Ok(())
}
