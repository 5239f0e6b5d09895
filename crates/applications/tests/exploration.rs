//! That all runs are explored, and that random runs are among them.

use isonomy_applications::{Setup, all, explore};
use isonomy_store::StoreLevel;
use std::collections::HashSet;

/// What random runs reach is among what is explored, and soon all of it; weaker levels have more of it.
#[test]
fn random_runs_come_near_to_all_that_can_happen() {
    for application in all().iter().filter(|application| application.is_small() && application.name() != "stack") {
        for harness in 0..4 {
            let mut sizes = Vec::new();
            for level in [StoreLevel::ReadCommitted, StoreLevel::Causal, StoreLevel::Serializable] {
                let setup = Setup { level, sessions: 2, operations: 2, harness, ..Setup::of(*application) };
                let explored = explore(*application, &setup, 200_000).unwrap();
                assert!(explored.complete, "{application:?} at {level}, harness {harness}");
                let run = |seed| Setup { seed, ..setup.clone() }.finished(*application).unwrap().state();
                let reached: HashSet<_> = (0..3_000).map(run).collect();
                assert!(reached.iter().all(|state| explored.states.contains(state)));
                assert!(reached.len() * 10 >= explored.states.len() * 9, "{application:?}, {level}, harness {harness}");
                sizes.push(explored.states.len());
            }
            assert!(sizes.is_sorted_by(|a, b| a >= b), "{application:?}: {sizes:?}");
        }
    }
}

#[test]
fn no_order_of_serializable_transactions_breaks_anything() {
    for application in all().iter().filter(|application| application.is_small() && application.name() != "stack") {
        for harness in 0..4 {
            let level = StoreLevel::Serializable;
            let setup = Setup { level, sessions: 3, operations: 3, harness, ..Setup::of(*application) };
            let explored = explore(*application, &setup, 10_000).unwrap();
            // 9! / (3!)³ orders, and no choices.
            assert!(explored.complete);
            assert_eq!(explored.runs, 1_680);
            assert!(explored.broken.iter().all(|broken| !broken));
        }
    }
}
