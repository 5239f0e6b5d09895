//! Histories of lightweight transactions: an insert of each key and a chain of compare-and-sets on it, with times.
//!
//! How many clients contend for a key of a real database cannot be dialled from outside, so MTC makes such histories (footnote 2 and
//! the authors' generator): one insert, then batches of compare-and-sets from `i` to `i + 1`. Within a batch every operation begins before
//! any ends, so all overlap; batches follow one another. Begins and ends are shuffled, so that only the values tell the order.
//!
//! Beyond MTC's: several keys; failed compare-and-sets, which return what they found and are reads; outcomes that nobody learns. Such a
//! history is linearizable, because the chain is an order that agrees with the batches. With a missing link in each batch it is not: a compare-and-set finds
//! what nobody has set.

use isonomy_history::{Datum, Name, NamedEvent, Outcome, Record, Sink, Times};

use crate::generate::{GenerateError, SpecError};
use crate::program::{MOST_KEYS, WorkloadError};
use crate::rng::Rng;
use crate::simulate::MOST_TRANSACTIONS;

/// What a history of lightweight transactions is to be like. The same specification gives the same history.
///
/// Keys and sessions are numbers, keys from 0 and sessions from 1. The values of each key are numbers from 1.
#[derive(Clone, Debug, PartialEq)]
pub struct LightweightSpec {
    /// How many clients there are.
    pub sessions: u32,
    /// How many transactions there are, in all sessions together. One for each key is its insert.
    pub transactions: u64,
    /// The share of the clients that have a transaction open at a time; one of them at least.
    pub concurrent_share: f64,
    /// How many keys there are, each with a chain of its own.
    pub keys: u64,
    /// Whether one compare-and-set of each batch is left out, on which the next one builds.
    pub missing_link: bool,
    /// The share of operations that fail, and return what they found.
    pub failed_share: f64,
    /// The share of operations whose client never learns the outcome. Half of them take effect.
    pub indeterminate_share: f64,
    /// What all choices follow from.
    pub seed: u64,
}

impl Default for LightweightSpec {
    /// MTC's: 2,000 sessions, half of them at a time, and ten transactions each on one key.
    fn default() -> Self {
        LightweightSpec {
            sessions: 2_000,
            transactions: 20_000,
            concurrent_share: 0.5,
            keys: 1,
            missing_link: false,
            failed_share: 0.0,
            indeterminate_share: 0.0,
            seed: 0,
        }
    }
}

/// What was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LightweightSummary {
    /// Inserts, one for each key.
    pub inserts: u64,
    /// Compare-and-sets that succeeded.
    pub succeeded: u64,
    /// Compare-and-sets that failed, recorded as reads.
    pub failed: u64,
    /// Compare-and-sets whose outcome is not known.
    pub indeterminate: u64,
    /// Compare-and-sets that were left out.
    pub missing: u64,
}

/// The time between one begin or end and the next, in nanoseconds.
const STEP: i64 = 10_000;

impl LightweightSpec {
    /// How many operations overlap.
    pub fn batch(&self) -> u32 {
        ((f64::from(self.sessions) * self.concurrent_share).round() as u32).clamp(1, self.sessions.max(1))
    }

    /// Makes the history, in the order in which transactions end, and now and then tells how many are done. `sink` is told the end.
    pub fn generate(
        &self,
        sink: &mut dyn Sink,
        mut progress: Option<&mut dyn FnMut(u64)>,
    ) -> Result<LightweightSummary, GenerateError> {
        self.validate()?;
        let mut maker = Maker::new(self, sink);
        let mut done = 0;
        while done < self.transactions {
            // The inserts come first, in batches of their own.
            let inserts = maker.chains.len() as u64;
            let left = if done < inserts { inserts } else { self.transactions } - done;
            let size = left.min(u64::from(self.batch()));
            maker.draw(done, size as usize);
            maker.record().map_err(GenerateError::Sink)?;
            done += size;
            if let Some(progress) = &mut progress {
                progress(done);
            }
        }
        maker.sink.end().map_err(GenerateError::Sink)?;
        Ok(maker.summary)
    }

