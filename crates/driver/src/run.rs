//! Runs a workload against a database and records what its clients see.
//!
//! Each client is a thread with a connection of its own. It draws a program, runs it as a transaction, and records it before the next one
//! begins. Clients stop for nobody but the database: they share a source of programs, a counter of values, and the recorder.
//!
//! | what happens | what is recorded | and then |
//! | --- | --- | --- |
//! | the commit is confirmed | committed | the next program |
//! | the database gives up | aborted | the same program is tried again, as a new transaction |
//! | the connection is lost before the commit was sent | aborted | a new connection, as a new session |
//! | the connection is lost by the commit | indeterminate, without a finish | the same |
//!
//! A client whose connection was lost goes on as a new session, `3.1` after `3`: the old transaction may take effect later than the next
//! one, and databases promise the order of a session to a connection only.

mod client;
mod latency;
mod tally;

pub use latency::Latencies;
pub use tally::{End, Summary};

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use isonomy_workload::{Programs, Workload, WorkloadError};

use crate::recorder::{RecordError, Recorder};
use crate::{Ability, Database, Error};
use client::Client;
use tally::Tally;

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Which transactions.
    pub workload: Workload,
    /// What all choices follow from, but those of the database and of the scheduler.
    pub seed: u64,
    /// How many clients there are.
    pub sessions: u32,
    /// How many transactions are to commit, in all sessions together; without it, as many as there is time for.
    pub transactions: Option<u64>,
    /// After which time no transaction begins.
    pub duration: Option<Duration>,
    /// A client waits up to so long between transactions.
    pub think: Duration,
    /// A client waits up to so long between the operations of a transaction, to give others time to come between.
    pub delay: Duration,
    /// How many attempts there are at most for each transaction that is to commit.
    pub attempts: u64,
    /// How long a client tries to connect again.
    pub patience: Duration,
}

impl Plan {
    /// So many transactions of a workload, without pauses.
    pub fn new(workload: Workload, sessions: u32, transactions: u64) -> Self {
        Plan {
            workload,
            seed: 0,
            sessions,
            transactions: Some(transactions),
            duration: None,
            think: Duration::ZERO,
            delay: Duration::ZERO,
            attempts: 100,
            patience: Duration::from_secs(30),
        }
    }
}

/// How a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Transactions that committed.
    pub committed: u64,
    /// Attempts that aborted.
    pub aborted: u64,
    /// Transactions of which nobody knows.
    pub indeterminate: u64,
    /// Time since the first could begin.
    pub elapsed: Duration,
}

/// Who watches a run.
pub struct Watch<'a> {
    /// Set to end the run: transactions under way are finished, no other begins.
    pub stop: &'a AtomicBool,
    /// Told several times a second how it is going.
    pub progress: &'a mut dyn FnMut(Progress),
}

