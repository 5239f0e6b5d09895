//! How a store behaves.

use std::time::Duration;

use isonomy_workload::StoreLevel;

/// Which of the allowed values a read returns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// Each allowed write is as likely as any other.
    Uniform,
    /// One of the latest allowed writes of each session.
    Latest,
    /// The one that committed last.
    Newest,
    /// From 0.0, always the one that committed last, over 0.5, all alike, to 1.0, always the one that committed first.
    Weirdness(f64),
}

/// How a store behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// What transactions are given that do not ask for something else.
    pub level: StoreLevel,
    /// How reads choose.
    pub choice: Choice,
    /// All choices follow from it.
    pub seed: u64,
    /// Whether a session sees what it did itself before.
    pub session_order: bool,
    /// Whether a new session sees what was committed before it began.
    pub fresh_sessions: bool,
    /// Whether transactions of different sessions overlap, instead of one waiting for the other.
    pub concurrent: bool,
    /// How long a transaction waits for another one to end.
    pub patience: Duration,
    /// Transactions wait for a random time up to this before they begin.
    pub delay: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            level: StoreLevel::Causal,
            choice: Choice::Uniform,
            seed: 0,
            session_order: true,
            fresh_sessions: true,
            concurrent: false,
            patience: Duration::from_secs(10),
            delay: Duration::ZERO,
        }
    }
}
