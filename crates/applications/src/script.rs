//! What an application consists of, and what it runs on.
//!
//! A [`Script`] has operations, each of one or more steps, and assertions. Its [`Place`] is a store of keys and values, or a database.

use std::{fmt, io};

use isonomy_history::Sink;
use isonomy_store::{Choice, Options, StoreLevel};
use isonomy_workload::Rng;

use crate::application::{Assertion, Control};
use crate::run::RunError;

/// How the transaction that looks at the end reads.
pub(crate) const AT_THE_END: Choice = Choice::Latest;

/// An application: what its clients do, and on what.
pub(crate) trait Script: Send + Sync + 'static {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const ASSERTIONS: &'static [Assertion];
    /// Operations of a session.
    const OPERATIONS: usize;
    /// Whether all that can happen can be explored.
    const IS_SMALL: bool;

    type Place: Place;
    /// One that is carried out in several steps says where it is.
    type Operation: Clone + fmt::Debug + Send + 'static;

    /// Makes tables, outside of a transaction.
    fn create(_client: &mut ClientOf<Self>) -> Result<(), Failure> {
        Ok(())
    }

    /// What is there at first, in one transaction.
    fn load(client: &mut ClientOf<Self>) -> Result<(), Failure>;

    /// Draws an operation.
    fn draw(rng: &mut Rng, turn: Turn) -> Self::Operation;

    /// The next step of an operation, inside of a transaction.
    fn step(operation: &mut Self::Operation, client: &mut ClientOf<Self>) -> Result<Step, Failure>;

    /// Which assertions are broken, by what clients saw and by what a read-only transaction finds at the end.
    fn broken(log: &[Logged<Self::Operation>], client: &mut ClientOf<Self>) -> Result<Vec<bool>, Failure>;
}

/// Which operation is to be drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) session: usize,
    pub(crate) sessions: usize,
    /// Its number in the session, from 0.
    pub(crate) number: usize,
}

impl Turn {
    /// A number that no other turn has, above 0.
    pub(crate) fn unique(self) -> i64 {
        (self.number * self.sessions + self.session + 1) as i64
    }
}

/// What a step came to.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The operation goes on.
    More,
    /// The operation is over, and answers this.
    Done(Vec<i64>),
}

/// Why a step did not come to its end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The level does not let it commit.
    Conflict,
    /// The application, or a constraint of the database, takes it back. Its client is told, and goes on.
    Refused,
    /// Nothing that an application could do about it.
    Broken(RunError),
}

/// An operation that ended.
#[derive(Clone, Debug)]
pub(crate) struct Logged<O> {
    pub(crate) session: usize,
    pub(crate) operation: O,
    pub(crate) answer: Option<Vec<i64>>,
}

/// What an application runs on.
pub(crate) trait Place: Sized + 'static {
    type Client: Client;

    fn open(options: Options, control: Option<Control>) -> Self;
    fn client(&self) -> Self::Client;
    /// From now on every session sees all that is committed so far.
    fn settle(&self);
    fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()>;
}

/// One session's way to what an application runs on.
pub(crate) trait Client {
    fn begin(&mut self) -> Result<(), Failure>;
    /// Begins a transaction whose reads return one of the latest values.
    fn begin_latest(&mut self, level: StoreLevel) -> Result<(), Failure>;
    fn commit(&mut self) -> Result<(), Failure>;
    fn rollback(&mut self);
}

pub(crate) type ClientOf<S> = <<S as Script>::Place as Place>::Client;

impl Failure {
    /// This failure where there is no way on.
    pub(crate) fn fatal(self, doing: &'static str) -> RunError {
        match self {
            Failure::Conflict => RunError::Stuck { doing, why: "the level did not let it commit" },
            Failure::Refused => RunError::Stuck { doing, why: "it was refused" },
            Failure::Broken(error) => error,
        }
    }
}
