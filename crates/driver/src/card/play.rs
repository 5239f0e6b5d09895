//! Plays a scenario.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use isonomy_history::{Datum, History, HistoryBuilder, Name, Outcome, Times};

use super::scenarios::{Scenario, Step};
use crate::database::{Database, Row, Session, Value};
use crate::error::Error;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was done.
    Done,
    /// It wrote this.
    Wrote(Value),
    /// It read this.
    Saw(Option<Value>),
    /// It found these rows.
    Rows(Vec<Row>),
    /// The database gave the transaction up.
    Aborted(String),
    /// The transaction was over already.
    Skipped,
    /// There was none in the time there was.
    Never,
}

/// A step, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedStep {
    /// Whose it is, from 1.
    pub session: u32,
    /// What it is.
    pub step: Step,
    /// What came of it.
    pub answer: Answer,
    /// Whether the session had to wait: others went on before the answer came.
    pub waited: bool,
}

/// A scenario as it went.
#[derive(Debug)]
pub struct Played {
    /// The steps, in the order in which they were sent.
    pub steps: Vec<PlayedStep>,
    /// What the sessions saw.
    pub history: History,
}

/// Plays a scenario on a database, whose tables are emptied. Who gives no answer for `patience` is taken to wait for somebody, and the others
/// go on; who gives none for `limit` after the last step is given up.
pub fn play(
    database: &dyn Database,
    scenario: &Scenario,
    patience: Duration,
    limit: Duration,
) -> Result<Played, Error> {
    database.prepare()?;
    let clock = Instant::now();
    let mut values = 1..;
    let mut history = HistoryBuilder::new();
    setup(database, &mut history, &mut values, clock)?;
    let mut stage = Stage {
        actors: (1..=scenario.sessions()).map(|number| Actor::new(database, number)).collect::<Result<_, _>>()?,
        played: Vec::new(),
        clock,
        patience,
    };
    for (session, step) in scenario.steps() {
        let value = match step {
            Step::Write(_) | Step::Insert(_) => values.next().expect("there are enough"),
            _ => 0,
        };
        let index = stage.played.len();
        stage.played.push(PlayedStep { session, step, answer: Answer::Never, waited: false });
        stage.actor(session).queue.push_back((index, value));
        stage.go_on(session, patience)?;
    }
    // Everybody may still wait for somebody else.
    let end = Instant::now() + limit;
    while stage.actors.iter().any(Actor::is_busy) && Instant::now() < end {
        for session in 1..=scenario.sessions() {
            stage.go_on(session, Duration::from_millis(10))?;
        }
    }
    let Stage { actors, played, .. } = stage;
    for actor in &actors {
        actor.record(&mut history);
    }
    let history = history.finish().map_err(|error| Error::Refused(format!("the answers make no history: {error}")))?;
    Ok(Played { steps: played, history })
}

/// Keys 1 and 2, by a session of their own.
fn setup(
    database: &dyn Database,
    history: &mut HistoryBuilder,
    values: &mut impl Iterator<Item = Value>,
    clock: Instant,
) -> Result<(), Error> {
    let start = elapsed(clock);
    let mut session = database.connect(0)?;
    session.begin()?;
    history.begin(Name::Text("setup"));
    for key in [1, 2] {
        let value = values.next().expect("there are enough");
        session.write(key, value)?;
        history.write(Name::Int(key as i64), Datum::Int(value));
    }
    session.commit()?;
    history.set_times(Times { start: Some(start), finish: Some(elapsed(clock)), ..Times::default() });
    Ok(())
}

