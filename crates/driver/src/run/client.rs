//! One client of a run.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use isonomy_workload::{Knowledge, Operation, Rng};

use super::tally::{End, Tally};
use super::{RunError, Shared};
use crate::recorder::{RecordError, SessionRecorder};
use crate::{Error, Session};

/// A program is tried so often before another is drawn: one that cannot succeed must not hold its client up for ever.
const TRIES: u32 = 16;
/// So many programs in a row without a read mean that the workload has none.
const MOST_DRAWS: u32 = 1000;
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
    /// What compare-and-sets expect.
    knowledge: Knowledge,
    /// The open transaction has sent a compare-and-set. Some databases know them outside of transactions only, where they take effect at once.
    compared: bool,
    tally: Tally,
}

/// Why an attempt did not commit.
enum Failed {
    /// It has no effect, and the client can go on.
    Aborted,
    /// The same, and the program will not fare better the next time.
    Hopeless,
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
    /// An insert: most likely the key is there.
    Insert(Error),
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
            knowledge: Knowledge::default(),
            compared: false,
            tally: Tally::default(),
        })
    }

    pub(super) fn run(mut self) -> Tally {
        while self.shared.goes_on() && self.shared.take_one() {
            match self.draw().and_then(|()| self.transaction()) {
                Ok(()) => {}
                Err(failed) => {
                    self.shared.give_back();
                    match failed {
                        Failed::Aborted | Failed::Hopeless => {}
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

    /// Draws the next program. On a node that only answers reads, its writes are left out.
    fn draw(&mut self) -> Result<(), Failed> {
        let reads_only = self.shared.database.reads_only(self.number);
        let mut programs = self.shared.programs.lock().expect("nothing panics with the lock");
        for _ in 0..MOST_DRAWS {
            programs.draw(&mut self.program);
            if reads_only {
                self.program.retain(|operation| !operation.is_write());
            }
            if !self.program.is_empty() {
                return Ok(());
            }
        }
        let message = "the workload has no reads, and there is a node that answers nothing else";
        Err(Failed::Fatal(Error::Unsupported(message.into()).into()))
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
        let done = self.attempt_once();
        self.knowledge.end(done.is_ok());
        done
    }

    fn attempt_once(&mut self) -> Result<(), Failed> {
        let start = self.record.begin();
        self.compared = false;
        match self.perform() {
            Ok(()) => {}
            Err(Wrong::Record(error)) => return Err(error.into()),
            Err(Wrong::Database(Error::Lost(_))) if self.compared => return self.never_learnt(),
            // No commit was sent.
            Err(Wrong::Database(error)) => return self.gave_up(error),
            Err(Wrong::Insert(error)) => {
                return self.gave_up(error).map_err(|failed| match failed {
                    Failed::Aborted => Failed::Hopeless,
                    other => other,
                });
            }
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
            Err(Error::Lost(_)) => self.never_learnt(),
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
                self.learn(key, value);
            }
            Operation::Write(key) => {
                let value = self.new_value(key);
                self.record.write(name(key), value)?;
                self.session.write(key, value)?;
            }
            Operation::Append(key) => {
                let element = self.new_value(key);
                self.record.append(name(key), element)?;
                self.session.append(key, element)?;
            }
            Operation::ReadList(key) => {
                let elements = self.session.read_list(key)?;
                self.record.read_list(name(key), elements);
            }
            Operation::Insert(key) => {
                let value = self.new_value(key);
                self.record.insert(name(key), value)?;
                self.session.insert(key, value).map_err(Wrong::Insert)?;
            }
            Operation::Delete(key) => {
                let tombstone = self.new_value(key);
                self.record.delete(name(key), tombstone)?;
                self.session.delete(key, tombstone)?;
            }
            Operation::Range { lo, hi } => {
                let rows = self.session.range(lo, hi)?;
                self.record.range(name(lo), name(hi), rows.into_iter().map(|(key, value)| (name(key), value)));
            }
            Operation::CompareAndSet(key) => {
                let expected = self.knowledge.expected(key);
                let new = self.shared.next_value();
                self.record.compare_and_set(name(key), expected, new)?;
                self.compared = true;
                let succeeded = self.session.compare_and_set(key, expected, new)?;
                self.record.compared(succeeded);
                if succeeded {
                    self.learn(key, Some(new));
                }
            }
        }
        Ok(())
    }

    /// A value that nobody else writes; the client knows it from now on.
    fn new_value(&mut self, key: u64) -> i64 {
        let value = self.shared.next_value();
        self.learn(key, Some(value));
        value
    }

    fn learn(&mut self, key: u64, value: Option<i64>) {
        if self.shared.compares {
            self.knowledge.saw(key, value);
        }
    }

    /// Nobody knows whether the transaction has an effect.
    fn never_learnt(&mut self) -> Result<(), Failed> {
        self.record.unknown()?;
        self.shared.indeterminate.fetch_add(1, Ordering::Relaxed);
        Err(Failed::Lost)
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
