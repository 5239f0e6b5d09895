//! A run in progress: sessions with operations that are carried out step by step, each step one transaction.
//!
//! Steps are what is interleaved. The store runs one transaction at a time and simulates concurrency when it answers reads, so nothing
//! is lost by running each step from begin to commit; and no threads are needed, so a run can be repeated.
//!
//! What an application does is its [`Script`].

use std::fmt;
use std::io;
use std::marker::PhantomData;

use isonomy_history::Sink;
use isonomy_store::{Options, StoreLevel};
use isonomy_workload::Rng;

use crate::application::{Application, Assertion, Control};
use crate::run::{RunError, Setup};
use crate::script::{Client, ClientOf, Failure, Logged, Place, Script, Step, Turn};

/// How often a step is tried whose transaction the level does not let commit.
const ATTEMPTS: u32 = 64;

/// Streams of randomness that must not disturb each other.
const OPERATIONS: u64 = 1;

/// A run in progress.
pub trait Stage {
    /// How many sessions there are.
    fn sessions(&self) -> usize;

    /// Whether a session has carried out all of its operations.
    fn is_done(&self, session: usize) -> bool;

    /// Carries out the next step of a session, again and again while the level does not let it commit.
    fn step(&mut self, session: usize) -> Result<(), RunError>;

    /// Carries out the next step of a session once. `false` if the level did not let it commit: then nothing has happened.
    fn try_step(&mut self, session: usize) -> Result<bool, RunError>;

    /// Which assertions are broken, in the order of the application's list. For when all sessions are done.
    fn broken(&mut self) -> Result<Vec<bool>, RunError>;

    /// What clients saw, in the order in which their operations ended.
    fn observed(&self) -> Vec<Observed>;

    /// What clients saw, session by session: runs with the same state are the same to them.
    fn state(&self) -> Vec<Option<Vec<i64>>>;

    /// All transactions so far, as a history.
    fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()>;
}

/// What a client saw of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Whose it was, from 0.
    pub session: usize,
    /// What was asked for.
    pub operation: String,
    /// What came back; nothing if it was refused.
    pub answer: Option<Vec<i64>>,
}

/// The application that a script describes.
pub(crate) struct Play<S>(PhantomData<fn() -> S>);

impl<S: Script> Play<S> {
    pub(crate) const NEW: Self = Play(PhantomData);
}

impl<S: Script> fmt::Debug for Play<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(S::NAME)
    }
}

impl<S: Script> Application for Play<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn about(&self) -> &'static str {
        S::ABOUT
    }

    fn assertions(&self) -> &'static [Assertion] {
        S::ASSERTIONS
    }

    fn operations(&self) -> usize {
        S::OPERATIONS
    }

    fn is_small(&self) -> bool {
        S::IS_SMALL
    }

    fn stage(&self, setup: &Setup, control: Option<Control>) -> Result<Box<dyn Stage>, RunError> {
        let options = Options { level: setup.level, choice: setup.choice, seed: setup.seed, ..Options::default() };
        let place = S::Place::open(options, control);
        let mut loader = place.client();
        let loaded = S::create(&mut loader).and_then(|()| {
            loader.begin()?;
            S::load(&mut loader)?;
            loader.commit()
        });
        loaded.map_err(|failure| failure.fatal("loading"))?;
        place.settle();
        let actors = (0..setup.sessions).map(|session| {
            let mut rng = Rng::stream(setup.harness, OPERATIONS + session as u64);
            let turns = (0..setup.operations).map(|number| Turn { session, sessions: setup.sessions, number });
            let mut operations: Vec<_> = turns.map(|turn| S::draw(&mut rng, turn)).collect();
            operations.reverse();
            Actor { client: place.client(), operations }
        });
        let actors = actors.collect();
        Ok(Box::new(Running::<S> { place, level: setup.level, actors, log: Vec::new() }))
    }
}

/// A run of a script.
struct Running<S: Script> {
    place: S::Place,
    level: StoreLevel,
    actors: Vec<Actor<S>>,
    log: Vec<Logged<S::Operation>>,
}

/// A session.
struct Actor<S: Script> {
    client: ClientOf<S>,
    /// The next one is the last; it may be half done.
    operations: Vec<S::Operation>,
}

impl<S: Script> Actor<S> {
    /// One attempt at the next step. Only if it commits has it happened, for the store as for the operation.
    fn attempt(&mut self) -> Result<(S::Operation, Step), Failure> {
        let mut operation = self.operations.last().expect("the session is not done").clone();
        let client = &mut self.client;
        let tried = client.begin().and_then(|()| {
            let step = S::step(&mut operation, client)?;
            client.commit()?;
            Ok(step)
        });
        if tried.is_err() {
            client.rollback();
        }
        Ok((operation, tried?))
    }
}

impl<S: Script> Running<S> {
    /// Notes that the next operation of a session is over.
    fn end(&mut self, session: usize, operation: S::Operation, answer: Option<Vec<i64>>) {
        self.actors[session].operations.pop();
        self.log.push(Logged { session, operation, answer });
    }
}

impl<S: Script> Stage for Running<S> {
    fn sessions(&self) -> usize {
        self.actors.len()
    }

    fn is_done(&self, session: usize) -> bool {
        self.actors[session].operations.is_empty()
    }

    fn step(&mut self, session: usize) -> Result<(), RunError> {
        for _ in 0..ATTEMPTS {
            if self.try_step(session)? {
                return Ok(());
            }
        }
        let operation = self.actors[session].operations.last().expect("the session is not done").clone();
        self.end(session, operation, None);
        Ok(())
    }

    fn try_step(&mut self, session: usize) -> Result<bool, RunError> {
        let actor = &mut self.actors[session];
        match actor.attempt() {
            Ok((operation, Step::More)) => *actor.operations.last_mut().expect("it was there") = operation,
            Ok((operation, Step::Done(answer))) => self.end(session, operation, Some(answer)),
            Err(Failure::Refused) => {
                let operation = actor.operations.last().expect("it was there").clone();
                self.end(session, operation, None);
            }
            Err(Failure::Conflict) => return Ok(false),
            Err(Failure::Broken(error)) => return Err(error),
        }
        Ok(true)
    }

    fn broken(&mut self) -> Result<Vec<bool>, RunError> {
        // A session of its own, which begins now and so sees all that the others did: what is wrong is then their doing.
        let mut client = self.place.client();
        let mut last = Failure::Conflict;
        for _ in 0..ATTEMPTS {
            let found = client.begin_latest(self.level).and_then(|()| {
                let found = S::broken(&self.log, &mut client)?;
                client.commit()?;
                Ok(found)
            });
            match found {
                Ok(broken) => {
                    debug_assert_eq!(broken.len(), S::ASSERTIONS.len(), "each assertion has its answer");
                    return Ok(broken);
                }
                Err(failure) => last = failure,
            }
            client.rollback();
        }
        Err(last.fatal("checking the assertions"))
    }

    fn observed(&self) -> Vec<Observed> {
        let observed = |entry: &Logged<S::Operation>| Observed {
            session: entry.session,
            operation: format!("{:?}", entry.operation),
            answer: entry.answer.clone(),
        };
        self.log.iter().map(observed).collect()
    }

    fn state(&self) -> Vec<Option<Vec<i64>>> {
        let mut entries: Vec<&Logged<S::Operation>> = self.log.iter().collect();
        entries.sort_by_key(|entry| entry.session);
        entries.into_iter().map(|entry| entry.answer.clone()).collect()
    }

    fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()> {
        self.place.write_history(sink)
    }
}
