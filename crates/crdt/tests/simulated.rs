//! Simulated replicas without a bug are admitted; a planted bug is found in some runs, and shown by few operations.
//!
//! Up to 300 operations on 2 to 5 replicas. Whether a bug shows in the answers is a matter of luck, the more so where
//! these are yes or no; but for each type and each bug that it can have, there are runs in which it does.

mod common;

use common::{decide_within, show};
use isonomy_crdt::{Budget, Bug, DataType, Simulation, Verdict};

/// Objects, share of queries, delivery. Many queries of objects that seldom change tell the most of lost updates, few
/// objects the most of conflicts.
const SHAPES: [(usize, f64, f64); 5] = [(8, 0.85, 0.9), (30, 0.85, 0.9), (1, 0.6, 0.6), (2, 0.8, 0.8), (4, 0.6, 0.3)];

/// Runs of each type with each bug.
const RUNS: u64 = 60;

/// More than enough for all of them.
const WORK: u64 = 50_000_000;

fn sizes(seed: u64) -> (usize, usize) {
    ([40, 120, 300][seed as usize % 3], 2 + seed as usize / 3 % 4)
}

#[test]
fn without_bugs_all_is_well() {
    for data_type in DataType::ALL {
        for unique_values in [true, false] {
            for seed in 0..24 {
                let (operations, replicas) = sizes(seed);
                let simulation = Simulation { replicas, unique_values, ..Simulation::new(data_type, operations, seed) };
                let history = simulation.run();
                let verdict = decide_within(&history, &mut Budget::new(WORK));
                assert_eq!(verdict.name(), "holds", "{}", show(&history));
            }
        }
    }
}

#[test]
fn bugs_are_found() {
    for data_type in DataType::ALL {
        for bug in Bug::ALL.into_iter().filter(|bug| bug.applies_to(data_type)) {
            let (found, largest) = find(data_type, bug);
            assert!(found > 0 && largest < 150, "{data_type}: {bug}: {found} found, by up to {largest} operations");
        }
    }
}

/// In how many runs a bug shows, and the size of the largest counterexample.
fn find(data_type: DataType, bug: Bug) -> (usize, usize) {
    let (mut found, mut largest) = (0, 0);
    for seed in 0..RUNS {
        let (operations, replicas) = sizes(seed);
        let (objects, query_share, delivery) = SHAPES[seed as usize % SHAPES.len()];
        // The reads of an array tell of all of it.
        let query_share = if data_type == DataType::Rga { query_share / 3.0 } else { query_share };
        let simulation = Simulation {
            replicas,
            objects,
            query_share,
            delivery,
            bug: Some(bug),
            ..Simulation::new(data_type, operations, seed)
        };
        let history = simulation.run();
        let verdict = decide_within(&history, &mut Budget::new(WORK));
        match verdict {
            Verdict::Holds(_) => {}
            Verdict::Violated(counterexample) => {
                found += 1;
                largest = largest.max(counterexample.operations.len());
            }
            Verdict::Undecided => panic!("{bug}: {}", show(&history)),
        }
    }
    (found, largest)
}
