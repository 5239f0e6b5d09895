//! Many clients at once, and whether they saw what the database promises.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use isonomy_checker::{IsolationLevel, Options, Verdict, check};
use isonomy_history::{Datum, History, HistoryBuilder, Name, NamedEvent, Outcome, Record, Sink, Times};
use isonomy_workload::Rng;

use crate::{Database, Error, Session};

/// How much to ask.
#[derive(Clone, Copy, Debug)]
pub struct Stress {
    /// Clients at a time.
    pub sessions: u32,
    /// Attempts of each.
    pub attempts: u32,
    /// Keys, so few that clients meet.
    pub keys: u64,
    /// What all choices follow from.
    pub seed: u64,
}

impl Default for Stress {
    fn default() -> Self {
        Stress { sessions: 4, attempts: 50, keys: 8, seed: 1 }
    }
}

/// Runs a small stress and checks that the level which the documentation promises holds. Returns what was seen.
#[track_caller]
pub fn stress(database: &dyn Database) -> History {
    stress_with(database, Stress::default())
}

/// [`stress`], of another size.
#[track_caller]
pub fn stress_with(database: &dyn Database, stress: Stress) -> History {
    super::well("prepare", database.prepare());
    let values = AtomicI64::new(1);
    let records = Mutex::new(HistoryBuilder::new());
    thread::scope(|scope| {
        for number in 0..stress.sessions {
            let session = super::well("connect", database.connect(number));
            let client =
                Client { session, name: i64::from(number), rng: Rng::stream(stress.seed, u64::from(number)), stress };
            let (values, records) = (&values, &records);
            scope.spawn(move || client.run(values, records));
        }
    });
    let history = records.into_inner().expect("no client panicked").finish().expect("what was recorded is well formed");
    let committed = history.transactions().filter(|&txn| history.outcome(txn) == Outcome::Committed).count();
    assert!(committed > 0, "of {} transactions not one committed", history.transaction_count());
    let promised = super::well("describe", database.describe()).isolation.promises;
    if let Some(level) = promised {
        let level: IsolationLevel = level.parse().expect("the promise is a level");
        if let Verdict::Violated(found) = check(&history, level, &Options::default()) {
            panic!("{level} was promised and is violated: {}", isonomy_checker::explain(&history, &found));
        }
    }
    history
}

struct Client {
    session: Box<dyn Session>,
    name: i64,
    rng: Rng,
    stress: Stress,
}

impl Client {
    fn run(mut self, values: &AtomicI64, records: &Mutex<HistoryBuilder>) {
        for _ in 0..self.stress.attempts {
            let mut events = Vec::new();
            let outcome = match self.attempt(values, &mut events) {
                Ok(()) => Outcome::Committed,
                Err(Error::Aborted(_)) => {
                    super::well("rollback after an abort", self.session.rollback());
                    Outcome::Aborted
                }
                Err(error) => panic!("client {}: {error:?}", self.name),
            };
            let record = Record { session: Name::Int(self.name), outcome, times: Times::default(), events };
            records.lock().expect("no client panics with the lock").take(&record).expect("builders take all");
        }
    }

    fn attempt(&mut self, values: &AtomicI64, events: &mut Vec<NamedEvent<'static>>) -> Result<(), Error> {
        self.session.begin()?;
        for _ in 0..1 + self.rng.below(4) {
            let key = self.rng.below(self.stress.keys);
            let name = Name::Int(key as i64);
            if self.rng.chance(0.5) {
                let value = self.session.read(key)?;
                events.push(NamedEvent::Read(name, value.map_or(Datum::Initial, Datum::Int)));
            } else {
                let value = values.fetch_add(1, Ordering::Relaxed);
                // Before it is sent: if it fails, it may have been done all the same.
                events.push(NamedEvent::Write(name, Datum::Int(value)));
                self.session.write(key, value)?;
            }
        }
        self.session.commit()
    }
}
