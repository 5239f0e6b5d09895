//! Many runs of an application: how often each assertion breaks, and how many runs that takes.

use std::time::{Duration, Instant};

use crate::application::Application;
use crate::run::{RunError, Setup};

/// What many runs came to.
#[derive(Clone, Debug, Default)]
pub struct Measurement {
    /// How many runs there were.
    pub runs: u64,
    /// How long they took together.
    pub time: Duration,
    /// What became of each assertion, in the order of the application's list.
    pub tallies: Vec<Tally>,
}

/// What became of an assertion.
///
/// Runs are grouped: each group ends with a run that breaks the assertion, and the next group begins after it. The mean length of a group is how many
/// runs it takes to see the assertion break.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// In how many runs it was broken.
    pub broken: u64,
    /// How many runs there were up to the last of these, that one included.
    pub runs_until_last: u64,
    /// How long these took.
    pub time_until_last: Duration,
    /// The seed of the first of these.
    pub first_seed: Option<u64>,
}

impl Measurement {
    /// Nothing yet.
    pub fn new(application: &dyn Application) -> Self {
        Measurement { tallies: vec![Tally::default(); application.assertions().len()], ..Measurement::default() }
    }

    /// Runs an application with a seed of its own for operations, schedule and reads, and counts what comes of it.
    pub fn run(&mut self, application: &dyn Application, setup: &Setup, seed: u64) -> Result<(), RunError> {
        let began = Instant::now();
        let outcome = setup.with_seed(seed).run(application)?;
        self.note(&outcome.broken, seed, began.elapsed());
        Ok(())
    }

    /// Counts a run.
    fn note(&mut self, broken: &[bool], seed: u64, took: Duration) {
        self.runs += 1;
        self.time += took;
        for (tally, _) in self.tallies.iter_mut().zip(broken).filter(|(_, broken)| **broken) {
            tally.broken += 1;
            tally.runs_until_last = self.runs;
            tally.time_until_last = self.time;
            tally.first_seed.get_or_insert(seed);
        }
    }
}

impl Tally {
    /// How many runs it takes on average until the assertion is broken; nothing if it never was.
    pub fn runs_to_failure(&self) -> Option<f64> {
        (self.broken > 0).then(|| self.runs_until_last as f64 / self.broken as f64)
    }

    /// How long that takes.
    pub fn time_to_failure(&self) -> Option<Duration> {
        (self.broken > 0).then(|| self.time_until_last.div_f64(self.broken as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_end_with_a_failure() {
        let mut measurement = Measurement { tallies: vec![Tally::default(); 2], ..Measurement::default() };
        for seed in 0..10 {
            measurement.note(&[seed == 2 || seed == 7, false], seed, Duration::from_millis(2));
        }
        let [first, second] = measurement.tallies[..] else { panic!("there are two") };
        assert_eq!((first.broken, first.first_seed, first.runs_to_failure()), (2, Some(2), Some(4.0)));
        assert_eq!(first.time_to_failure(), Some(Duration::from_millis(8)));
        assert_eq!((second.broken, second.runs_to_failure()), (0, None));
    }
}
