//! Real time: who surely ended before whom.
//!
//! There may be as many pairs as there are pairs of transactions, and none is written down. Of all begins (and all commits) in the order of
//! their latest moments only the first that is not placed has to be known: if it is not in the way, none is.

use isonomy_history::{History, Outcome, TxnId};

use super::Rules;

/// The earliest and latest moment of the begin and of the commit.
#[derive(Clone, Copy)]
pub(super) struct Moments {
    begin: (i64, i64),
    commit: (i64, i64),
}

impl Moments {
    /// When a transaction that counts ran, if that is known.
    pub(super) fn of(history: &History, txn: TxnId) -> Option<Self> {
        let times = history.times(txn);
        let begin = times.begin()?;
        let commit = match times.commit() {
            Some(commit) => commit,
            // It took effect, but who knows when: not before its client had come so far, and maybe later than all else.
            None if history.outcome(txn) == Outcome::Indeterminate => {
                (times.committing.or(times.began).unwrap_or(begin.0), i64::MAX)
            }
            None => return None,
        };
        Some(Moments { begin, commit })
    }
}

/// Ends of one kind, by their latest moments.
struct Ends {
    /// The latest moment and the transaction.
    sorted: Vec<(i64, u32)>,
    /// Where each transaction stands there.
    place: Vec<u32>,
    /// The first that is not placed.
    first: usize,
}

impl Ends {
    fn new(latest: impl Iterator<Item = i64>) -> Self {
        let mut sorted: Vec<(i64, u32)> = latest.enumerate().map(|(txn, latest)| (latest, txn as u32)).collect();
        sorted.sort_unstable();
        let mut place = vec![0; sorted.len()];
        for (at, &(_, txn)) in sorted.iter().enumerate() {
            place[txn as usize] = at as u32;
        }
        Ends { sorted, place, first: 0 }
    }

    fn placed(&mut self, is_placed: impl Fn(u32) -> bool) {
        while self.sorted.get(self.first).is_some_and(|&(_, txn)| is_placed(txn)) {
            self.first += 1;
        }
    }

    fn taken_back(&mut self, txn: u32) {
        self.first = self.first.min(self.place[txn as usize] as usize);
    }
}

/// What is placed, seen in time.
pub(super) struct RealTime {
    rules: Rules,
    drift: i64,
    moments: Vec<Moments>,
    begins: Ends,
    commits: Ends,
}

impl RealTime {
    pub(super) fn new(rules: Rules, drift: i64, moments: Vec<Moments>) -> Self {
        let begins = Ends::new(moments.iter().map(|moments| moments.begin.1));
        let commits = Ends::new(moments.iter().map(|moments| moments.commit.1));
        RealTime { rules, drift, moments, begins, commits }
    }

    /// Whether no other end that is not placed happened before an end of `txn`: its begin if `begins`, its commit if `commits`.
    /// `placed` says whether the begin (or the commit, if true) of a transaction is placed.
    pub(super) fn allows(&self, txn: u32, begins: bool, commits: bool, placed: impl Fn(u32, bool) -> bool) -> bool {
        let moments = self.moments[txn as usize];
        let in_the_way = |ends: &Ends, is_commit: bool, earliest: i64| {
            // Only its own end can be looked at in vain.
            let before = ends.sorted[ends.first..].iter();
            let mut before = before.take_while(|&&(latest, _)| latest.saturating_add(self.drift) < earliest);
            before.any(|&(_, other)| other != txn && !placed(other, is_commit))
        };
        let Rules { fresh_begins, fresh_commits, .. } = self.rules;
        let begin_waits = begins && fresh_begins && in_the_way(&self.commits, true, moments.begin.0);
        let commit_waits = commits
            && fresh_commits
            && (in_the_way(&self.begins, false, moments.commit.0) || in_the_way(&self.commits, true, moments.commit.0));
        !begin_waits && !commit_waits
    }

    /// Something was placed.
    pub(super) fn place(&mut self, placed: impl Fn(u32, bool) -> bool) {
        self.begins.placed(|txn| placed(txn, false));
        self.commits.placed(|txn| placed(txn, true));
    }

    /// An end of a transaction was taken back.
    pub(super) fn take_back(&mut self, txn: u32, begins: bool, commits: bool) {
        if begins {
            self.begins.taken_back(txn);
        }
        if commits {
            self.commits.taken_back(txn);
        }
    }
}
