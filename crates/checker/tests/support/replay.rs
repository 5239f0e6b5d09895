//! Whether an order of commits shows that a strong level holds, straight from the definition.
//!
//! Commits are at 0, 1, 2 and so on. A begin may lie anywhere between two of them; only commits tell it where. So each transaction begins as
//! early as everything that must be committed before it allows, and then nothing may have been committed that it must not see.

use std::collections::BTreeSet;

use isonomy_checker::IsolationLevel as L;
use isonomy_checker::oracle::{Oracle, Read, Transaction};
use isonomy_history::{History, Outcome, TxnId};

/// An error says what is wrong with the order.
pub(crate) fn shows(
    history: &History,
    oracle: &Oracle,
    level: L,
    session_order: bool,
    drift: i64,
    order: &[TxnId],
) -> Result<(), String> {
    let transactions = oracle.transactions();
    let index_of = |id: &TxnId| transactions.iter().position(|txn| txn.id == *id).ok_or("one that does not count");
    let order: Vec<usize> = order.iter().map(index_of).collect::<Result<_, _>>()?;
    if order.len() != transactions.len() || order.iter().collect::<BTreeSet<_>>().len() != order.len() {
        return Err("not every transaction is there once".into());
    }
    let mut commit = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &txn)| commit[txn] = place as i64);

    let atomic = matches!(level, L::Serializable | L::StrictSerializable);
    let conflict = level != L::Prefix;
    let sessions = session_order && !matches!(level, L::AdyaSi | L::GeneralizedSi | L::StrongSi);
    let fresh_begins = matches!(level, L::StrongSi | L::StrictSerializable);
    let fresh_commits = matches!(level, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi);

    for txn in 0..transactions.len() {
        let own = &transactions[txn];
        // What must be committed before it begins.
        let mut seen: Vec<usize> = own.reads.iter().flat_map(Read::sources).collect();
        let others: Vec<usize> = (0..transactions.len()).filter(|&other| other != txn).collect();
        for &other in &others {
            let theirs = &transactions[other];
            let in_session = sessions && theirs.session == own.session && other < txn;
            let conflicts = conflict && commit[other] < commit[txn] && share_writes(own, theirs);
            let in_time = fresh_begins && before(history, (theirs.id, true), (own.id, false), drift);
            if in_session || conflicts || in_time {
                seen.push(other);
            }
            if fresh_commits && before(history, (theirs.id, true), (own.id, true), drift) && commit[other] > commit[txn]
            {
                return Err(format!("{other} commits before {txn} in real time"));
            }
        }
        if let Some(late) = seen.iter().find(|&&other| commit[other] > commit[txn]) {
            return Err(format!("{txn} needs {late} before it begins"));
        }
        // Just after the last of these; or where it commits.
        let after = if atomic { commit[txn] - 1 } else { seen.iter().map(|&other| commit[other]).max().unwrap_or(-1) };
        for read in &own.reads {
            let at = read.from.map_or(-1, |from| commit[from]);
            let overwrites = |&&other: &&usize| {
                transactions[other].writes.contains(&read.key) && commit[other] > at && commit[other] <= after
            };
            if let Some(other) = others.iter().find(overwrites) {
                return Err(format!("{txn} misses what {other} wrote to {:?}", read.key));
            }
        }
        let early = |&&other: &&usize| {
            fresh_commits
                && before(history, (own.id, false), (transactions[other].id, true), drift)
                && commit[other] <= after
        };
        if let Some(other) = others.iter().find(early) {
            return Err(format!("{txn} begins before {other} commits in real time"));
        }
    }
    let keys: BTreeSet<_> = transactions.iter().flat_map(|txn| &txn.writes).collect();
    match keys.into_iter().find(|&&key| !oracle.lists_allow(key, &order)) {
        Some(key) => Err(format!("lists of {key:?} have another order")),
        None => Ok(()),
    }
}

fn share_writes(one: &Transaction, other: &Transaction) -> bool {
    one.writes.iter().any(|key| other.writes.contains(key))
}

/// Whether an end, the commit if true, surely happened before another.
fn before(history: &History, one: (TxnId, bool), other: (TxnId, bool), drift: i64) -> bool {
    let interval = |(txn, is_commit): (TxnId, bool)| {
        let times = history.times(txn);
        let start = times.start.expect("there are times");
        if !is_commit {
            return (start, times.began.unwrap_or(start));
        }
        match times.finish {
            Some(finish) => (times.committing.unwrap_or(finish), finish),
            None => {
                assert_eq!(history.outcome(txn), Outcome::Indeterminate);
                (times.committing.or(times.began).unwrap_or(start), i64::MAX)
            }
        }
    };
    interval(one).1.saturating_add(drift) < interval(other).0
}