fn elapsed(clock: Instant) -> i64 {
    i64::try_from(clock.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

struct Stage {
    actors: Vec<Actor>,
    played: Vec<PlayedStep>,
    clock: Instant,
    patience: Duration,
}

impl Stage {
    fn actor(&mut self, session: u32) -> &mut Actor {
        &mut self.actors[session as usize - 1]
    }

    /// Lets a session do what it is asked for, as far as it gets.
    fn go_on(&mut self, session: u32, patience: Duration) -> Result<(), Error> {
        let (clock, played) = (self.clock, &mut self.played);
        let actor = &mut self.actors[session as usize - 1];
        while actor.advance(played, clock, patience)? {}
        // Whoever waited for this one may have an answer by now.
        for other in 0..self.actors.len() {
            if other + 1 != session as usize && self.actors[other].asked.is_some() {
                while self.actors[other].advance(&mut self.played, clock, self.patience.min(ANSWERED))? {}
            }
        }
        Ok(())
    }
}

/// How long an answer takes to arrive that nothing holds up any more.
const ANSWERED: Duration = Duration::from_millis(50);

/// A session with a thread of its own, so that it can wait without anybody else having to.
struct Actor {
    number: u32,
    steps: Sender<(Step, Value)>,
    answers: Receiver<Result<Answer, Error>>,
    /// What it is to do next: steps by number, with the values that they write.
    queue: VecDeque<(usize, Value)>,
    /// The step that has been sent and not answered.
    asked: Option<usize>,
    /// Its transactions so far; the last may be open.
    transactions: Vec<Transaction>,
    is_open: bool,
}

struct Transaction {
    start: i64,
    began: Option<i64>,
    committing: Option<i64>,
    finish: Option<i64>,
    outcome: Outcome,
    events: Vec<(Step, Answer)>,
}

impl Actor {
    fn new(database: &dyn Database, number: u32) -> Result<Self, Error> {
        let mut session = database.connect(number)?;
        let (steps, asked) = channel::<(Step, Value)>();
        let (answer, answers) = channel();
        thread::spawn(move || {
            for (step, value) in asked {
                if answer.send(act(&mut *session, step, value)).is_err() {
                    return;
                }
            }
        });
        Ok(Actor {
            number,
            steps,
            answers,
            queue: VecDeque::new(),
            asked: None,
            transactions: Vec::new(),
            is_open: false,
        })
    }

    fn is_busy(&self) -> bool {
        self.asked.is_some() || !self.queue.is_empty()
    }

    /// Sends the next step or waits for the answer to the last one; whether anything came of it and there is more to do.
    fn advance(&mut self, played: &mut [PlayedStep], clock: Instant, patience: Duration) -> Result<bool, Error> {
        if self.asked.is_none() {
            let Some((index, value)) = self.queue.pop_front() else { return Ok(false) };
            let step = played[index].step;
            if step != Step::Begin && !self.is_open {
                played[index].answer = Answer::Skipped;
                return Ok(true);
            }
            self.before(step, value, clock);
            // The thread is gone only if the session panicked, and then there will be no answer either.
            let _ = self.steps.send((step, value));
            self.asked = Some(index);
        }
        let Some(index) = self.asked else { return Ok(false) };
        match self.answers.recv_timeout(patience) {
            Ok(answer) => {
                self.asked = None;
                let answer = answer?;
                self.after(played[index].step, &answer, clock);
                played[index].answer = answer;
                Ok(true)
            }
            Err(RecvTimeoutError::Timeout) => {
                played[index].waited = true;
                Ok(false)
            }
            Err(RecvTimeoutError::Disconnected) => Err(Error::Lost("a session ended".into())),
        }
    }

    fn before(&mut self, step: Step, value: Value, clock: Instant) {
        let now = elapsed(clock);
        match step {
            Step::Begin => {
                self.is_open = true;
                self.transactions.push(Transaction {
                    start: now,
                    began: None,
                    committing: None,
                    finish: None,
                    outcome: Outcome::Indeterminate,
                    events: Vec::new(),
                });
            }
            Step::Commit => self.current().committing = Some(now),
            // If no answer ever comes, it may have been written all the same.
            Step::Write(_) | Step::Insert(_) => self.current().events.push((step, Answer::Wrote(value))),
            Step::Read(_) | Step::Range(..) | Step::Rollback => {}
        }
    }

    fn after(&mut self, step: Step, answer: &Answer, clock: Instant) {
        let now = elapsed(clock);
        let aborted = matches!(answer, Answer::Aborted(_));
        let current = self.current();
        match step {
            Step::Read(_) | Step::Range(..) if !aborted => current.events.push((step, answer.clone())),
            _ => {}
        }
        if step != Step::Begin {
            current.began.get_or_insert(now);
        }
        if aborted || step == Step::Rollback {
            current.outcome = Outcome::Aborted;
        } else if step == Step::Commit {
            current.outcome = Outcome::Committed;
            current.finish = Some(now);
        } else {
            return;
        }
        self.is_open = false;
    }

    fn current(&mut self) -> &mut Transaction {
        self.transactions.last_mut().expect("a transaction is open")
    }

    fn record(&self, history: &mut HistoryBuilder) {
        for transaction in &self.transactions {
            history.begin(Name::Int(i64::from(self.number)));
            history.set_outcome(transaction.outcome);
            let &Transaction { start, began, committing, finish, .. } = transaction;
            let bounded = transaction.outcome == Outcome::Committed;
            history.set_times(Times {
                start: Some(start),
                began: began.filter(|_| bounded),
                committing: committing.filter(|_| bounded),
                finish,
            });
            for (step, answer) in &transaction.events {
                match (*step, answer) {
                    (Step::Read(key), Answer::Saw(value)) => history.read(name(key), datum(*value)),
                    (Step::Write(key), Answer::Wrote(value)) => history.write(name(key), Datum::Int(*value)),
                    (Step::Insert(key), Answer::Wrote(value)) => history.insert(name(key), Datum::Int(*value)),
                    (Step::Range(lo, hi), Answer::Rows(rows)) => {
                        let rows = rows.iter().map(|&(key, value)| (name(key), Datum::Int(value)));
                        history.range(name(lo), name(hi), rows);
                    }
                    _ => unreachable!("reads are answered by values, and writes by what they wrote"),
                }
            }
        }
    }
}

fn name(key: u64) -> Name<'static> {
    Name::Int(key as i64)
}

fn datum(value: Option<Value>) -> Datum<'static> {
    value.map_or(Datum::Initial, Datum::Int)
}

/// Does a step. Only what ends the whole play is an error.
fn act(session: &mut dyn Session, step: Step, value: Value) -> Result<Answer, Error> {
    let answer = match step {
        Step::Begin => session.begin().map(|()| Answer::Done),
        Step::Read(key) => session.read(key).map(Answer::Saw),
        Step::Write(key) => session.write(key, value).map(|()| Answer::Wrote(value)),
        Step::Insert(key) => session.insert(key, value).map(|()| Answer::Wrote(value)),
        Step::Range(lo, hi) => session.range(lo, hi).map(Answer::Rows),
        Step::Commit => session.commit().map(|()| Answer::Done),
        Step::Rollback => session.rollback().map(|()| Answer::Done),
    };
    match answer {
        Err(Error::Aborted(why)) => {
            session.rollback()?;
            Ok(Answer::Aborted(why))
        }
        answer => answer,
    }
}
