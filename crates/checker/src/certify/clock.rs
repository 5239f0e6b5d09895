//! Real time: when transactions surely began and committed, and what surely happened before what.

use isonomy_history::{History, Outcome, TxnId};

use crate::verdict::End;

/// The earliest and the latest moment at which something may have happened.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) earliest: i64,
    pub(super) latest: i64,
}

impl Moment {
    /// Whether it surely happened before another one, although clocks may differ.
    pub(super) fn is_before(self, other: Moment, clock_drift: i64) -> bool {
        self.latest.saturating_add(clock_drift) < other.earliest
    }
}

/// When an end of a transaction happened; `None` if its times do not say.
pub(super) fn moment(history: &History, txn: TxnId, end: End) -> Option<Moment> {
    let times = history.times(txn);
    let start = times.start?;
    match (end, times.finish) {
        (End::Begin, _) => Some(Moment { earliest: start, latest: times.began.unwrap_or(start) }),
        (End::Commit, Some(finish)) => Some(Moment { earliest: times.committing.unwrap_or(finish), latest: finish }),
        // Somebody saw it, so it did commit, but perhaps only now.
        (End::Commit, None) if history.outcome(txn) == Outcome::Indeterminate => {
            Some(Moment { earliest: times.committing.or(times.began).unwrap_or(start), latest: i64::MAX })
        }
        (End::Commit, None) => None,
    }
}

/// For any moment the last place, in some order, among all that have an earlier time.
#[derive(Debug)]
pub(super) struct LastBefore {
    times: Vec<i64>,
    /// For each time the last place and the last but one among it and all earlier ones.
    last: Vec<[Option<u32>; 2]>,
}

impl LastBefore {
    /// Of times and places; no place occurs twice.
    pub(super) fn new(mut items: Vec<(i64, u32)>) -> Self {
        items.sort_unstable();
        let mut best = [None, None];
        let last = items.iter().map(|&(_, place)| {
            let place = Some(place);
            if place > best[0] {
                best = [place, best[0]];
            } else {
                best[1] = best[1].max(place);
            }
            best
        });
        let last = last.collect();
        LastBefore { times: items.into_iter().map(|(time, _)| time).collect(), last }
    }

    /// The last place among all with an earlier time, apart from one's own.
    pub(super) fn get(&self, time: i64, own: u32) -> Option<u32> {
        let earlier = self.times.partition_point(|&other| other < time);
        let [last, next] = *self.last.get(earlier.checked_sub(1)?)?;
        if last == Some(own) { next } else { last }
    }
}
