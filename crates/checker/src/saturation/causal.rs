//! Causal: `t2` is visible to a transaction if a path of session and write-read edges leads from one to the other.
//!
//! Visibility is read off vector clocks: `clock[c]` is how many transactions of chain `c` happen before. They are computed once and kept, if
//! there is room for all; else once for each guess, and dropped as soon as all who need them have them, so that
//! memory goes with what is still to be read and not with the length of the history times the number of sessions.
//!
//! For a read of `x` from `t1`, the writers of `x` that stand between `t1` and the reader in the guessed order are looked at, latest first.
//! Usually these are few, because databases are not very stale. Where they are many (or all edges are wanted), the last visible writer of `x` in each
//! session is looked up instead; earlier ones of the session precede it.

use isonomy_history::{Key, TxnId};

use super::{Inferred, View};
use crate::chains::{Chains, NONE};

/// Up to how many numbers of clocks are kept: a gibibyte.
const KEPT: usize = 1 << 28;
/// The most numbers of clocks that are held at once, where not all are kept: four gibibytes.
const HELD: usize = 1 << 30;
/// Among how many writers the version read is looked for one by one.
const NEAR: usize = 32;
/// How many writers can be looked at in the time in which one session is searched.
const WRITERS_PER_SESSION: usize = 16;

/// An order to check, and what to infer from it.
pub(super) struct Guess<'a> {
    pub(super) order: &'a [u32],
    /// The place of each transaction in `order`.
    pub(super) rank: &'a [u32],
    /// Transactions whose versions are to be looked at.
    pub(super) moved: &'a [bool],
    /// Whether reads of the initial state are to be looked at: once is enough, for nothing comes before it.
    pub(super) initial: bool,
    /// Infer all edges, not only those that go against the order.
    pub(super) all: bool,
}

impl Guess<'_> {
    /// Whether an edge is of interest.
    fn wants(&self, before: TxnId, after: Option<TxnId>) -> bool {
        self.all || after.is_none_or(|after| self.rank[before.index()] > self.rank[after.index()])
    }
}

/// The clocks of all transactions that are still to be read from do not fit.
pub(super) struct TooManySessions;

/// Scans guesses one after the other.
pub(super) struct Scanner<'a> {
    view: &'a View<'a>,
    /// For each transaction how many others need its clock.
    consumers: Vec<u32>,
    clocks: Clocks,
    /// Whether clocks are kept, and whether they are there already.
    keeps: bool,
    complete: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(view: &'a View<'a>) -> Self {
        let transactions = view.history.transaction_count();
        let keeps = can_keep(view);
        let clocks =
            Clocks { rows: Vec::new(), width: view.chains.count, row_of: vec![NONE; transactions], free: Vec::new() };
        Scanner { view, consumers: consumers(view), clocks, keeps, complete: false }
    }

    /// Calls `infer` for each edge that the axiom demands and the guess wants; stops when it returns false.
    pub(super) fn scan(
        &mut self,
        guess: &Guess<'_>,
        mut infer: impl FnMut(Inferred) -> bool,
    ) -> Result<(), TooManySessions> {
        let view = self.view;
        let mut placed = Placed::new(view);
        let mut needed = if self.complete { Vec::new() } else { self.consumers.clone() };
        let mut clock = vec![0u32; view.chains.count];
        if !self.keeps {
            self.clocks.free.clear();
            self.clocks.rows.clear();
        }
        for &reader in guess.order {
            if !self.complete {
                self.advance(reader, &mut clock, &mut needed);
                if self.clocks.rows.len() > HELD {
                    return Err(TooManySessions);
                }
            }
            let clock = if self.complete { self.clocks.row(reader) } else { &clock };
            for read in view.derived.reads(TxnId(reader)) {
                let Some(key) = read.key() else { continue };
                let looked_at = guess.all || read.from().map_or(guess.initial, |from| guess.moved[from.index()]);
                if looked_at {
                    let infer = |before| infer(Inferred { before, after: read.from(), reader: TxnId(reader), key });
                    if !missed(view, guess, &placed, clock, (TxnId(reader), key, read.from()), infer) {
                        return Ok(());
                    }
                }
            }
            placed.add(view, reader);
        }
        self.complete = self.keeps;
        Ok(())
    }

    /// The clock of a transaction, itself included, from those of its sources.
    fn advance(&mut self, reader: u32, clock: &mut [u32], needed: &mut [u32]) {
        let chains = &self.view.chains;
        let previous = chains.previous[reader as usize];
        if previous == NONE {
            clock.fill(0);
        } else {
            clock.copy_from_slice(self.clocks.row(previous));
        }
        let reads = self.view.derived.reads(TxnId(reader));
        for from in reads.iter().filter_map(|read| read.from()) {
            if !includes(chains, clock, from) {
                join(clock, self.clocks.row(from.0));
            }
        }
        clock[chains.chain[reader as usize] as usize] = chains.position[reader as usize] + 1;
        if !self.keeps {
            let sources = reads.iter().filter_map(|read| read.from()).map(|from| from.0);
            for source in sources.chain((previous != NONE).then_some(previous)) {
                needed[source as usize] -= 1;
                if needed[source as usize] == 0 {
                    self.clocks.free.push(self.clocks.row_of[source as usize]);
                }
            }
        }
        if self.keeps || needed[reader as usize] > 0 {
            self.clocks.store(reader, clock);
        }
    }
}

