//! Read-committed, read-atomic and causal, decided in near-linear time.
//!
//! Each of the three asks for an order of commits that contains session and write-read order and obeys one axiom:
//! if `t3` reads `x` from `t1`, and `t2` also writes `x` and is *visible* to that read, then `t2` comes before `t1`. The levels differ
//! only in what is visible, and for none of them does visibility depend on the order sought (Biswas and Enea, OOPSLA 2019; Theorem
//! 3.2.1 of the thesis). So a history satisfies the level iff session order, write-read order and the edges so inferred have no cycle.
//!
//! For read-committed and read-atomic the edges are few, and all are inferred at once, unless the recorded order of the transactions
//! turns out to obey the axiom as it is. For causal they are up to one for each read and
//! session, and inferring them is most of what other checkers do. There we go the other way: guess an order that contains
//! session and write-read order, and infer only the edges that it gets wrong. None: the guess is the witness. A cycle: the history
//! violates the level. Otherwise guess again, with what was learnt. Guesses are near the truth, so a few rounds do; should
//! they not, all edges are inferred after all, and the next round is the last.
//!
//! The initial state precedes everything; an edge inferred into it is a violation at once.

use isonomy_history::{Derived, History, Key, TxnId};

use crate::chains::{Chains, NONE};
use crate::level::IsolationLevel;
use crate::order::{ExtraEdges, Graph, likely_order, order, shorten};

mod causal;
mod read_atomic;
mod read_committed;

/// Guesses before all edges are inferred at once.
const GUESSES: usize = 12;
/// How many transactions may be visited to shorten a cycle.
const SHORTENING: usize = 4_000_000;

/// `before` comes before `after`, because `reader` reads `key` from `after` while `before`, which writes it too, is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inferred {
    pub(crate) before: TxnId,
    /// `None` is the initial state.
    pub(crate) after: Option<TxnId>,
    pub(crate) reader: TxnId,
    pub(crate) key: Key,
}

/// How the history came out.
pub(crate) enum Outcome {
    /// All transactions that count, in an order that obeys the axiom.
    Order(Vec<u32>),
    /// Transactions each of which precedes the next, and the last the first.
    Cycle(Vec<u32>),
    /// A stale read of the initial state.
    StaleInitial(Inferred),
    /// The caller stopped it.
    Stopped,
    /// There are too many sessions, or chains, for their clocks.
    TooLarge,
}

/// What the rules work on.
pub(crate) struct View<'a> {
    pub(crate) history: &'a History,
    pub(crate) derived: &'a Derived,
    pub(crate) chains: Chains,
}

impl<'a> View<'a> {
    fn new(history: &'a History, session_order: bool) -> Self {
        View { history, derived: history.derived(), chains: Chains::of(history, session_order) }
    }

    /// What list reads say of version orders.
    fn known_edges(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.derived.version_edges().iter().map(|edge| (edge.before.0, edge.after.0))
    }
}

/// Calls `infer` for each edge that the level's axiom demands; stops when it returns false. Transactions are visited in the order
/// given: any will do, but one that is near the real one finds in the cache what it needs.
fn scan(view: &View<'_>, level: IsolationLevel, order: &[u32], infer: impl FnMut(Inferred) -> bool) {
    match level {
        IsolationLevel::ReadCommitted => read_committed::scan(view, order, infer),
        IsolationLevel::ReadAtomic => read_atomic::scan(view, order, infer),
        _ => unreachable!("{level} is not decided at once"),
    }
}

/// What a decision by saturation leaves behind for the explanation.
pub(crate) struct Saturated<'a> {
    pub(crate) view: View<'a>,
    pub(crate) outcome: Outcome,
    /// Inferred edges, those of the cycle among them.
    inferred: Vec<Inferred>,
}

