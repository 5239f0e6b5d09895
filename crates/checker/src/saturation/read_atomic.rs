//! Read-atomic: `t2` is visible to a transaction that reads anything from it, or comes after it in its session.
//!
//! Of the session only the last writer of the key matters: earlier ones precede it. Where reads are consistent by themselves, all reads
//! of a key in one transaction have the same writer.

use isonomy_history::{Key, TxnId};

use super::{Inferred, View};
use crate::chains::NONE;

pub(super) fn scan(view: &View<'_>, order: &[u32], mut infer: impl FnMut(Inferred) -> bool) {
    // Writers that the transaction at hand reads from.
    if !through_reads(view, order, &mut infer) || !view.chains.are_sessions {
        return;
    }
    // Writers earlier in its session. The last writer of each key, valid if it is of the session at hand.
    let mut last = vec![NONE; view.history.key_count()];
    for session in view.history.sessions() {
        let transactions = view.history.transactions_of(session);
        let Some(first) = transactions.clone().next() else { continue };
        for reader in transactions.filter(|&t| view.derived.counts(t)) {
            for read in view.derived.reads(reader) {
                let Some(key) = read.key() else { continue };
                let before = TxnId(last[key.index()]);
                let in_session = before.0 != NONE && before >= first;
                if in_session
                    && read.from() != Some(before)
                    && !infer(Inferred { before, after: read.from(), reader, key })
                {
                    return;
                }
            }
            for key in view.derived.writes(reader) {
                last[key.index()] = reader.0;
            }
        }
    }
}

/// Whether the scan is to go on.
fn through_reads(view: &View<'_>, order: &[u32], infer: &mut impl FnMut(Inferred) -> bool) -> bool {
    // The writer from which the transaction at hand reads each key, valid if the stamp is that transaction.
    let mut read_from: Vec<(u32, Option<TxnId>)> = vec![(NONE, None); view.history.key_count()];
    let mut met = vec![NONE; view.history.transaction_count()];
    for &reader in order {
        let reads = view.derived.reads(TxnId(reader));
        if reads.len() < 2 {
            continue;
        }
        for read in reads {
            if let Some(key) = read.key() {
                read_from[key.index()] = (reader, read.from());
            }
        }
        for read in reads {
            let Some(before) = read.from() else { continue };
            if std::mem::replace(&mut met[before.index()], reader) == reader {
                continue;
            }
            let mut found = |key: Key, after: Option<TxnId>| {
                after == Some(before) || infer(Inferred { before, after, reader: TxnId(reader), key })
            };
            let writes = view.derived.writes(before);
            if writes.len() <= reads.len() * 8 {
                for &key in writes {
                    let (stamp, after) = read_from[key.index()];
                    if stamp == reader && !found(key, after) {
                        return false;
                    }
                }
            } else {
                for read in reads {
                    if let Some(key) = read.key()
                        && writes.binary_search(&key).is_ok()
                        && !found(key, read.from())
                    {
                        return false;
                    }
                }
            }
        }
    }
    true
}
