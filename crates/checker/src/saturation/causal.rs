//! Causal: `t2` is visible to a transaction if a path of session and write-read edges leads from one to the other.
//!
//! Visibility is read off vector clocks: `clock[c]` is how many transactions of chain `c` happen before. Transactions are visited in the guessed
//! order; a clock is dropped as soon as all who need it have it, so that memory goes with what is still to be read, not with the
//! length of the history times the number of sessions.
//!
//! For a read of `x` from `t1`, the writers of `x` that stand between `t1` and the reader in the guessed order are looked at, latest first.
//! Usually these are few, because databases are not very stale. Where they are many (or all edges are wanted), the last visible writer of `x` in each
//! session is looked up instead; earlier ones of the session precede it.

use isonomy_history::{Key, TxnId};

use super::{Guess, Inferred, View};
use crate::chains::{Chains, NONE};

/// Up to how many writers are looked at one by one before sessions are searched.
const NEAR: usize = 64;

/// For each transaction how many others need its clock.
pub(super) fn consumers(view: &View<'_>) -> Vec<u32> {
    let mut consumers = vec![0u32; view.history.transaction_count()];
    for txn in view.history.transactions() {
        let previous = view.chains.previous[txn.index()];
        let reads = view.derived.reads(txn).iter().filter_map(|read| read.from()).map(|from| from.0);
        for source in reads.chain((previous != NONE).then_some(previous)) {
            consumers[source as usize] += 1;
        }
    }
    consumers
}

/// Clocks that are still needed. A row holds, for each chain, how many of its transactions happen before or are the owner.
struct Clocks {
    rows: Vec<u32>,
    width: usize,
    row_of: Vec<u32>,
    free: Vec<u32>,
}

impl Clocks {
    fn row(&self, txn: u32) -> &[u32] {
        let start = self.row_of[txn as usize] as usize * self.width;
        &self.rows[start..start + self.width]
    }

    fn release(&mut self, txn: u32) {
        self.free.push(self.row_of[txn as usize]);
    }

    fn store(&mut self, txn: u32, clock: &[u32]) {
        let row = self.free.pop().unwrap_or_else(|| {
            self.rows.resize(self.rows.len() + self.width, 0);
            (self.rows.len() / self.width) as u32 - 1
        });
        self.row_of[txn as usize] = row;
        let start = row as usize * self.width;
        self.rows[start..start + self.width].copy_from_slice(clock);
    }
}

#[inline]
fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, &theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(theirs);
    }
}

/// Whether a transaction is in the past that a clock describes.
#[inline]
fn includes(chains: &Chains, clock: &[u32], txn: TxnId) -> bool {
    clock[chains.chain[txn.index()] as usize] > chains.position[txn.index()]
}

pub(super) fn scan(view: &View<'_>, guess: &Guess<'_>, mut infer: impl FnMut(Inferred) -> bool) {
    let chains = &view.chains;
    let mut clocks = Clocks {
        rows: Vec::new(),
        width: chains.count,
        row_of: vec![NONE; view.history.transaction_count()],
        free: Vec::new(),
    };
    let mut needed = view.consumers.clone();
    let mut clock = vec![0u32; chains.count];
    let mut placed = Placed::new(view);
    for &reader in guess.order {
        // The clock of the reader: what happens before it, itself not included.
        let previous = chains.previous[reader as usize];
        if previous == NONE {
            clock.fill(0);
        } else {
            clock.copy_from_slice(clocks.row(previous));
        }
        let reads = view.derived.reads(TxnId(reader));
        for from in reads.iter().filter_map(|read| read.from()) {
            if !includes(chains, &clock, from) {
                join(&mut clock, clocks.row(from.0));
            }
        }
        let sources = reads.iter().filter_map(|read| read.from()).map(|from| from.0);
        for source in sources.chain((previous != NONE).then_some(previous)) {
            needed[source as usize] -= 1;
            if needed[source as usize] == 0 {
                clocks.release(source);
            }
        }
        for read in reads {
            let Some(key) = read.key() else { continue };
            let mut found = |before: TxnId| infer(Inferred { before, after: read.from(), reader: TxnId(reader), key });
            let go_on = match placed.since(key, read.from()) {
                Some(between) if !guess.all => {
                    let visible = |&&before: &&u32| before != reader && includes(chains, &clock, TxnId(before));
                    between.iter().rev().filter(visible).all(|&before| found(TxnId(before)))
                }
                _ => last_in_each_chain(view, &clock, key, |before| {
                    read.from() == Some(before) || !guess.wants(before, read.from()) || found(before)
                }),
            };
            if !go_on {
                return;
            }
        }
        if needed[reader as usize] > 0 {
            clock[chains.chain[reader as usize] as usize] = chains.position[reader as usize] + 1;
            clocks.store(reader, &clock);
        }
        placed.add(view, reader);
    }
}

/// Calls `visit` for the last visible writer of a key in each chain, until it returns false. Whether it never did.
fn last_in_each_chain(view: &View<'_>, clock: &[u32], key: Key, mut visit: impl FnMut(TxnId) -> bool) -> bool {
    let chains = &view.chains;
    let mut writers = view.derived.writers(key);
    if !chains.are_sessions {
        // Chains are short here, and writers of one chain do not stand together.
        return writers.iter().filter(|&&writer| includes(chains, clock, writer)).all(|&writer| visit(writer));
    }
    while let Some(&first) = writers.first() {
        let chain = chains.chain[first.index()];
        let end = gallop(writers, |writer| chains.chain[writer.index()] == chain);
        let visible = writers[..end].partition_point(|&writer| includes(chains, clock, writer));
        if visible > 0 && !visit(writers[visible - 1]) {
            return false;
        }
        writers = &writers[end..];
    }
    true
}

/// `partition_point` that is quick when the point is near the front.
fn gallop(writers: &[TxnId], holds: impl Fn(TxnId) -> bool) -> usize {
    let mut reach = 1;
    while reach < writers.len() && holds(writers[reach]) {
        reach *= 2;
    }
    let from = reach / 2;
    let to = reach.min(writers.len());
    from + writers[from..to].partition_point(|&writer| holds(writer))
}

/// The writers of each key, as far as they have been visited, in the guessed order.
struct Placed {
    from: Vec<u32>,
    until: Vec<u32>,
    txns: Vec<u32>,
}

impl Placed {
    fn new(view: &View<'_>) -> Self {
        let keys = (0..view.history.key_count() as u32).map(Key);
        let mut from = Vec::with_capacity(view.history.key_count());
        let mut total = 0u32;
        for key in keys {
            from.push(total);
            total += view.derived.writers(key).len() as u32;
        }
        Placed { until: from.clone(), from, txns: vec![NONE; total as usize] }
    }

    fn add(&mut self, view: &View<'_>, txn: u32) {
        for key in view.derived.writes(TxnId(txn)) {
            let until = &mut self.until[key.index()];
            self.txns[*until as usize] = txn;
            *until += 1;
        }
    }

    /// The writers of a key that have been visited after a given one; `None` if there are too many to look at.
    #[inline]
    fn since(&self, key: Key, writer: Option<TxnId>) -> Option<&[u32]> {
        let writers = &self.txns[self.from[key.index()] as usize..self.until[key.index()] as usize];
        let near = &writers[writers.len().saturating_sub(NEAR)..];
        match writer {
            Some(writer) => near.iter().rposition(|&t| t == writer.0).map(|at| &near[at + 1..]),
            None => (near.len() == writers.len()).then_some(near),
        }
    }
}