    fn validate(&self) -> Result<(), SpecError> {
        WorkloadError::check_share("share of concurrent sessions", self.concurrent_share)?;
        WorkloadError::check_share("share of failed operations", self.failed_share)?;
        WorkloadError::check_share("share of indeterminate operations", self.indeterminate_share)?;
        WorkloadError::check_share(
            "share of failed and indeterminate operations",
            self.failed_share + self.indeterminate_share,
        )?;
        if self.sessions == 0 {
            return Err(SpecError::NoSessions);
        }
        if self.keys == 0 {
            return Err(WorkloadError::TooFewKeys { needed: 1, found: 0 }.into());
        }
        if self.keys > MOST_KEYS {
            return Err(WorkloadError::TooManyKeys { most: MOST_KEYS, found: self.keys }.into());
        }
        if self.transactions > MOST_TRANSACTIONS {
            return Err(SpecError::TooManyTransactions { most: MOST_TRANSACTIONS, found: self.transactions });
        }
        if self.missing_link && self.transactions <= self.keys {
            return Err(SpecError::NoLink { keys: self.keys, found: self.transactions });
        }
        Ok(())
    }
}

/// How far the chain of a key is.
#[derive(Clone, Copy)]
struct Chain {
    /// What the key holds.
    current: i64,
    /// A value that nobody has used.
    next: i64,
}

/// An operation of a batch.
struct Operation {
    event: NamedEvent<'static>,
    outcome: Outcome,
    start: i64,
}

struct Maker<'a> {
    spec: &'a LightweightSpec,
    sink: &'a mut dyn Sink,
    rng: Rng,
    chains: Vec<Chain>,
    /// All sessions. Those of a batch stand at the front.
    sessions: Vec<i64>,
    /// The batch, in the order of the chains.
    batch: Vec<Operation>,
    /// Places in the batch, to be shuffled.
    places: Vec<u32>,
    now: i64,
    summary: LightweightSummary,
}

impl<'a> Maker<'a> {
    fn new(spec: &'a LightweightSpec, sink: &'a mut dyn Sink) -> Self {
        Maker {
            spec,
            sink,
            rng: Rng::new(spec.seed),
            chains: vec![Chain { current: 1, next: 2 }; spec.keys.min(spec.transactions) as usize],
            sessions: (1..=i64::from(spec.sessions)).collect(),
            batch: Vec::new(),
            places: Vec::new(),
            now: 0,
            summary: LightweightSummary::default(),
        }
    }

    /// Decides what the next operations are, `done` of which there were before.
    fn draw(&mut self, done: u64, size: usize) {
        self.batch.clear();
        let inserting = done < self.chains.len() as u64;
        let missing = (self.spec.missing_link && !inserting).then(|| self.rng.index(size));
        for at in 0..size {
            let (event, outcome) = if inserting {
                self.summary.inserts += 1;
                let key = done as usize + at;
                (NamedEvent::Insert(Name::Int(key as i64), Datum::Int(self.chains[key].current)), Outcome::Committed)
            } else {
                self.compare_and_set(missing == Some(at))
            };
            self.batch.push(Operation { event, outcome, start: 0 });
        }
    }

    /// The next link of a chain, perhaps after one that is missing.
    fn compare_and_set(&mut self, after_missing: bool) -> (NamedEvent<'static>, Outcome) {
        let key = self.rng.index(self.chains.len());
        let chance = self.rng.unit();
        let chain = &mut self.chains[key];
        let mut fresh = || {
            chain.next += 1;
            chain.next - 1
        };
        if after_missing {
            // The next one must be seen to build on it, or nothing would be wrong.
            self.summary.missing += 1;
            chain.current = fresh();
        }
        let key = Name::Int(key as i64);
        let expected = Datum::Int(chain.current);
        if chance < self.spec.failed_share && !after_missing {
            self.summary.failed += 1;
            return (NamedEvent::Read(key, expected), Outcome::Committed);
        }
        let new = fresh();
        let event = NamedEvent::CompareAndSet { key, expected, new: Datum::Int(new), succeeded: true };
        if chance < self.spec.failed_share + self.spec.indeterminate_share && !after_missing {
            self.summary.indeterminate += 1;
            if self.rng.chance(0.5) {
                chain.current = new;
            }
            return (event, Outcome::Indeterminate);
        }
        self.summary.succeeded += 1;
        chain.current = new;
        (event, Outcome::Committed)
    }

