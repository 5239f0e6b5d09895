//! Histories to order: what they are to be like, and making them.

use std::io;

use isonomy_history::Sink;

use crate::plant::Anomaly;
use crate::preset::Preset;
use crate::program::{Workload, WorkloadError};
use crate::simulate::{MOST_LAG, MOST_TRANSACTIONS, Simulation, StoreLevel};

/// What a history is to be like. The same specification gives the same history.
///
/// Keys and sessions are numbers, keys from 0 and sessions from 1. Written values are numbers from 1 and occur once in the
/// whole history, so that 0 can stand for the initial state; tombstones are negative.
#[derive(Clone, Debug, PartialEq)]
pub struct HistorySpec {
    /// How many clients there are.
    pub sessions: u32,
    /// How many transactions commit or stay indeterminate, in all sessions together. Each session has its equal part.
    pub transactions: u64,
    /// What they do.
    pub workload: Workload,
    /// What the store promises.
    pub level: StoreLevel,
    /// How many transactions are open at a time; `None` for one in each session. With 1 they run one after the other.
    pub concurrency: Option<u32>,
    /// How many of the last commits a transaction may fail to see, where the level allows it; 127 at most.
    pub lag: u32,
    /// Which times are recorded.
    pub times: TimeDetail,
    /// By how many nanoseconds, at most, the clock of each session is off. Beyond 0, the levels that speak of real time
    /// hold only if comparisons are loosened by twice as much.
    pub clock_skew: u64,
    /// Whether attempts that aborted are recorded. They are tried again in any case.
    pub record_aborted: bool,
    /// The share of attempts that the client takes back in the end. They are not tried again, nor counted as transactions.
    pub rollback_share: f64,
    /// The share of transactions whose client never learns the outcome. Half of them take effect.
    pub indeterminate_share: f64,
    /// An anomaly to be planted once, at a random point, in transactions of its own on keys of its own.
    pub plant: Option<Anomaly>,
    /// What all choices follow from.
    pub seed: u64,
}

impl Default for HistorySpec {
    /// PolySI's default workload on a store with snapshot isolation.
    fn default() -> Self {
        Preset::PolySi.spec()
    }
}

/// Which times of a transaction are recorded, in simulated nanoseconds. All clients share the clock, and each step takes about
/// ten microseconds. An indeterminate transaction has no finish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeDetail {
    /// None, unless the level speaks of real time; then [`Points`](Self::Points).
    #[default]
    None,
    /// `start` and `finish`: the moments at which begin and commit took effect.
    Points,
    /// `start`, `began`, `committing` and `finish`, as a client would know them: begin and commit took effect somewhere between.
    Bounds,
}

/// Why there is no such history.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// There is nobody to run transactions.
    #[error("a history needs at least one session, with at least one open transaction")]
    NoSessions,
    /// More transactions than can be numbered.
    #[error("at most {most} transactions are possible, found {found}")]
    TooManyTransactions {
        /// The limit.
        most: u64,
        /// How many were asked for.
        found: u64,
    },
    /// Views may not lag so far behind.
    #[error("the lag is at most {most} commits, found {found}")]
    TooMuchLag {
        /// The limit.
        most: u32,
        /// What was asked for.
        found: u32,
    },
    /// Sessions' clocks may not be off so far.
    #[error("clocks are off by at most {most} nanoseconds, found {found}")]
    TooMuchSkew {
        /// The limit.
        most: u64,
        /// What was asked for.
        found: u64,
    },
    /// Nearly all attempts are taken back.
    #[error("at most {most} of the attempts can be taken back, found {found}")]
    TooManyRollbacks {
        /// The limit.
        most: f64,
        /// What was asked for.
        found: f64,
    },
    /// There is no compare-and-set that could be missing.
    #[error("a missing link needs more transactions than keys, {keys}; found {found}")]
    NoLink {
        /// How many keys there are.
        keys: u64,
        /// How many transactions there are.
        found: u64,
    },
    /// The workload is none.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// Why a history was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// There is no such history.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// Whoever takes the history could not.
    #[error("the history cannot be written: {0}")]
    Sink(#[source] io::Error),
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Transactions that were recorded, of all outcomes.
    pub records: u64,
    /// Transactions that committed.
    pub committed: u64,
    /// Attempts that aborted, recorded or not.
    pub aborted: u64,
    /// Transactions whose outcome is not known.
    pub indeterminate: u64,
    /// Events that were recorded.
    pub events: u64,
    /// The transactions of the planted anomaly, counted above as well.
    pub planted: Vec<Planted>,
}

/// Where a transaction of the planted anomaly stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The name of its session.
    pub session: i64,
    /// Its position among all recorded transactions of the session, from 0.
    pub position: u32,
}

/// Where a transaction that took effect stands in the store's commit order. That order shows that the level holds.
///
/// To get the order, sort by `rank` and leave transactions of the same rank, which only read, in the order of recording.
/// Every transaction that committed has a place, and so has every indeterminate one that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The name of its session.
    pub session: i64,
    /// Its position among all recorded transactions of the session, from 0.
    pub position: u32,
    /// Where it stands.
    pub rank: u64,
}

/// Who is told what, while a history is made.
#[derive(Default)]
pub struct Hooks<'h> {
    /// Now and then, how many transactions are done; see [`HistorySpec::transactions`].
    pub progress: Option<&'h mut dyn FnMut(u64)>,
    /// Just before a transaction is recorded, where it stands in the commit order.
    pub commit_order: Option<&'h mut dyn FnMut(Placed)>,
}

/// Beyond this the run would consist of retries.
const MOST_ROLLBACKS: f64 = 0.99;
/// A day, so that times do not overflow.
const MOST_SKEW: u64 = 86_400_000_000_000;

impl HistorySpec {
    /// Makes the history, transaction by transaction, in the order in which they end. `sink` is told the end.
    pub fn generate(&self, sink: &mut dyn Sink) -> Result<Summary, GenerateError> {
        self.generate_with(sink, Hooks::default())
    }

    /// Makes the history and tells about it.
    pub fn generate_with(&self, sink: &mut dyn Sink, hooks: Hooks<'_>) -> Result<Summary, GenerateError> {
        self.validate()?;
        let programs = self.workload.programs(self.seed).map_err(SpecError::from)?;
        Simulation::new(self, programs, sink, hooks).run()
    }

    pub(crate) fn concurrency(&self) -> usize {
        self.concurrency.unwrap_or(self.sessions) as usize
    }

    fn validate(&self) -> Result<(), SpecError> {
        WorkloadError::check_share("share of indeterminate transactions", self.indeterminate_share)?;
        WorkloadError::check_share("share of attempts taken back", self.rollback_share)?;
        if self.sessions == 0 || self.concurrency == Some(0) {
            return Err(SpecError::NoSessions);
        }
        if self.transactions > MOST_TRANSACTIONS {
            return Err(SpecError::TooManyTransactions { most: MOST_TRANSACTIONS, found: self.transactions });
        }
        if self.lag > MOST_LAG {
            return Err(SpecError::TooMuchLag { most: MOST_LAG, found: self.lag });
        }
        if self.clock_skew > MOST_SKEW {
            return Err(SpecError::TooMuchSkew { most: MOST_SKEW, found: self.clock_skew });
        }
        if self.rollback_share > MOST_ROLLBACKS {
            return Err(SpecError::TooManyRollbacks { most: MOST_ROLLBACKS, found: self.rollback_share });
        }
        Ok(())
    }
}
