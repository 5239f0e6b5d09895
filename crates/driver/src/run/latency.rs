//! How long transactions took, in buckets that are a thirtieth wide: percentiles of any number of them in little memory.

use std::time::Duration;

/// Buckets to each doubling.
const STEPS: u64 = 32;

/// A distribution of durations.
#[derive(Clone, Debug, Default)]
pub struct Latencies {
    counts: Vec<u64>,
    total: u64,
}

impl Latencies {
    pub(super) fn add(&mut self, nanoseconds: u64) {
        let bucket = bucket(nanoseconds);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    pub(super) fn merge(&mut self, other: &Latencies) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
    }

    /// The duration that this share of all does not exceed, to about 3 %; nothing if there are none.
    pub fn percentile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.total as f64 * share).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_nanos(upper(bucket)))
    }
}

/// Small numbers have a bucket each; then come [`STEPS`] to each doubling.
fn bucket(number: u64) -> usize {
    if number < STEPS {
        return number as usize;
    }
    let doublings = u64::from(number.ilog2() - STEPS.ilog2());
    (STEPS * doublings + (number >> doublings)) as usize
}

/// The largest number of a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let doublings = bucket / STEPS - 1;
    ((bucket % STEPS + STEPS + 1) << doublings) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_narrow_and_in_order() {
        for number in (0..5000).chain([1 << 20, (1 << 40) + 12345, u64::from(u32::MAX)]) {
            let top = upper(bucket(number));
            assert!(top >= number && top <= number + number / 30, "{number} {top}");
            assert!(bucket(top + 1) == bucket(number) + 1);
        }
    }

    #[test]
    fn percentiles() {
        let mut all = Latencies::default();
        assert_eq!(all.percentile(0.5), None);
        (1..=1000).for_each(|n| all.add(n * 1000));
        let mut more = Latencies::default();
        more.add(5_000_000);
        all.merge(&more);
        let micros = |share| all.percentile(share).expect("there are some").as_micros();
        assert!((490..=520).contains(&micros(0.5)) && (980..=1020).contains(&micros(0.99)));
        assert!((5000..=5200).contains(&micros(1.0)));
    }
}