/// Decides a level for a history whose reads are consistent by themselves.
pub(crate) fn decide<'a>(
    history: &'a History,
    level: IsolationLevel,
    session_order: bool,
    stop: &dyn Fn() -> bool,
) -> Saturated<'a> {
    let view = View::new(history, session_order);
    let likely = likely_order(history);
    let (outcome, inferred) = match level {
        // Sessions are few; chains along reads may be as many as transactions, and a clock is as wide.
        IsolationLevel::Causal if !session_order && !causal::can_keep(&view) => (Outcome::TooLarge, Vec::new()),
        IsolationLevel::Causal => by_guessing(&view, likely.order, GUESSES, stop),
        _ => match if likely.is_recorded { one_guess(&view, level, &likely.order) } else { None } {
            Some(order) => (Outcome::Order(order), Vec::new()),
            None => at_once(&view, level, &likely.order, stop),
        },
    };
    Saturated { view, outcome, inferred }
}

/// An order near the recorded one, if it obeys the axiom: then no edge has to be kept. The first one that goes against it ends the attempt.
fn one_guess(view: &View<'_>, level: IsolationLevel, seed: &[u32]) -> Option<Vec<u32>> {
    let transactions = view.history.transaction_count();
    let extra = ExtraEdges::new(transactions, view.known_edges());
    let graph = Graph { derived: view.derived, chains: &view.chains, extra: &extra };
    let guessed = order(&graph, seed.iter().copied(), &mut |_| {}).ok()?;
    let mut rank = vec![NONE; transactions];
    for (place, &txn) in guessed.iter().enumerate() {
        rank[txn as usize] = place as u32;
    }
    let mut agrees = true;
    scan(view, level, &guessed, |inferred| {
        agrees = inferred.after.is_some_and(|after| rank[inferred.before.index()] < rank[after.index()]);
        agrees
    });
    agrees.then_some(guessed)
}

/// Infers all edges. The scan of these levels does not depend on the order in which it goes.
fn at_once(view: &View<'_>, level: IsolationLevel, seed: &[u32], stop: &dyn Fn() -> bool) -> (Outcome, Vec<Inferred>) {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut stale_initial = None;
    scan(view, level, seed, |inferred| {
        match inferred.after {
            Some(after) if edges.last() != Some(&(inferred.before.0, after.0)) => {
                edges.push((inferred.before.0, after.0));
            }
            Some(_) => {}
            None => stale_initial = Some(inferred),
        }
        stale_initial.is_none()
    });
    if let Some(inferred) = stale_initial {
        return (Outcome::StaleInitial(inferred), Vec::new());
    }
    if stop() {
        return (Outcome::Stopped, Vec::new());
    }
    let extra = ExtraEdges::new(view.history.transaction_count(), view.known_edges().chain(edges.iter().copied()));
    drop(edges);
    let graph = Graph { derived: view.derived, chains: &view.chains, extra: &extra };
    match order(&graph, seed.iter().copied(), &mut |_| {}) {
        Ok(order) => (Outcome::Order(order), Vec::new()),
        Err(cycle) => {
            let cycle = shorten(&graph, cycle, SHORTENING);
            // Reasons were not kept; those of the cycle are looked for again.
            let mut inferred = Vec::new();
            let next =
                |before: TxnId| cycle.iter().position(|&txn| txn == before.0).map(|at| cycle[(at + 1) % cycle.len()]);
            scan(view, level, seed, |edge| {
                if edge.after.is_some() && edge.after.map(|after| after.0) == next(edge.before) {
                    inferred.push(edge);
                }
                true
            });
            (Outcome::Cycle(cycle), inferred)
        }
    }
}

