//! What came of a run, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Progress;
use super::latency::Latencies;

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// As many transactions committed as were asked for.
    Complete,
    /// There was no more time.
    TimeIsUp,
    /// Somebody stopped it.
    Interrupted,
    /// Nearly all attempts aborted.
    TooManyAttempts,
    /// A client lost its connection and did not get another; with what it heard last.
    Disconnected(String),
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Transactions that committed.
    pub committed: u64,
    /// Attempts that aborted.
    pub aborted: u64,
    /// Transactions of which nobody knows.
    pub indeterminate: u64,
    /// How often a client had to connect again.
    pub reconnected: u64,
    /// Why attempts aborted, the most frequent reason first. Numbers in the reasons are left out, so that like ones are counted together.
    pub reasons: Vec<(String, u64)>,
    /// From the first begin to the last end.
    pub took: Duration,
    /// How long the transactions took that committed.
    pub latencies: Latencies,
    /// Why it ended.
    pub end: End,
}

impl Summary {
    /// Committed transactions in a second.
    pub fn rate(&self) -> f64 {
        self.committed as f64 / self.took.as_secs_f64().max(1e-9)
    }

    /// The share of attempts that aborted.
    pub fn abort_rate(&self) -> f64 {
        let attempts = self.committed + self.aborted + self.indeterminate;
        if attempts == 0 { 0.0 } else { self.aborted as f64 / attempts as f64 }
    }
}

/// What a client counts for itself.
#[derive(Debug, Default)]
pub(super) struct Tally {
    reasons: BTreeMap<String, u64>,
    reconnected: u64,
    latencies: Latencies,
}

/// Reasons beyond so many are counted together.
const MOST_REASONS: usize = 32;

impl Tally {
    pub(super) fn committed(&mut self, nanoseconds: i64) {
        self.latencies.add(nanoseconds.max(0) as u64);
    }

    pub(super) fn aborted(&mut self, reason: &str) {
        let like = without_numbers(reason);
        let full = self.reasons.len() >= MOST_REASONS && !self.reasons.contains_key(&like);
        *self.reasons.entry(if full { "other reasons".into() } else { like }).or_default() += 1;
    }

    pub(super) fn reconnected(&mut self) {
        self.reconnected += 1;
    }

    pub(super) fn add(&mut self, other: Tally) {
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.reconnected += other.reconnected;
        self.latencies.merge(&other.latencies);
    }

    pub(super) fn summary(self, progress: Progress, end: End) -> Summary {
        let mut reasons: Vec<(String, u64)> = self.reasons.into_iter().collect();
        reasons.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Summary {
            committed: progress.committed,
            aborted: progress.aborted,
            indeterminate: progress.indeterminate,
            reconnected: self.reconnected,
            reasons,
            took: progress.elapsed,
            latencies: self.latencies,
            end,
        }
    }
}

/// The first line, with each number as `#`: keys, process ids and addresses differ from one to the next.
fn without_numbers(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.lines().next().unwrap_or_default().chars() {
        match c {
            '0'..='9' if text.ends_with('#') => {}
            '0'..='9' => text.push('#'),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_reasons_are_counted_together() {
        let mut tally = Tally::default();
        tally.aborted("process 17 waits for 4\nmore");
        tally.aborted("process 5 waits for 123");
        (0..100).for_each(|i| tally.aborted(&"x".repeat(i)));
        let summary = tally.summary(Progress::default(), End::Complete);
        assert_eq!(summary.reasons[0].0, "other reasons");
        assert_eq!(summary.reasons[1], ("process # waits for #".to_string(), 2));
        assert_eq!(summary.abort_rate(), 0.0);
    }
}
