//! Read-committed: `t2` is visible to a read if the transaction has read something from `t2` before it.
//!
//! For each transaction and each writer it reads from, either the writer's writes are looked up among the later reads, or the later
//! reads among the writer's writes, whichever are fewer: O(n·√n) for n events in the worst case, about n in practice.

use isonomy_history::{Key, TxnId};

use super::{Inferred, View};
use crate::chains::NONE;

/// The reads of the transaction at hand, by key.
struct ReadsByKey {
    /// The last read of each key, valid if its stamp is the transaction at hand.
    last: Vec<(u32, u32)>,
    /// For each read the one of the same key before it, or [`NONE`].
    previous: Vec<u32>,
}

pub(super) fn scan(view: &View<'_>, order: &[u32], mut infer: impl FnMut(Inferred) -> bool) {
    let mut by_key = ReadsByKey { last: vec![(NONE, NONE); view.history.key_count()], previous: Vec::new() };
    // The first read from each writer, valid if its stamp is the transaction at hand.
    let mut met = vec![NONE; view.history.transaction_count()];
    for &reader in order {
        let reads = view.derived.reads(TxnId(reader));
        if reads.len() < 2 {
            continue;
        }
        by_key.previous.clear();
        for (at, read) in reads.iter().enumerate() {
            let previous = read.key().map_or(NONE, |key| {
                let slot = &mut by_key.last[key.index()];
                let previous = if slot.0 == reader { slot.1 } else { NONE };
                *slot = (reader, at as u32);
                previous
            });
            by_key.previous.push(previous);
        }
        for (at, read) in reads[..reads.len() - 1].iter().enumerate() {
            let Some(before) = read.from() else { continue };
            if std::mem::replace(&mut met[before.index()], reader) == reader {
                continue;
            }
            let writes = view.derived.writes(before);
            // Rows of one range are read at once: none of them is before another.
            let same_event = reads[at + 1..].iter().take_while(|read| read.is_same_event()).count();
            let later = at + 1 + same_event;
            let mut found = |key: Key, after: Option<TxnId>| {
                after == Some(before) || infer(Inferred { before, after, reader: TxnId(reader), key })
            };
            if writes.len() <= (reads.len() - later) * 8 {
                for &key in writes {
                    let (stamp, mut at) = by_key.last[key.index()];
                    while stamp == reader && at != NONE && at as usize >= later {
                        if !found(key, reads[at as usize].from()) {
                            return;
                        }
                        at = by_key.previous[at as usize];
                    }
                }
            } else {
                for read in &reads[later..] {
                    if let Some(key) = read.key()
                        && writes.binary_search(&key).is_ok()
                        && !found(key, read.from())
                    {
                        return;
                    }
                }
            }
        }
    }
}