/// Why a run could not go on. What was recorded until then is complete.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The database cannot be reached, or refuses.
    #[error(transparent)]
    Database(#[from] Error),
    /// The history cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is no such workload.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// How often progress is told.
const BEAT: Duration = Duration::from_millis(100);

/// Empties the database, runs the workload, and records what the clients see. The recorder is not finished.
pub fn run(database: &dyn Database, plan: &Plan, recorder: &Recorder, watch: Watch<'_>) -> Result<Summary, RunError> {
    let shape = &plan.workload.shape;
    for (needed, ability, what) in [
        (shape.has_lists(), Ability::Lists, "lists"),
        (shape.has_rows(), Ability::Ranges, "inserts, deletes and ranges"),
        (shape.has_compare_and_set(), Ability::CompareAndSet, "compare-and-set"),
    ] {
        if needed && !database.can(ability) {
            return Err(Error::Unsupported(format!("the workload asks for {what}, and this database has none")).into());
        }
    }
    let programs = plan.workload.programs(plan.seed)?;
    database.prepare()?;
    let shared = Shared::new(database, plan, recorder, programs, watch.stop);
    // All connect before the first begins: a database that cannot be reached has done nothing then.
    let clients: Vec<Client<'_>> =
        (0..plan.sessions).map(|number| Client::connect(&shared, number)).collect::<Result<_, _>>()?;
    let began = Instant::now();
    let deadline = plan.duration.and_then(|duration| began.checked_add(duration));
    let mut tally = Tally::default();
    thread::scope(|scope| {
        let (send, ended) = mpsc::channel();
        for client in clients {
            let send = send.clone();
            scope.spawn(move || {
                // Nobody listens only if this thread panics, and then there is nobody to tell.
                let _ = send.send(client.run());
            });
        }
        drop(send);
        loop {
            match ended.recv_timeout(BEAT) {
                Ok(one) => tally.add(one),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if watch.stop.load(Ordering::Relaxed) {
                shared.end(End::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                shared.end(End::TimeIsUp);
            }
            (watch.progress)(shared.progress(began));
        }
    });
    let progress = shared.progress(began);
    (watch.progress)(progress);
    if let Some(error) = shared.failure.into_inner().expect("nothing panics with the lock") {
        return Err(error);
    }
    let end = shared.end.into_inner().expect("nothing panics with the lock");
    Ok(tally.summary(progress, end.unwrap_or(End::Complete)))
}

/// What all clients share.
struct Shared<'a> {
    database: &'a dyn Database,
    plan: &'a Plan,
    recorder: &'a Recorder,
    programs: Mutex<Programs>,
    /// Whether clients must know what compare-and-sets expect.
    compares: bool,
    next_value: AtomicI64,
    /// How many transactions are still to be taken on.
    left: AtomicU64,
    attempts: AtomicU64,
    most_attempts: u64,
    committed: AtomicU64,
    aborted: AtomicU64,
    indeterminate: AtomicU64,
    stop: &'a AtomicBool,
    /// No transaction begins any more.
    ended: AtomicBool,
    /// Why, the first reason.
    end: Mutex<Option<End>>,
    failure: Mutex<Option<RunError>>,
}

impl<'a> Shared<'a> {
    fn new(
        database: &'a dyn Database,
        plan: &'a Plan,
        recorder: &'a Recorder,
        programs: Programs,
        stop: &'a AtomicBool,
    ) -> Self {
        let most_attempts = plan.transactions.map_or(u64::MAX, |n| n.saturating_mul(plan.attempts.max(1)));
        Shared {
            database,
            plan,
            recorder,
            programs: Mutex::new(programs),
            compares: plan.workload.shape.has_compare_and_set(),
            next_value: AtomicI64::new(1),
            left: AtomicU64::new(plan.transactions.unwrap_or(u64::MAX)),
            attempts: AtomicU64::new(0),
            most_attempts,
            committed: AtomicU64::new(0),
            aborted: AtomicU64::new(0),
            indeterminate: AtomicU64::new(0),
            stop,
            ended: AtomicBool::new(false),
            end: Mutex::new(None),
            failure: Mutex::new(None),
        }
    }

    /// A value that nobody else writes.
    fn next_value(&self) -> i64 {
        self.next_value.fetch_add(1, Ordering::Relaxed)
    }

    fn goes_on(&self) -> bool {
        !self.ended.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed)
    }

    fn end(&self, why: End) {
        self.end.lock().expect("nothing panics with the lock").get_or_insert(why);
        self.ended.store(true, Ordering::Relaxed);
    }

    fn fail(&self, why: RunError) {
        self.failure.lock().expect("nothing panics with the lock").get_or_insert(why);
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Takes on a transaction that is to commit, if there is one left.
    fn take_one(&self) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Gives one back that did not commit.
    fn give_back(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    fn progress(&self, began: Instant) -> Progress {
        Progress {
            committed: self.committed.load(Ordering::Relaxed),
            aborted: self.aborted.load(Ordering::Relaxed),
            indeterminate: self.indeterminate.load(Ordering::Relaxed),
            elapsed: began.elapsed(),
        }
    }
}
