//! The checker, which sees only answers, against the trial, which knows what had arrived.
//!
//! If every answer is what the type says of what had arrived, the history is admitted. So what the checker rejects deviates;
//! what it admits may deviate all the same, where other deliveries would explain the answers.

use isonomy_crdt::{Budget, DataType, Effort, Verdict, certify, check};
use isonomy_replicas::{Delivery, Library, Run, Trial};

/// Trials of each library and type.
const SEEDS: u64 = 60;

/// More than enough for all of them.
const WORK: u64 = 50_000_000;

/// Trials of many shapes.
fn trial(library: Library, data_type: DataType, seed: u64) -> Trial {
    Trial {
        delivery: if seed.is_multiple_of(2) { Delivery::States } else { Delivery::Operations },
        replicas: 2 + (seed % 4) as u32,
        operations: [12, 30, 60, 100][seed as usize / 4 % 4],
        objects: 1 + (seed / 3 % 3) as u32,
        query_share: [0.3, 0.5, 0.7][seed as usize % 3],
        sync_share: [0.1, 0.25, 0.5][seed as usize / 5 % 3],
        unique_values: !seed.is_multiple_of(3),
        final_sync: !seed.is_multiple_of(7),
        seed,
        ..Trial::new(library, data_type)
    }
}

/// Whether the checker admits what happened, its evidence checked.
fn admits(run: &Run) -> bool {
    let verdict = check(&run.history, &mut Budget::new(WORK), &mut Effort::default());
    assert!(!matches!(verdict, Verdict::Undecided), "undecided:\n{run}");
    certify(&run.history, &verdict).unwrap_or_else(|fault| panic!("{fault}:\n{run}"));
    matches!(verdict, Verdict::Holds(_))
}

#[test]
fn what_is_rejected_deviates() {
    for library in Library::ALL {
        for offer in library.offers() {
            let mut rejected = 0;
            // Automerge takes most of the time.
            let seeds = if library == Library::Automerge { SEEDS / 4 } else { SEEDS };
            for seed in 0..seeds {
                let run = trial(library, offer.data_type, seed).run().expect("the library takes all of it");
                let deviation = run.deviation();
                let admitted = admits(&run);
                assert!(admitted || deviation.is_some(), "rejected without deviation, seed {seed}:\n{run}");
                rejected += u64::from(!admitted);
            }
            // Two lists are not RGAs, and it shows.
            let shows = offer.data_type == DataType::Rga && library != Library::Automerge;
            assert_eq!(rejected > 0, shows, "{library} {}: {rejected} of {seeds} rejected", offer.data_type);
        }
    }
}