/// Guesses orders, and infers what they get wrong.
fn by_guessing(
    view: &View<'_>,
    mut seed: Vec<u32>,
    guesses: usize,
    stop: &dyn Fn() -> bool,
) -> (Outcome, Vec<Inferred>) {
    let transactions = view.history.transaction_count();
    let mut learnt: Vec<Inferred> = Vec::new();
    let mut rank = vec![NONE; transactions];
    let mut scanner = causal::Scanner::new(view);
    let mut moved = vec![true; transactions];
    let mut rounds = 0;
    let outcome = loop {
        if stop() {
            break Outcome::Stopped;
        }
        rounds += 1;
        let inferred = learnt.iter().filter_map(|edge| Some((edge.before.0, edge.after?.0)));
        let extra = ExtraEdges::new(transactions, view.known_edges().chain(inferred));
        let graph = Graph { derived: view.derived, chains: &view.chains, extra: &extra };
        // The first order is checked as a whole. Later ones differ by what was moved forward, and only a version that was moved forward can
        // have come before a visible one that it followed.
        let first = rounds == 1;
        if !first {
            moved.fill(false);
        }
        let guessed = match order(&graph, seed.iter().copied(), &mut |txn| moved[txn as usize] = true) {
            Ok(order) => order,
            Err(cycle) => break Outcome::Cycle(shorten(&graph, cycle, SHORTENING)),
        };
        drop(extra);
        for (place, &txn) in guessed.iter().enumerate() {
            rank[txn as usize] = place as u32;
        }
        let guess =
            causal::Guess { order: &guessed, rank: &rank, moved: &moved, initial: first, all: rounds > guesses };
        let before = learnt.len();
        let mut stale_initial = None;
        let mut agrees = true;
        let scanned = scanner.scan(&guess, |inferred| match inferred.after {
            Some(after) => {
                agrees &= rank[inferred.before.index()] < rank[after.index()];
                learnt.push(inferred);
                true
            }
            None => {
                stale_initial = Some(inferred);
                false
            }
        });
        if let Some(inferred) = stale_initial {
            break Outcome::StaleInitial(inferred);
        }
        if scanned.is_err() {
            break Outcome::TooLarge;
        }
        if agrees {
            break Outcome::Order(guessed);
        }
        learnt[before..].sort_unstable_by_key(|edge| (edge.before, edge.after));
        learnt.dedup_by_key(|edge| (edge.before, edge.after));
        seed = guessed;
    };
    (outcome, learnt)
}

impl Saturated<'_> {
    /// Why `before` comes before `after`, if that was inferred.
    pub(crate) fn reason(&self, before: TxnId, after: TxnId) -> Option<Inferred> {
        self.inferred.iter().copied().find(|edge| edge.before == before && edge.after == Some(after))
    }
}

#[cfg(test)]
mod tests {
    use isonomy_history::HistoryBuilder;
    use isonomy_workload::{HistorySpec, Preset};

    use super::*;

    /// Guessing and inferring everything are two ways to one answer.
    #[test]
    fn guessing_changes_nothing() {
        let mut outcomes = [0, 0];
        for store in ["read-atomic", "causal", "prefix", "snapshot-isolation"] {
            for seed in 1..=12 {
                let preset = if seed % 2 == 0 { Preset::A } else { Preset::C };
                let level = store.parse().expect("it is a store");
                let sessions = [3, 20, 60][seed as usize % 3];
                let mut builder = HistoryBuilder::new();
                let spec = HistorySpec { transactions: 600, sessions, level, seed, ..preset.spec() };
                spec.generate(&mut builder).expect("the specification is sound");
                let history = builder.finish().expect("no value is written twice");
                let view = View::new(&history, true);
                let decided = [0, 1, GUESSES].map(|guesses| {
                    let (outcome, _) = by_guessing(&view, likely_order(&history).order, guesses, &|| false);
                    matches!(outcome, Outcome::Order(_))
                });
                assert_eq!(decided[0], decided[2], "{store}, seed {seed}");
                assert_eq!(decided[1], decided[2], "{store}, seed {seed}");
                outcomes[usize::from(decided[0])] += 1;
            }
        }
        assert!(outcomes[0] > 5 && outcomes[1] > 20, "both outcomes occur: {outcomes:?}");
    }
}
