//! Real time: when transactions began and committed, as far as their clients know.

use isonomy_history::{History, Outcome, TxnId};

/// The earliest and latest moment of a begin and of a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    pub(crate) begin: (i64, i64),
    pub(crate) commit: (i64, i64),
}

/// The moments of a transaction that counts, if its times are known. The commit of one whose outcome is unknown may lie anywhere
/// after what its client did last.
pub(crate) fn moments(history: &History, txn: TxnId) -> Option<Moments> {
    let times = history.times(txn);
    let begin = times.begin()?;
    let commit = match times.commit() {
        Some(commit) => commit,
        None if history.outcome(txn) == Outcome::Indeterminate => {
            (times.committing.or(times.began).unwrap_or(begin.0), i64::MAX)
        }
        None => return None,
    };
    Some(Moments { begin, commit })
}

/// When a transaction began at the earliest and committed at the latest. Its times are known.
pub(crate) fn span(history: &History, txn: TxnId) -> (i64, i64) {
    let moments = moments(history, txn).expect("a level of real time is asked where there are times");
    (moments.begin.0, moments.commit.1)
}

/// Whether all transactions that count have moments.
pub(crate) fn are_known(history: &History) -> bool {
    let derived = history.derived();
    history.transactions().filter(|&txn| derived.counts(txn)).all(|txn| moments(history, txn).is_some())
}

/// Whether one moment happened before another, by clocks that differ by at most `drift`.
#[inline]
pub(crate) fn happens_before(earlier: (i64, i64), later: (i64, i64), drift: i64) -> bool {
    earlier.1.saturating_add(drift) < later.0
}
