//! Verdicts, and the evidence that each carries.

use isonomy_history::{Key, ReadFault, TxnId};
use rustc_hash::FxHashSet;

use crate::anomaly::Anomaly;

/// Whether a history satisfies a level, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It does: here is an order that shows it.
    Holds(Witness),
    /// It does not: here is what is wrong.
    Violated(Counterexample),
    /// Nobody knows.
    Undecided(Reason),
}

/// The transactions that count, in an order of commits that satisfies the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// First to last. The initial state comes before all.
    pub order: Vec<TxnId>,
}

/// Small evidence of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// What it is called.
    pub anomaly: Anomaly,
    /// What happened.
    pub evidence: Evidence,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A read that is wrong by itself.
    Read(ReadFault),
    /// Transactions that each must come before the next, in a circle.
    Cycle(Vec<Edge>),
    /// Whatever the order of some versions, transactions must come before each other in a circle.
    Refutation(Refutation),
}

/// A tree of cases, each closed by a cycle. The first one is the root; cases come before those they lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// All cases.
    pub cases: Vec<Case>,
}

/// A case of a [`Refutation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Case {
    /// Two transactions write a key, so that one of them wrote the earlier version.
    Split {
        /// The key that both write.
        key: Key,
        /// One of them.
        first: TxnId,
        /// The other.
        second: TxnId,
        /// The case in which `first` wrote the earlier version: its index.
        before: usize,
        /// The case in which `second` did: its index.
        after: usize,
    },
    /// With what was assumed on the way here, there is a cycle.
    Closed(Vec<Edge>),
}

/// A transaction, or the initial state (`None`).
pub type Party = Option<TxnId>;

/// `from` must come before `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The earlier one.
    pub from: Party,
    /// The later one.
    pub to: Party,
    /// Why.
    pub why: Why,
}

/// Why one transaction must come before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The initial state comes before everything.
    Initial,
    /// They are of one session.
    Session,
    /// The later one read the key from the earlier one.
    WriteRead(Key),
    /// List reads show the earlier one's element before the later one's.
    Version(Key),
    /// `reader` read the key from the later one, although the earlier one, which writes the key too, was visible to it.
    Overwritten {
        /// The key that both write.
        key: Key,
        /// Who read it.
        reader: TxnId,
        /// How the earlier one was visible: steps from it to the reader.
        seen: Vec<Step>,
    },
    /// The case at hand assumes that the earlier one wrote the earlier version of the key.
    Assumed(Key),
    /// The earlier one read the key from `over`, and the later one wrote a version after that: because `over` is the initial state, or
    /// because lists show it, or because the case at hand assumes it. The earlier one *began* before the later one *committed*.
    AntiDependency {
        /// The key.
        key: Key,
        /// Who wrote the version read.
        over: Party,
    },
    /// The clocks say so: one end of the earlier transaction happened before an end of the later one.
    RealTime {
        /// Which end of the earlier one.
        from: End,
        /// Which end of the later one.
        to: End,
    },
}

/// An end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// When it took its snapshot.
    Begin,
    /// When its writes took effect.
    Commit,
}

/// A step of visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whose effects are visible.
    pub from: TxnId,
    /// To whom.
    pub to: TxnId,
    /// The key through which: `None` if they are of one session.
    pub key: Option<Key>,
}

/// Why a level is undecided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The history lacks times, of which the level speaks.
    #[error("the level speaks of real time, and the history has no times")]
    NoTimes,
    /// The level is about single objects, and the history has transactions of several events.
    #[error(
        "the level is about single objects, and not every transaction is one read, write or compare-and-set of one key"
    )]
    SeveralObjects,
    /// The budget was spent, or the caller stopped the search.
    #[error("stopped before it was decided")]
    Stopped,
    /// There are too many sessions, or without session order too many transactions, to keep track of what each has seen.
    #[error("too many sessions (or, without session order, transactions) to keep track of what each has seen")]
    TooLarge,
}

impl Verdict {
    /// `holds`, `violated` or `undecided`.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Undecided(_) => "undecided",
        }
    }
}

impl Counterexample {
    /// The transactions that occur in it, in order of first appearance.
    pub fn transactions(&self) -> Vec<TxnId> {
        let mut all = Vec::new();
        let mut met = FxHashSet::default();
        let mut add = |txn: TxnId| {
            if met.insert(txn) {
                all.push(txn);
            }
        };
        match &self.evidence {
            Evidence::Read(fault) => add(fault.txn),
            Evidence::Cycle(edges) => edges.iter().for_each(|edge| edge.each_transaction(&mut add)),
            Evidence::Refutation(refutation) => {
                for case in &refutation.cases {
                    match case {
                        Case::Split { first, second, .. } => [*first, *second].into_iter().for_each(&mut add),
                        Case::Closed(edges) => edges.iter().for_each(|edge| edge.each_transaction(&mut add)),
                    }
                }
            }
        }
        all
    }

    /// The keys that it speaks of, in order of first appearance.
    pub fn keys(&self) -> Vec<Key> {
        let mut all = Vec::new();
        let mut met = FxHashSet::default();
        let mut add = |key: Key| {
            if met.insert(key) {
                all.push(key);
            }
        };
        match &self.evidence {
            Evidence::Read(fault) => add(fault.key),
            Evidence::Cycle(edges) => edges.iter().for_each(|edge| edge.each_key(&mut add)),
            Evidence::Refutation(refutation) => {
                for case in &refutation.cases {
                    match case {
                        Case::Split { key, .. } => add(*key),
                        Case::Closed(edges) => edges.iter().for_each(|edge| edge.each_key(&mut add)),
                    }
                }
            }
        }
        all
    }
}

impl Why {
    /// Its short name in JSON, certificates and drawings.
    pub fn kind(&self) -> &'static str {
        match self {
            Why::Initial => "initial",
            Why::Session => "so",
            Why::WriteRead(_) => "wr",
            Why::Version(_) => "ww",
            Why::Overwritten { .. } => "co",
            Why::Assumed(_) => "assumed",
            Why::AntiDependency { .. } => "rw",
            Why::RealTime { .. } => "rt",
        }
    }

    /// The key that it is about.
    pub fn key(&self) -> Option<Key> {
        match *self {
            Why::Initial | Why::Session | Why::RealTime { .. } => None,
            Why::WriteRead(key)
            | Why::Version(key)
            | Why::Assumed(key)
            | Why::Overwritten { key, .. }
            | Why::AntiDependency { key, .. } => Some(key),
        }
    }
}

impl Edge {
    /// Those that it speaks of, except the later one, which the next edge of a cycle begins with.
    pub(crate) fn each_transaction(&self, mut add: impl FnMut(TxnId)) {
        self.from.into_iter().for_each(&mut add);
        match &self.why {
            Why::Overwritten { reader, seen, .. } => {
                seen.iter().for_each(|step| add(step.from));
                add(*reader);
            }
            Why::AntiDependency { over, .. } => over.iter().for_each(|&over| add(over)),
            Why::Initial
            | Why::Session
            | Why::WriteRead(_)
            | Why::Version(_)
            | Why::Assumed(_)
            | Why::RealTime { .. } => {}
        }
    }

    fn each_key(&self, mut add: impl FnMut(Key)) {
        self.why.key().into_iter().for_each(&mut add);
        if let Why::Overwritten { seen, .. } = &self.why {
            seen.iter().filter_map(|step| step.key).for_each(add);
        }
    }
}
