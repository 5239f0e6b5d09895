//! One client of a run.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use isonomy_workload::{Operation, Rng};

use super::tally::{End, Tally};
use super::{RunError, Shared};
use crate::recorder::{RecordError, SessionRecorder};
use crate::{Error, Session};

/// A program is tried so often before another is drawn: one that cannot succeed must not hold its client up for ever.
const TRIES: u32 = 16;
/// The longest rest after a failed attempt.
const LONGEST_REST: Duration = Duration::from_millis(10);
/// Longer pauses are cut into pieces, so that a run which is stopped ends soon.
const NAP: Duration = Duration::from_millis(50);

pub(super) struct Client<'a> {
    shared: &'a Shared<'a>,
    number: u32,
    /// How often it has connected again.
    again: u32,
    session: Box<dyn Session>,
    record: SessionRecorder,
    rng: Rng,
    program: Vec<Operation>,
    tally: Tally,
}

/// Why an attempt did not commit.
enum Failed {
    /// It has no effect, and the client can go on.
    Aborted,
    /// The connection is gone.
    Lost,
    /// The run cannot go on.
    Fatal(RunError),
}

impl From<RecordError> for Failed {
    fn from(error: RecordError) -> Self {
        Failed::Fatal(error.into())
    }
}

/// Where an operation failed.
enum Wrong {
    Database(Error),
    Record(RecordError),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Wrong::Database(error)
    }
}

impl From<RecordError> for Wrong {
    fn from(error: RecordError) -> Self {
        Wrong::Record(error)
    }
}

impl<'a> Client<'a> {
    pub(super) fn connect(shared: &'a Shared<'a>, number: u32) -> Result<Self, Error> {
        Ok(Client {
            shared,
            number,
            again: 0,
            session: shared.database.connect(number)?,
            record: shared.recorder.session(i64::from(number) + 1),
            rng: Rng::stream(shared.plan.seed, 1000 + u64::from(number)),
            program: Vec::new(),
            tally: Tally::default(),
        })
    }

    pub(super) fn run(mut self) -> Tally {
        while self.shared.goes_on() && self.shared.take_one() {
            self.shared.programs.lock().expect("nothing panics with the lock").draw(&mut self.program);
            match self.transaction() {
                Ok(()) => {}
                Err(failed) => {
                    self.shared.give_back();
                    match failed {
                        Failed::Aborted => {}
                        Failed::Lost => {
                            if !self.reconnect() {
                                break;
                            }
                        }
                        Failed::Fatal(error) => self.shared.fail(error),
                    }
                }
            }
            self.pause(self.shared.plan.think);
        }
        self.tally
    }

    /// Runs the program until it commits, or often enough.
    fn transaction(&mut self) -> Result<(), Failed> {
        for failed in 0..TRIES {
            if failed > 0 {
                self.pause((Duration::from_micros(20) * (1 << failed)).min(LONGEST_REST));
                if !self.shared.goes_on() {
                    break;
                }
            }
            if self.shared.attempts.fetch_add(1, Ordering::Relaxed) >= self.shared.most_attempts {
                self.shared.end(End::TooManyAttempts);
                break;
            }
            match self.attempt() {
                Err(Failed::Aborted) => {}
                other => return other,
            }
        }
        Err(Failed::Aborted)
    }

    fn attempt(&mut self) -> Result<(), Failed> {
        let start = self.record.begin();
        match self.perform() {
            Ok(()) => {}
            Err(Wrong::Record(error)) => return Err(error.into()),
            // No commit was sent.
            Err(Wrong::Database(error)) => return self.gave_up(error),
        }
        self.pause(self.shared.plan.delay);
        self.record.committing()?;
        match self.session.commit() {
            Ok(()) => {
                let finish = self.record.committed()?;
                self.tally.committed(finish - start);
                self.shared.committed.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(Error::Lost(_)) => {
                self.record.unknown()?;
                self.shared.indeterminate.fetch_add(1, Ordering::Relaxed);
                Err(Failed::Lost)
            }
            Err(error) => self.gave_up(error),
        }
    }

    /// Asks for all that the program asks for.
    fn perform(&mut self) -> Result<(), Wrong> {
        self.session.begin()?;
        for at in 0..self.program.len() {
            if at > 0 {
                self.pause(self.shared.plan.delay);
            }
            self.operate(self.program[at])?;
        }
        Ok(())
    }

    /// What is read is recorded after it is there, what is written before it is sent.
    fn operate(&mut self, operation: Operation) -> Result<(), Wrong> {
        match operation {
            Operation::Read(key) => {
                let value = self.session.read(key)?;
                self.record.read(name(key), value);
            }
            Operation::Write(key) => {
                let value = self.new_value();
                self.record.write(name(key), value)?;
                self.session.write(key, value)?;
            }
            Operation::Append(key) => {
                let element = self.new_value();
                self.record.append(name(key), element)?;
                self.session.append(key, element)?;
            }
            Operation::ReadList(key) => {
                let elements = self.session.read_list(key)?;
                self.record.read_list(name(key), elements);
            }
        }
        Ok(())
    }

    fn new_value(&self) -> i64 {
        self.shared.next_value.fetch_add(1, Ordering::Relaxed)
    }

    /// The transaction surely has no effect.
    fn gave_up(&mut self, error: Error) -> Result<(), Failed> {
        self.record.aborted()?;
        self.shared.aborted.fetch_add(1, Ordering::Relaxed);
        match error {
            Error::Aborted(reason) => {
                self.tally.aborted(&reason);
                match self.session.rollback() {
                    Ok(()) | Err(Error::Aborted(_)) => Err(Failed::Aborted),
                    Err(Error::Lost(_)) => Err(Failed::Lost),
                    Err(error) => Err(Failed::Fatal(error.into())),
                }
            }
            Error::Lost(last) => {
                self.tally.aborted(&format!("connection lost: {last}"));
                Err(Failed::Lost)
            }
            error => Err(Failed::Fatal(error.into())),
        }
    }

    /// Gets a new connection, as a new session. False if that takes too long, or the run is over.
    fn reconnect(&mut self) -> bool {
        let deadline = Instant::now() + self.shared.plan.patience;
        let mut rest = Duration::from_millis(1);
        while self.shared.goes_on() {
            // Before the first try, too: a server that takes connections and drops them must not be flooded.
            thread::sleep(rest);
            rest = (2 * rest).min(Duration::from_millis(500));
            let last = match self.shared.database.connect(self.number) {
                Ok(session) => {
                    self.session = session;
                    self.again += 1;
                    let name = format!("{}.{}", self.number + 1, self.again);
                    self.record = self.shared.recorder.session(name.as_str());
                    self.tally.reconnected();
                    return true;
                }
                Err(Error::Lost(message) | Error::Unreachable(message)) => message,
                Err(error) => {
                    self.shared.fail(error.into());
                    return false;
                }
            };
            if Instant::now() >= deadline {
                self.shared.end(End::Disconnected(last));
                return false;
            }
        }
        false
    }

    /// Waits, for any time up to this.
    fn pause(&mut self, most: Duration) {
        if most.is_zero() {
            return;
        }
        let mut left = most.mul_f64(self.rng.unit());
        while !left.is_zero() && self.shared.goes_on() {
            let nap = left.min(NAP);
            thread::sleep(nap);
            left -= nap;
        }
    }
}

/// Keys are numbers of 64 bits in histories, too, but with a sign; workloads use small ones.
fn name(key: u64) -> i64 {
    key as i64
}