/// Calls `infer` for the visible writers that a read missed, until it returns false. Whether it never did. The reader itself has not been placed,
/// so that its clock may include it.
#[inline]
fn missed(
    view: &View<'_>,
    guess: &Guess<'_>,
    placed: &Placed,
    clock: &[u32],
    (reader, key, from): (TxnId, Key, Option<TxnId>),
    mut infer: impl FnMut(TxnId) -> bool,
) -> bool {
    if !guess.all
        && let Some(between) = placed.since(view, guess, key, from)
    {
        let visible = |writer: &&PlacedWriter| clock[writer.chain as usize] > writer.position;
        return between.iter().rev().filter(visible).all(|writer| infer(TxnId(writer.txn)));
    }
    last_in_each_chain(view, clock, reader, key, |before| {
        from == Some(before) || !guess.wants(before, from) || infer(before)
    })
}

/// Whether there is room for the clocks of all transactions.
pub(super) fn can_keep(view: &View<'_>) -> bool {
    view.chains.count.saturating_mul(view.history.transaction_count()) <= KEPT
}

/// For each transaction how many others need its clock.
fn consumers(view: &View<'_>) -> Vec<u32> {
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

/// Clocks. A row holds, for each chain, how many of its transactions happen before the owner or are it.
struct Clocks {
    rows: Vec<u32>,
    width: usize,
    row_of: Vec<u32>,
    /// Rows that nobody needs any more.
    free: Vec<u32>,
}

impl Clocks {
    #[inline]
    fn row(&self, txn: u32) -> &[u32] {
        let start = self.row_of[txn as usize] as usize * self.width;
        &self.rows[start..start + self.width]
    }

    fn store(&mut self, txn: u32, clock: &[u32]) {
        match self.free.pop() {
            Some(row) => {
                self.row_of[txn as usize] = row;
                let start = row as usize * self.width;
                self.rows[start..start + self.width].copy_from_slice(clock);
            }
            None => {
                self.row_of[txn as usize] = (self.rows.len() / self.width) as u32;
                self.rows.extend_from_slice(clock);
            }
        }
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

/// Calls `visit` for the last visible writer of a key in each chain, until it returns false. Whether it never did.
fn last_in_each_chain(
    view: &View<'_>,
    clock: &[u32],
    reader: TxnId,
    key: Key,
    mut visit: impl FnMut(TxnId) -> bool,
) -> bool {
    let chains = &view.chains;
    let mut writers = view.derived.writers(key);
    let visible = |writer: &TxnId| *writer != reader && includes(chains, clock, *writer);
    if !chains.are_sessions {
        // Chains are short here, and writers of one chain do not stand together.
        return writers.iter().filter(|writer| visible(writer)).all(|&writer| visit(writer));
    }
    while let Some(&first) = writers.first() {
        let chain = chains.chain[first.index()];
        let end = gallop(writers, |writer| chains.chain[writer.index()] == chain);
        // The reader comes after all that it sees of its own session.
        let seen = writers[..end].partition_point(visible);
        if seen > 0 && !visit(writers[seen - 1]) {
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
    writers: Vec<PlacedWriter>,
}

/// A writer, with what tells whether it is visible, so that looking at many goes through memory in order.
#[derive(Clone, Copy)]
struct PlacedWriter {
    txn: u32,
    chain: u32,
    position: u32,
}

impl Placed {
    fn new(view: &View<'_>) -> Self {
        let mut from = Vec::with_capacity(view.history.key_count());
        let mut total = 0u32;
        for key in (0..view.history.key_count() as u32).map(Key) {
            from.push(total);
            total += view.derived.writers(key).len() as u32;
        }
        let nobody = PlacedWriter { txn: NONE, chain: 0, position: 0 };
        Placed { until: from.clone(), from, writers: vec![nobody; total as usize] }
    }

    fn add(&mut self, view: &View<'_>, txn: u32) {
        let chain = view.chains.chain[txn as usize];
        let position = view.chains.position[txn as usize];
        for key in view.derived.writes(TxnId(txn)) {
            let until = &mut self.until[key.index()];
            self.writers[*until as usize] = PlacedWriter { txn, chain, position };
            *until += 1;
        }
    }

    /// The writers of a key that have been visited after a given one; `None` if they are so many that sessions are searched faster.
    #[inline]
    fn since(&self, view: &View<'_>, guess: &Guess<'_>, key: Key, writer: Option<TxnId>) -> Option<&[PlacedWriter]> {
        let writers = &self.writers[self.from[key.index()] as usize..self.until[key.index()] as usize];
        let first = match writer {
            None => 0,
            Some(writer) => {
                let near = writers.len().saturating_sub(NEAR);
                match writers[near..].iter().rposition(|w| w.txn == writer.0) {
                    Some(at) => near + at + 1,
                    None => writers.partition_point(|w| guess.rank[w.txn as usize] <= guess.rank[writer.index()]),
                }
            }
        };
        let most = WRITERS_PER_SESSION * view.chains.count.min(writers.len()) + NEAR;
        Some(&writers[first..]).filter(|between| between.len() <= most)
    }
}
