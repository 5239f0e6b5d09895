//! One history, with a clock beside.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

use isonomy_crdt::{Budget, DataType, Effort, History, Verdict, check, is_too_large};

use crate::exit::Exit;
use crate::output::time;
use crate::progress::Progress;

/// How much a history may cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    pub(super) timeout: Option<Duration>,
    pub(super) budget: Option<u64>,
}

/// A verdict, how long it took, and why it is none if it is none.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
    pub(super) effort: Effort,
    pub(super) reason: Option<Reason>,
}

impl Judged {
    pub(super) fn exit(&self) -> Exit {
        match self.verdict {
            Verdict::Holds(_) => Exit::Fine,
            Verdict::Violated(_) => Exit::Violated,
            Verdict::Undecided => Exit::Undecided,
        }
    }
}

/// Why a history is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Time(DataType, Duration),
    Budget(DataType, u64),
    Size { operations: usize, replicas: usize },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data_type, more) = match *self {
            Reason::Size { operations, replicas } => {
                return write!(
                    f,
                    "{operations} operations on {replicas} replicas are too many; record shorter histories"
                );
            }
            Reason::Time(data_type, timeout) => {
                write!(f, "{} were not enough", time(timeout))?;
                (data_type, "more time (--timeout)")
            }
            Reason::Budget(data_type, budget) => {
                write!(f, "{budget} steps were not enough")?;
                (data_type, "more steps (--budget)")
            }
        };
        match data_type {
            DataType::Rga => {}
            DataType::MvRegister | DataType::LwwRegister => {
                write!(f, "; registers to which a value is written several times are NP-complete to decide")?;
            }
            _ => write!(f, "; sets, flags and counters are NP-complete to decide")?,
        }
        write!(f, "; give it {more}, or record shorter histories")
    }
}

/// Decides a history within its limits.
pub(super) fn judge(history: &History, limits: Limits, progress: &Progress) -> Judged {
    let began = Instant::now();
    let deadline = limits.timeout.and_then(|timeout| began.checked_add(timeout));
    let told = Cell::new(0);
    let stop = || {
        let seconds = began.elapsed().as_secs();
        if seconds > told.replace(seconds) {
            progress.doing(format!("checking for {seconds} s"));
        }
        deadline.is_some_and(|at| Instant::now() >= at)
    };
    progress.doing("checking");
    let mut effort = Effort::default();
    let mut budget = Budget::new(limits.budget.unwrap_or(u64::MAX)).with_stop(&stop);
    // No time at all is no time even for histories so small that the search would not look at the clock.
    let verdict = if stop() { Verdict::Undecided } else { check(history, &mut budget, &mut effort) };
    let reason = matches!(verdict, Verdict::Undecided).then(|| match (limits.timeout, limits.budget) {
        _ if is_too_large(history) => Reason::Size { operations: history.len(), replicas: history.replicas().len() },
        (Some(timeout), _) if budget.remaining() > 0 => Reason::Time(history.data_type(), timeout),
        (_, units) => Reason::Budget(history.data_type(), units.unwrap_or(u64::MAX)),
    });
    Judged { verdict, took: began.elapsed(), effort, reason }
}
