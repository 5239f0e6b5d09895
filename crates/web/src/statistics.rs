//! What a history is made of, in numbers, and how they change over time.

use isonomy::{History, Outcome};

/// Into how many spans time is cut.
const SPANS: usize = 48;

/// Numbers of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statistics {
    pub(crate) sessions: usize,
    pub(crate) transactions: usize,
    pub(crate) events: usize,
    pub(crate) keys: usize,
    pub(crate) committed: usize,
    pub(crate) aborted: usize,
    pub(crate) indeterminate: usize,
    /// Over time, if the history has times.
    pub(crate) course: Option<Course>,
}

/// How it went over time, in spans of equal length.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Course {
    /// From the first begin to the last end, in seconds.
    pub(crate) seconds: f64,
    /// Commits per second.
    pub(crate) rate: Vec<f64>,
    /// Share of transactions that aborted. Spans in which none ended have none.
    pub(crate) aborted: Vec<f64>,
    /// Within how many seconds half of all commits were done, and 99 of 100. `None` if there were none.
    pub(crate) latency: Option<(f64, f64)>,
}

impl Statistics {
    /// The share of all transactions that aborted; `None` if there are no transactions.
    pub(crate) fn abort_rate(&self) -> Option<f64> {
        (self.transactions > 0).then(|| self.aborted as f64 / self.transactions as f64)
    }

    /// Over the whole time, if the history has times.
    pub(crate) fn commits_per_second(&self) -> Option<f64> {
        self.course.as_ref().map(|course| self.committed as f64 / course.seconds)
    }

    /// See [`Course::latency`].
    pub(crate) fn latency(&self) -> Option<(f64, f64)> {
        self.course.as_ref()?.latency
    }
}

pub(crate) fn statistics(history: &History) -> Statistics {
    let mut counted = Statistics {
        sessions: history.sessions().len(),
        transactions: history.transaction_count(),
        events: history.event_count(),
        keys: history.key_count(),
        ..Statistics::default()
    };
    for txn in history.transactions() {
        match history.outcome(txn) {
            Outcome::Committed => counted.committed += 1,
            Outcome::Aborted => counted.aborted += 1,
            Outcome::Indeterminate => counted.indeterminate += 1,
        }
    }
    counted.course = course(history);
    counted
}

fn course(history: &History) -> Option<Course> {
    let ended = || {
        history.transactions().filter_map(move |txn| {
            let times = history.times(txn);
            Some((times.start?, times.finish?, history.outcome(txn)))
        })
    };
    let (first, last) = ended().fold(None, |span: Option<(i64, i64)>, (start, finish, _)| {
        let (first, last) = span.unwrap_or((start, finish));
        Some((first.min(start), last.max(finish)))
    })?;
    // Clocks may be of any unit and epoch: the difference may be larger than an `i64`.
    let length = (i128::from(last) - i128::from(first)).max(1) as f64;
    let (mut commits, mut aborts, mut latencies) = (vec![0u64; SPANS], vec![0u64; SPANS], Vec::new());
    for (start, finish, outcome) in ended() {
        let share = (i128::from(finish) - i128::from(first)) as f64 / length;
        let span = ((share * SPANS as f64) as usize).min(SPANS - 1);
        match outcome {
            Outcome::Committed => {
                commits[span] += 1;
                latencies.push(finish.saturating_sub(start));
            }
            Outcome::Aborted => aborts[span] += 1,
            Outcome::Indeterminate => {}
        }
    }
    let seconds = length / 1e9;
    let rate = commits.iter().map(|&commits| commits as f64 * SPANS as f64 / seconds).collect();
    let share = |(&commits, &aborts): (&u64, &u64)| aborts as f64 / ((commits + aborts).max(1)) as f64;
    let latency = percentile(&mut latencies, 0.5).zip(percentile(&mut latencies, 0.99));
    Some(Course { seconds, rate, aborted: commits.iter().zip(&aborts).map(share).collect(), latency })
}

/// Within how many seconds a share of all was done.
fn percentile(latencies: &mut [i64], share: f64) -> Option<f64> {
    let at = ((share * latencies.len() as f64).ceil() as usize).saturating_sub(1);
    // The rest need not be in order.
    (!latencies.is_empty()).then(|| *latencies.select_nth_unstable(at).1 as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use isonomy::{ReadOptions, formats};

    use super::*;

    #[test]
    fn numbers_over_time() {
        let lines = "{\"session\":0,\"start\":0,\"finish\":1000000000,\"ops\":[[\"w\",\"x\",1]]}\n\
                     {\"session\":0,\"start\":1500000000,\"finish\":2000000000,\"status\":\"aborted\",\"ops\":[[\"w\",\"x\",2]]}\n";
        let source = formats::Source::Stream(Box::new(lines.as_bytes()));
        let history = formats::read(source, ReadOptions::default()).unwrap();
        let found = statistics(&history);
        assert_eq!((found.sessions, found.transactions, found.events, found.keys), (1, 2, 2, 1));
        let course = found.course.unwrap();
        assert!((course.seconds - 2.0).abs() < 1e-9);
        assert_eq!(course.rate.iter().filter(|&&rate| rate > 0.0).count(), 1);
        assert_eq!(course.rate.len(), SPANS);
        assert_eq!(course.latency, Some((1.0, 1.0)));
    }

    #[test]
    fn shares_of_latencies() {
        let mut latencies: Vec<i64> = (1..=100).rev().map(|number| number * 1_000_000_000).collect();
        assert_eq!(percentile(&mut latencies, 0.5), Some(50.0));
        assert_eq!(percentile(&mut latencies, 0.99), Some(99.0));
        assert_eq!((percentile(&mut [3_000_000_000], 0.99), percentile(&mut [], 0.5)), (Some(3.0), None));
    }
}
