//! A second engine for the strong levels: a search through frontiers, as in dbcop.
//!
//! A history satisfies a strong level iff its transactions (or their begins and commits, where these are apart) can be put one after the
//! other so that each read sees the version written last, and so on as the level says. The search puts them one after the other, remembers
//! each set of transactions from which it could not go on, and so meets every such set once. Sessions are chains, so a set is a number for
//! each session: the search takes polynomial time for a fixed number of sessions, whatever the history.
//!
//! Follows Biswas, *Automated Formal Testing of Storage Systems and Applications*, 2021, §3.3 and §3.4 (Biswas and Enea, *On the Complexity of
//! Checking Transactional Consistency*, 2019). What it adds is said where it is: moves without choice and looking ahead in `search.rs`,
//! real time in `time.rs`, what can be told before in `infer.rs`.
//!
//! This engine shares nothing with the others but what the history has derived: it is there to be compared with, and to be experimented
//! with. It gives no counterexample.

mod blocks;
mod infer;
mod memo;
mod problem;
mod search;
mod time;

use isonomy_history::{History, Key, TxnId, VersionEdge};

use crate::level::IsolationLevel;
use crate::order::likely_order;
use blocks::Blocks;
use problem::{Numbers, Problem};
use search::{Effort, Found};
use time::{Moments, RealTime};

/// No transaction, key, block, place.
const NONE: u32 = u32::MAX;

/// What the search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The level holds: all transactions that count, in an order of commits that shows it.
    Order(Vec<TxnId>),
    /// The level does not hold: there is no such order.
    Violated,
    /// The budget was spent, or the caller stopped the search.
    Stopped,
    /// The level speaks of real time, and not all transactions that count have times.
    NoTimes,
}

/// What makes a level.
#[derive(Clone, Copy)]
struct Rules {
    /// Begin and commit are one.
    atomic: bool,
    /// Of two writers of a key one begins after the other has committed.
    conflict: bool,
    /// A commit comes after all begins and commits that happened before it.
    fresh_commits: bool,
    /// A begin comes after all commits that happened before it.
    fresh_begins: bool,
}

impl Rules {
    fn of(level: IsolationLevel) -> Self {
        use IsolationLevel as L;
        let is_strong = level == L::Prefix || level.implies(L::AdyaSi);
        assert!(is_strong, "the search decides prefix and what implies adya-si, and {level} is neither");
        Rules {
            atomic: level.implies(L::Serializable),
            conflict: level != L::Prefix,
            fresh_commits: matches!(level, L::GeneralizedSi | L::StrongSessionSi | L::StrongSi),
            fresh_begins: matches!(level, L::StrongSi | L::StrictSerializable),
        }
    }

    /// How many parts a transaction has that are put in order.
    #[inline]
    fn parts(self) -> u32 {
        if self.atomic { 1 } else { 2 }
    }

    /// Whether a writer that has begun keeps others from beginning.
    #[inline]
    fn locks(self) -> bool {
        self.conflict && !self.atomic
    }
}

/// How to search. The last three change how much is visited and never what is found; they are there to be measured.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Whether levels that respect session order do so.
    pub session_order: bool,
    /// By how many nanoseconds clocks may differ.
    pub clock_drift: i64,
    /// How many frontiers may be visited.
    pub budget: u64,
    /// Asked now and then; when it says true, the search ends.
    pub stop: &'a dyn Fn() -> bool,
    /// Whether the biconnected components of the communication graph are decided apart.
    pub split: bool,
    /// When to infer what must precede what.
    pub infer: Infer,
    /// Whether each move is looked at for what contradicts it.
    pub look_ahead: bool,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            session_order: true,
            clock_drift: 0,
            budget: u64::MAX,
            stop: &|| false,
            split: true,
            infer: Infer::default(),
            look_ahead: true,
        }
    }
}

/// When to infer what must precede what, see `infer.rs`. It takes longer than a search that is never wrong, and much less than one that
/// often is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Infer {
    /// Not at all.
    Never,
    /// After some dead ends. Then the search begins again.
    #[default]
    WhenStuck,
    /// Before the search.
    First,
}

/// Where the likely order is right there are few dead ends, and looking far ahead is in vain.
const QUICK: Effort = Effort { patience: 100, look_ahead: 200 };
const THOROUGH: Effort = Effort { patience: u64::MAX, look_ahead: 2_000 };

/// What was spent of the budget.
struct Budget<'a> {
    visited: u64,
    settings: &'a Settings<'a>,
}

impl Budget<'_> {
    /// Whether one more frontier may be visited.
    fn spend(&mut self) -> bool {
        if self.visited == self.settings.budget || self.visited.is_multiple_of(256) && (self.settings.stop)() {
            return false;
        }
        self.visited += 1;
        true
    }
}

