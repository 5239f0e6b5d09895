//! What a violation is called: the strongest claim that its transactions support, that is, the anomaly that the weakest level forbids.

use isonomy_history::{Event, History, Key, TxnId};

use super::rules::Rules;
use crate::anomaly::Anomaly;
use crate::verdict::{Case, Edge, Evidence, Party, Why};

/// The name of a violation of rules by some transactions that violate no weaker ones.
pub(crate) fn name(history: &History, rules: Rules, txns: &[TxnId], evidence: &Evidence) -> Anomaly {
    match (rules.one_node, rules.conflict) {
        (false, false) => Anomaly::LongFork,
        (true, _) if rules.real_begins => Anomaly::RealTimeViolation,
        (true, _) => serialization(history, txns, evidence),
        (false, true) if rules.real_begins => Anomaly::StaleSnapshot,
        (false, true) if rules.real_commits => Anomaly::CommitOrderInversion,
        (false, true) if lost_update(history, txns) => Anomaly::LostUpdate,
        (false, true) if blind_conflict(history, evidence) => Anomaly::GSib,
        (false, true) if cycles(evidence).into_iter().all(|edges| anti_dependencies(edges) <= 1) => Anomaly::ReadSkew,
        (false, true) => Anomaly::GSib,
    }
}

/// Two that read a version of a key and both write the key.
fn lost_update(history: &History, txns: &[TxnId]) -> bool {
    let derived = history.derived();
    let updates = |txn: TxnId| -> Vec<(Key, Party)> {
        let reads = derived.reads(txn).iter().filter_map(|read| Some((read.key()?, read.from())));
        reads.filter(|(key, _)| derived.writes(txn).binary_search(key).is_ok()).collect()
    };
    let mut all: Vec<(Key, Party, TxnId)> =
        txns.iter().flat_map(|&txn| updates(txn).into_iter().map(move |(key, from)| (key, from, txn))).collect();
    all.sort_unstable();
    all.dedup();
    all.windows(2).any(|pair| (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1))
}

fn cycles(evidence: &Evidence) -> Vec<&[Edge]> {
    match evidence {
        Evidence::Read(_) => Vec::new(),
        Evidence::Cycle(edges) => vec![edges],
        Evidence::Refutation(refutation) => refutation
            .cases
            .iter()
            .filter_map(|case| match case {
                Case::Closed(edges) => Some(edges.as_slice()),
                Case::Split { .. } => None,
            })
            .collect(),
    }
}

fn anti_dependencies(edges: &[Edge]) -> usize {
    edges.iter().filter(|edge| matches!(edge.why, Why::AntiDependency { .. })).count()
}

/// Whether two wrote a key that neither of them read, and either order of their versions is wrong.
fn blind_conflict(history: &History, evidence: &Evidence) -> bool {
    let Evidence::Refutation(refutation) = evidence else { return false };
    let reads = |txn: TxnId, key: Key| history.derived().reads(txn).iter().any(|read| read.key() == Some(key));
    refutation.cases.iter().any(|case| match *case {
        Case::Split { key, first, second, .. } => {
            !reads(first, key) && !reads(second, key) && {
                let writers = [Some(first), Some(second)];
                let missed = |edges: &[Edge]| {
                    let between = edges.len() == 2 && edges.iter().all(|edge| writers.contains(&edge.from));
                    between && anti_dependencies(edges) == 1
                };
                // The one order and the other each make a circle of the two.
                cycles(evidence).into_iter().filter(|edges| missed(edges)).count() > 1
            }
        }
        Case::Closed(_) => false,
    })
}

/// Snapshot isolation holds, serializability does not.
fn serialization(history: &History, txns: &[TxnId], evidence: &Evidence) -> Anomaly {
    // Whether an anti-dependency is by a range that missed that a key came or went.
    let missed_row = |edge: &Edge| {
        let (Some(reader), Some(writer), Why::AntiDependency { key, .. }) = (edge.from, edge.to, &edge.why) else {
            return false;
        };
        let comes_or_goes = history.events(writer).any(|event| match event {
            Event::Insert(value) | Event::Delete(value) => history.key_of(value) == *key,
            _ => false,
        });
        let name = history.key_name(*key);
        let mut in_range = false;
        let mut alone = false;
        for event in history.events(reader) {
            match event {
                Event::Range { lo, hi, rows } if (lo..=hi).contains(&name) => {
                    in_range |= comes_or_goes || !rows.iter().any(|&row| history.key_of(row) == *key);
                }
                Event::Read(value) => alone |= history.key_of(value) == *key,
                _ => {}
            }
        }
        in_range && !alone
    };
    if cycles(evidence).into_iter().flatten().any(missed_row) {
        return Anomaly::Phantom;
    }
    let derived = history.derived();
    let misses = |reader: TxnId, writer: TxnId| {
        derived.reads(reader).iter().any(|read| {
            read.from() != Some(writer)
                && read.key().is_some_and(|key| derived.writes(writer).binary_search(&key).is_ok())
        })
    };
    let skewed = |&a: &TxnId, &b: &TxnId| a != b && misses(a, b) && misses(b, a);
    let writers: Vec<TxnId> = txns.iter().copied().filter(|&txn| !derived.writes(txn).is_empty()).collect();
    if writers.iter().any(|a| writers.iter().any(|b| skewed(a, b))) {
        Anomaly::WriteSkew
    } else {
        Anomaly::SerializationCycle
    }
}
