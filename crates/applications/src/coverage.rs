//! How much of what clients can see at all they do see in random runs (section 4.5.3 of the thesis).
//!
//! A harness fixes how many sessions there are and what each of them asks for. What its clients are answered is its state. Exploring gives all states
//! that a level allows; random runs give some of them. Harnesses have 2 or 3 sessions of 2 to 4 operations each, as in the thesis.

use isonomy_store::{Choice, StoreLevel};
use isonomy_workload::Rng;
use rustc_hash::FxHashSet;

use crate::application::Application;
use crate::explore::explore;
use crate::run::{RunError, Setup};

/// The stream of randomness that draws sizes.
const SIZES: u64 = 1_000;

/// How coverage is measured.
#[derive(Clone, Debug)]
pub struct CoverageSpec {
    /// What the store gives.
    pub level: StoreLevel,
    /// How its reads choose in random runs.
    pub choice: Choice,
    /// How many random runs a harness has.
    pub runs: u64,
    /// How many runs may be explored.
    pub limit: u64,
}

impl Default for CoverageSpec {
    fn default() -> Self {
        CoverageSpec { level: StoreLevel::Causal, choice: Choice::Uniform, runs: 2_000, limit: 100_000 }
    }
}

/// What was seen of a harness.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// How many sessions it has.
    pub sessions: usize,
    /// How many operations each has.
    pub operations: usize,
    /// How many states random runs reached.
    pub reached: u64,
    /// How many states there are; how many were found, if not all runs were explored.
    pub states: u64,
    /// How many runs were explored.
    pub explored: u64,
    /// Whether all runs were explored.
    pub complete: bool,
}

/// Measures a harness, which follows from its number.
pub fn cover(application: &dyn Application, spec: &CoverageSpec, harness: u64) -> Result<Coverage, RunError> {
    let mut rng = Rng::stream(harness, SIZES);
    let (sessions, operations) = (2 + rng.below(2) as usize, 2 + rng.below(3) as usize);
    let setup = Setup { level: spec.level, choice: spec.choice, sessions, operations, harness, seed: 0 };
    let explored = explore(application, &setup, spec.limit)?;
    let mut reached = FxHashSet::default();
    for seed in 0..spec.runs {
        // Seeds of other harnesses are not to be the same.
        let seed = harness.wrapping_mul(1 << 32).wrapping_add(seed);
        let stage = Setup { seed, ..setup.clone() }.finished(application)?;
        reached.insert(stage.state());
    }
    debug_assert!(!explored.complete || reached.is_subset(&explored.states), "random runs are among all runs");
    Ok(Coverage {
        sessions,
        operations,
        reached: reached.len() as u64,
        states: explored.states.len() as u64,
        explored: explored.runs,
        complete: explored.complete,
    })
}