/// Decides prefix, or a level that implies adya-si: the variants of snapshot isolation, and serializable and strict-serializable.
///
/// ```
/// use isonomy_checker::IsolationLevel;
/// use isonomy_checker::frontier::{Outcome, Settings, decide};
/// use isonomy_history::HistoryBuilder;
///
/// let mut history = HistoryBuilder::new();
/// history.transaction("alice").read("x", None::<i64>).write("y", 1).commit();
/// history.transaction("bob").read("y", None::<i64>).write("x", 1).commit();
/// let history = history.finish()?;
///
/// let settings = Settings { budget: 1_000, ..Settings::default() };
/// assert!(matches!(decide(&history, IsolationLevel::SnapshotIsolation, &settings), Outcome::Order(_)));
/// assert_eq!(decide(&history, IsolationLevel::Serializable, &settings), Outcome::Violated);
/// # Ok::<(), isonomy_history::HistoryError>(())
/// ```
///
/// # Panics
///
/// If the level is another one.
pub fn decide(history: &History, level: IsolationLevel, settings: &Settings<'_>) -> Outcome {
    let rules = Rules::of(level);
    let derived = history.derived();
    let chains = chains(history, settings.session_order && level.has_session_order());
    if level.needs_times() && chains.iter().flatten().any(|&txn| Moments::of(history, txn).is_none()) {
        return Outcome::NoTimes;
    }
    if !derived.faults().is_empty() {
        return Outcome::Violated;
    }

    // Real time connects everything.
    let Blocks { txns, of_key } = if settings.split && !level.needs_times() {
        Blocks::components(derived, &chains, history.key_count())
    } else {
        Blocks::whole(&chains, history.key_count())
    };
    let mut version_edges: Vec<VersionEdge> = derived.version_edges().to_vec();
    version_edges.sort_by_key(|edge| of_key[edge.key.index()]);
    let mut chain_of = vec![NONE; history.transaction_count()];
    for (chain, txns) in chains.iter().enumerate() {
        txns.iter().for_each(|txn| chain_of[txn.index()] = chain as u32);
    }
    let mut rank = vec![NONE; history.transaction_count()];
    for (place, &txn) in likely_order(history).order.iter().enumerate() {
        rank[txn as usize] = place as u32;
    }

    let mut budget = Budget { visited: 0, settings };
    let mut numbers = Numbers::new(history);
    let mut orders: Vec<Vec<End>> = Vec::new();
    for (block, txns) in txns.iter().enumerate() {
        let block = block as u32;
        let block_of = |edge: &VersionEdge| of_key[edge.key.index()];
        let from = version_edges.partition_point(|edge| block_of(edge) < block);
        let to = version_edges.partition_point(|edge| block_of(edge) <= block);
        let is_key = |key: Key| of_key[key.index()] == block;
        let chain_of = |txn: TxnId| chain_of[txn.index()];
        let known = &version_edges[from..to];
        let mut problem = Problem::new(history, rules, txns, is_key, chain_of, known, &mut numbers);
        let ranks: Vec<u32> = problem.txns.iter().map(|txn| rank[txn.index()]).collect();
        let time = || {
            let moments = |&txn: &TxnId| Moments::of(history, txn).expect("times are known");
            RealTime::new(rules, settings.clock_drift, txns.iter().map(moments).collect())
        };
        let time = || level.needs_times().then(time);
        let search = |problem: &Problem, effort: Effort, budget: &mut Budget<'_>| {
            let look_ahead = if settings.look_ahead { effort.look_ahead } else { 0 };
            search::search(problem, &ranks, time(), budget, Effort { look_ahead, ..effort })
        };
        let mut found = match settings.infer {
            Infer::Never => search(&problem, THOROUGH, &mut budget),
            Infer::WhenStuck => search(&problem, QUICK, &mut budget),
            Infer::First => Found::Stuck,
        };
        if matches!(found, Found::Stuck) {
            if infer::infer(&mut problem, settings.stop).is_err() {
                return Outcome::Violated;
            }
            found = search(&problem, THOROUGH, &mut budget);
        }
        let end = |part: u32| {
            let (txn, _, commits) = problem.role(part);
            End { txn: problem.txns[txn as usize], commits }
        };
        match found {
            Found::Order(parts) => orders.push(parts.into_iter().map(end).collect()),
            Found::Nothing => return Outcome::Violated,
            Found::Stopped | Found::Stuck => return Outcome::Stopped,
        }
    }
    Outcome::Order(merge(history, rules, &chains, &orders))
}

/// The transactions that count, in sequences that every order agrees with: sessions, or each by itself.
fn chains(history: &History, session_order: bool) -> Vec<Vec<TxnId>> {
    let counting = |txn: &TxnId| history.derived().counts(*txn);
    if session_order {
        history.sessions().map(|session| history.transactions_of(session).filter(counting).collect()).collect()
    } else {
        history.transactions().filter(counting).map(|txn| vec![txn]).collect()
    }
}

/// A part of a transaction.
#[derive(Clone, Copy)]
struct End {
    txn: TxnId,
    /// Whether it is the commit, or the whole.
    commits: bool,
}

/// One order of commits that agrees with those of all blocks, and with the chains.
fn merge(history: &History, rules: Rules, chains: &[Vec<TxnId>], orders: &[Vec<End>]) -> Vec<TxnId> {
    let parts = rules.parts();
    let number = |end: End| end.txn.0 * parts + if end.commits { parts - 1 } else { 0 };
    let mut edges = Vec::new();
    for order in orders {
        edges.extend(order.windows(2).map(|pair| (number(pair[0]), number(pair[1]))));
    }
    let mut total = 0;
    for chain in chains {
        let ends = chain.iter().flat_map(|txn| txn.0 * parts..(txn.0 + 1) * parts);
        edges.extend(ends.clone().zip(ends.clone().skip(1)));
        total += ends.count();
    }
    let after = problem::Lists::new(history.transaction_count() * parts as usize, &edges);
    let mut missing = vec![0u32; after.len()];
    for &(_, end) in &edges {
        missing[end as usize] += 1;
    }
    let firsts = chains.iter().flatten().flat_map(|txn| txn.0 * parts..(txn.0 + 1) * parts);
    let mut merged: Vec<u32> = firsts.filter(|&end| missing[end as usize] == 0).collect();
    let mut next = 0;
    while let Some(&end) = merged.get(next) {
        next += 1;
        for &later in after.of(end) {
            missing[later as usize] -= 1;
            if missing[later as usize] == 0 {
                merged.push(later);
            }
        }
    }
    assert_eq!(merged.len(), total, "orders of blocks have no cycle in common");
    merged.into_iter().filter(|end| end % parts == parts - 1).map(|end| TxnId(end / parts)).collect()
}