    /// Gives the batch sessions and times, and records it.
    fn record(&mut self) -> std::io::Result<()> {
        let size = self.batch.len();
        for at in 0..size {
            // The first steps of a shuffle.
            let other = at + self.rng.index(self.sessions.len() - at);
            self.sessions.swap(at, other);
        }
        self.shuffle_places();
        for &place in &self.places {
            self.batch[place as usize].start = self.now;
            self.now += STEP;
        }
        self.shuffle_places();
        let events = Vec::with_capacity(1);
        let mut record = Record { session: Name::Int(0), outcome: Outcome::Committed, times: Times::default(), events };
        for &place in &self.places {
            let operation = &self.batch[place as usize];
            let finish = (operation.outcome != Outcome::Indeterminate).then_some(self.now);
            record.session = Name::Int(self.sessions[place as usize]);
            record.outcome = operation.outcome;
            record.times = Times { start: Some(operation.start), finish, ..Times::default() };
            record.events.clear();
            record.events.push(operation.event.clone());
            self.sink.take(&record)?;
            self.now += STEP;
        }
        Ok(())
    }

    fn shuffle_places(&mut self) {
        self.places.clear();
        self.places.extend(0..self.batch.len() as u32);
        for at in (1..self.places.len()).rev() {
            let other = self.rng.index(at + 1);
            self.places.swap(at, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isonomy_history::{History, HistoryBuilder};

    fn make(spec: &LightweightSpec) -> (History, LightweightSummary) {
        let mut builder = HistoryBuilder::new();
        let summary = spec.generate(&mut builder, None).expect("the specification is sound");
        (builder.finish().expect("no value is written twice"), summary)
    }

    #[test]
    fn batches_overlap_and_follow_one_another() {
        let spec = LightweightSpec { sessions: 20, transactions: 101, keys: 1, ..LightweightSpec::default() };
        let (history, summary) = make(&spec);
        assert_eq!(summary, LightweightSummary { inserts: 1, succeeded: 100, ..LightweightSummary::default() });
        // In the order of the chain: the insert, then ten batches of ten.
        let mut chain: Vec<(i64, i64, i64)> = Vec::new();
        for txn in history.transactions() {
            let record = history.record(txn);
            let value = match record.events[..] {
                [NamedEvent::Insert(Name::Int(0), Datum::Int(new))] => new,
                [NamedEvent::CompareAndSet { expected: Datum::Int(old), new: Datum::Int(new), .. }] => {
                    assert_eq!(new, old + 1);
                    new
                }
                ref other => panic!("{other:?}"),
            };
            chain.push((value, record.times.start.expect("a start"), record.times.finish.expect("a finish")));
        }
        chain.sort_unstable();
        assert!(chain.iter().map(|link| link.0).eq(1..=101));
        for (i, &(_, start, finish)) in chain.iter().enumerate() {
            for (j, &(_, other_start, _)) in chain.iter().enumerate().skip(i + 1) {
                let same_batch = i > 0 && (i - 1) / 10 == (j - 1) / 10;
                assert_eq!(other_start < finish, same_batch, "{i} {j}");
                assert!(same_batch || start < other_start);
            }
        }
        let starts: Vec<i64> = chain.iter().map(|link| link.1).collect();
        assert!(!starts.is_sorted(), "begins are shuffled");
    }

    #[test]
    fn shares_are_about_right_and_seeds_matter() {
        let spec = LightweightSpec {
            sessions: 50,
            keys: 10,
            failed_share: 0.3,
            indeterminate_share: 0.2,
            missing_link: true,
            ..LightweightSpec::default()
        };
        let (history, summary) = make(&spec);
        assert_eq!((history.transaction_count(), history.sessions().len()), (20_000, 50));
        assert_eq!((summary.inserts, summary.missing), (10, 800));
        assert!((5500..6200).contains(&summary.failed) && (3600..4200).contains(&summary.indeterminate), "{summary:?}");
        let records = |history: &History| -> Vec<String> {
            history.transactions().map(|txn| format!("{:?}", history.record(txn))).collect()
        };
        assert_eq!(records(&make(&spec).0), records(&history));
        assert_ne!(records(&make(&LightweightSpec { seed: 1, ..spec }).0), records(&history));
    }

    #[test]
    fn wrong_specifications_are_refused() {
        let fine = LightweightSpec::default();
        for wrong in [
            LightweightSpec { sessions: 0, ..fine.clone() },
            LightweightSpec { keys: 0, ..fine.clone() },
            LightweightSpec { concurrent_share: 1.5, ..fine.clone() },
            LightweightSpec { failed_share: 0.6, indeterminate_share: 0.6, ..fine.clone() },
            LightweightSpec { keys: 20_000, missing_link: true, ..fine.clone() },
            LightweightSpec { transactions: u64::MAX, ..fine.clone() },
        ] {
            let made = wrong.generate(&mut HistoryBuilder::new(), None);
            assert!(matches!(made, Err(GenerateError::Spec(_))), "{wrong:?}");
        }
    }
}
