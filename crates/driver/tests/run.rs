//! Runs end as they should, whatever the database does.

mod place;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use isonomy_checker::IsolationLevel;
use isonomy_driver::run::{End, Plan, RunError, Watch, run};
use isonomy_driver::{Ability, Database, Description, Error, Key, Mock, Recorder, Session, Value, contract};
use isonomy_history::Outcome;
use isonomy_workload::{Distribution, MiniMix, Rng, Shape, StoreLevel, Workload};
use place::Place;

fn mini(keys: u64) -> Workload {
    Workload { keys, distribution: Distribution::Uniform, shape: Shape::Mini(MiniMix::ALL) }
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// Connections break now and then, in the middle or by the commit, which takes effect or not.
    Cuts,
    /// No transaction ever commits.
    Aborts,
    /// The first three connections are lost at once, and there are no others.
    Gone,
    /// A statement is refused.
    Refuses,
}

/// A serializable store with something wrong.
struct Faulty {
    inner: Mock,
    fault: Fault,
    rng: Mutex<Rng>,
    connected: AtomicU32,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        let inner = Mock::new(StoreLevel::StrictSerializable);
        Faulty { inner, fault, rng: Mutex::new(Rng::new(1)), connected: AtomicU32::new(0) }
    }
}

impl Database for Faulty {
    fn describe(&self) -> Result<Description, Error> {
        self.inner.describe()
    }

    fn can(&self, ability: Ability) -> bool {
        ability != Ability::Lists
    }

    fn prepare(&self) -> Result<(), Error> {
        self.inner.prepare()
    }

    fn connect(&self, session: u32) -> Result<Box<dyn Session>, Error> {
        if self.fault == Fault::Gone && self.connected.fetch_add(1, Ordering::Relaxed) >= 3 {
            return Err(Error::Unreachable("faulty:5: nobody is there; start one".into()));
        }
        let seed = self.rng.lock().expect("no panic").bits();
        Ok(Box::new(FaultySession { inner: self.inner.connect(session)?, fault: self.fault, rng: Rng::new(seed) }))
    }
}

struct FaultySession {
    inner: Box<dyn Session>,
    fault: Fault,
    rng: Rng,
}

impl FaultySession {
    fn cut(&mut self, chance: f64) -> Result<(), Error> {
        match self.fault {
            Fault::Cuts if self.rng.chance(chance) => Err(Error::Lost("cut".into())),
            Fault::Gone => Err(Error::Lost("gone".into())),
            _ => Ok(()),
        }
    }
}

impl Session for FaultySession {
    fn begin(&mut self) -> Result<(), Error> {
        self.cut(0.01)?;
        self.inner.begin()
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        self.cut(0.01)?;
        self.inner.read(key)
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        if self.fault == Fault::Refuses {
            return Err(Error::Refused("no such table".into()));
        }
        self.inner.write(key, value)
    }

    fn commit(&mut self) -> Result<(), Error> {
        if self.fault == Fault::Aborts {
            return Err(Error::Aborted("never".into()));
        }
        self.cut(0.05)?;
        self.inner.commit()?;
        self.cut(0.05)
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.inner.rollback()
    }
}

#[test]
fn lost_connections_leave_true_histories() {
    let database = Faulty::new(Fault::Cuts);
    let (history, summary) = contract::record(&database, &Plan::new(mini(20), 6, 1000));
    assert_eq!((summary.committed, &summary.end), (1000, &End::Complete));
    assert!(summary.indeterminate > 20 && summary.reconnected > 50, "{summary:?}");
    assert!(summary.reasons.iter().any(|(reason, _)| reason == "connection lost: cut"), "{summary:?}");
    contract::expect_holds(&history, IsolationLevel::StrictSerializable);
    let mut ended = BTreeSet::new();
    for txn in history.transactions() {
        let record = history.record(txn);
        let session = record.session.to_string();
        assert!(!ended.contains(&session), "nothing follows in a session whose connection was lost");
        if record.outcome == Outcome::Indeterminate {
            assert_eq!(record.times.finish, None);
            ended.insert(session);
        }
    }
    assert!(history.sessions().any(|session| history.session_name(session).to_string().contains('.')));
}

#[test]
fn attempts_are_bounded() {
    let plan = Plan { attempts: 5, ..Plan::new(mini(20), 3, 20) };
    let (history, summary) = contract::record(&Faulty::new(Fault::Aborts), &plan);
    assert_eq!((summary.committed, summary.aborted, &summary.end), (0, 100, &End::TooManyAttempts));
    assert_eq!((history.transaction_count(), summary.abort_rate()), (100, 1.0));
    assert_eq!(summary.reasons, [("never".to_string(), 100)]);
}

#[test]
fn a_database_that_is_gone_ends_the_run() {
    let database = Faulty::new(Fault::Gone);
    let plan = Plan { patience: Duration::from_millis(50), ..Plan::new(mini(20), 3, 20) };
    let place = Place::new("gone");
    let recorder = Recorder::create(place.path("history.jsonl")).expect("writable");
    let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
    let summary = run(&database, &plan, &recorder, watch).expect("what was recorded stands");
    assert_eq!(summary.end, End::Disconnected("faulty:5: nobody is there; start one".into()));
    let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
    let error = run(&database, &plan, &recorder, watch).expect_err("nobody is there from the beginning");
    assert!(matches!(error, RunError::Database(Error::Unreachable(_))), "{error:?}");
}

#[test]
fn refusals_end_the_run() {
    let place = Place::new("refused");
    let recorder = Recorder::create(place.path("history.jsonl")).expect("writable");
    let ask = |shape| {
        let plan = Plan::new(Workload { shape, ..mini(20) }, 3, 20);
        let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
        run(&Faulty::new(Fault::Refuses), &plan, &recorder, watch).expect_err("it is refused").to_string()
    };
    assert_eq!(ask(Shape::general(3, 0.0)), "no such table");
    assert!(ask(Shape::LIST_APPEND).contains("lists"));
}

#[test]
fn runs_can_be_stopped_and_have_an_end() {
    let place = Place::new("stopped");
    let recorder = Recorder::create(place.path("history.jsonl")).expect("writable");
    let database = Mock::new(StoreLevel::Causal);
    let hour = Duration::from_secs(3600);
    let forever = Plan { transactions: None, think: Duration::from_micros(200), ..Plan::new(mini(20), 3, 0) };
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let mut progress = |progress: isonomy_driver::run::Progress| {
        if progress.committed > 50 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let watch = Watch { stop: &stop, progress: &mut progress };
    let plan = Plan { duration: Some(hour), ..forever.clone() };
    let summary = run(&database, &plan, &recorder, watch).expect("it runs");
    assert!(summary.end == End::Interrupted && summary.committed > 50, "{summary:?}");
    let watch = Watch { stop: &AtomicBool::new(false), progress: &mut |_| {} };
    let plan = Plan { duration: Some(Duration::from_millis(300)), think: hour, ..forever };
    let summary = run(&database, &plan, &recorder, watch).expect("it runs");
    assert_eq!(summary.end, End::TimeIsUp);
    assert!(began.elapsed() < Duration::from_secs(20));
}
