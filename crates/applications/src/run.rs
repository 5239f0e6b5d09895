//! One run: from a setup and seeds to what came of the assertions.

use isonomy_store::{Choice, StoreError, StoreLevel};
use isonomy_workload::Rng;

use crate::application::Application;
use crate::stage::Stage;

/// The stream of randomness that picks sessions.
const SCHEDULE: u64 = 0;

/// How an application is run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// What the store gives.
    pub level: StoreLevel,
    /// How its reads choose.
    pub choice: Choice,
    /// How many sessions there are.
    pub sessions: usize,
    /// How many operations each of them has.
    pub operations: usize,
    /// The operations follow from it.
    pub harness: u64,
    /// The order of steps and the choices of reads follow from it.
    pub seed: u64,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which assertions are broken, in the order of the application's list.
    pub broken: Vec<bool>,
    /// What clients saw: see [`Stage::state`].
    pub state: Vec<Option<Vec<i64>>>,
}

/// Why a run came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The store gave up.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A statement failed in a way that has nothing to do with isolation.
    #[error("`{statement}`: {source}")]
    Sql {
        /// The statement.
        statement: String,
        /// What is wrong with it.
        source: isonomy_sql::Error,
    },
    /// A part of the run that has to succeed did not.
    #[error("{doing}: {why}")]
    Stuck {
        /// Which part.
        doing: &'static str,
        /// What happened.
        why: &'static str,
    },
}

impl Setup {
    /// Three sessions at causal consistency, with the application's own number of operations.
    pub fn of(application: &dyn Application) -> Self {
        Setup {
            level: StoreLevel::Causal,
            choice: Choice::Uniform,
            sessions: 3,
            operations: application.operations(),
            harness: 0,
            seed: 0,
        }
    }

    /// The same with other operations, another order of steps and other choices.
    pub fn with_seed(&self, seed: u64) -> Self {
        Setup { harness: seed, seed, ..self.clone() }
    }

    /// Runs an application.
    pub fn run(&self, application: &dyn Application) -> Result<Outcome, RunError> {
        let mut stage = self.finished(application)?;
        Ok(Outcome { broken: stage.broken()?, state: stage.state() })
    }

    /// Runs an application up to where the assertions are to be checked.
    pub fn finished(&self, application: &dyn Application) -> Result<Box<dyn Stage>, RunError> {
        let mut stage = application.stage(self, None)?;
        let mut rng = Rng::stream(self.seed, SCHEDULE);
        let mut busy: Vec<usize> = (0..stage.sessions()).filter(|&session| !stage.is_done(session)).collect();
        while !busy.is_empty() {
            let at = rng.below(busy.len() as u64) as usize;
            stage.step(busy[at])?;
            if stage.is_done(busy[at]) {
                busy.remove(at);
            }
        }
        Ok(stage)
    }
}
