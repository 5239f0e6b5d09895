//! Histories hold at the level of their store, by the definition and in the store's own commit order; and not at the next.

mod axioms;

use axioms::{Ordered, Relations, generate};
use isonomy_history::History;
use isonomy_workload::{
    Application, Distribution, HistorySpec, Length, MiniMix, Preset, RangeMix, Shape, StoreLevel, TimeDetail, Workload,
};

fn workloads() -> Vec<Workload> {
    let general = Shape::General { length: Length::Between(1, 8), read_share: 0.5, single_access: false };
    let blind = Shape::Blind { length: Length::Fixed(4), read_only: 0.5 };
    let small = |keys, shape| Workload { keys, distribution: Distribution::ZIPFIAN, shape };
    vec![
        small(8, general),
        small(6, Shape::Mini(MiniMix::ALL)),
        small(10, Shape::cobra(6)),
        small(10, blind),
        small(4, Shape::ListAppend { length: Length::Between(1, 4), read_share: 0.5, appends_per_key: 8 }),
        small(6, Shape::Ranges { length: Length::Between(1, 4), mix: RangeMix::INSERT_DELETE_HEAVY, widest: 4 }),
        small(3, Shape::CAS_REGISTER),
        small(3, Shape::Application(Application::SmallBank)),
        small(1, Shape::Application(Application::TpcC)),
    ]
}

fn small(workload: Workload, level: StoreLevel, seed: u64) -> HistorySpec {
    HistorySpec { sessions: 5, transactions: 120, workload, level, seed, ..HistorySpec::default() }
}

fn check(spec: &HistorySpec) {
    let Ordered { history, order, .. } = generate(spec);
    let relations = Relations::of(&history);
    if let Err(why) = relations.hold_with(&order, spec.level) {
        panic!("{why}\nin the history of {spec:?}");
    }
}

#[test]
fn histories_hold_at_the_level_of_their_store() {
    for level in StoreLevel::ALL {
        for workload in workloads() {
            for seed in 0..6 {
                check(&small(workload.clone(), level, seed));
            }
        }
    }
}

#[test]
fn however_the_store_is_run() {
    for level in StoreLevel::ALL {
        for workload in workloads() {
            let spec = small(workload, level, 9);
            check(&HistorySpec { record_aborted: true, rollback_share: 0.1, ..spec.clone() });
            // Real time needs to know when every transaction ended.
            if !level.needs_times() {
                check(&HistorySpec { indeterminate_share: 0.3, record_aborted: true, ..spec.clone() });
            }
            check(&HistorySpec { times: TimeDetail::Bounds, ..spec.clone() });
            check(&HistorySpec { concurrency: Some(1), ..spec.clone() });
            check(&HistorySpec { concurrency: Some(2), sessions: 12, ..spec.clone() });
            for lag in [0, 1, 100, 127] {
                check(&HistorySpec { lag, transactions: 180, ..spec.clone() });
            }
        }
    }
}

/// Whether a history holds at a level, with any commit order.
fn holds(history: &History, level: StoreLevel) -> bool {
    let relations = Relations::of(history);
    match level {
        StoreLevel::ReadCommitted | StoreLevel::ReadAtomic | StoreLevel::Causal => relations.hold_weakly(level),
        _ => relations.hold_by_search(level),
    }
}

/// How many of ten histories of a store hold at a level.
fn held(store: StoreLevel, level: StoreLevel, workload: &Workload, sessions: u32) -> usize {
    let spec = |seed| HistorySpec { sessions, transactions: 60, ..small(workload.clone(), store, seed) };
    (0..10).filter(|&seed| holds(&generate(&spec(seed)).history, level)).count()
}

const CHAIN: [StoreLevel; 6] = [
    StoreLevel::ReadCommitted,
    StoreLevel::ReadAtomic,
    StoreLevel::Causal,
    StoreLevel::Prefix,
    StoreLevel::SnapshotIsolation,
    StoreLevel::Serializable,
];

/// Two ways: the search knows nothing of the store's commit order. And what a level allows really happens, except where the
/// shape cannot show it: transactions that only read or only write have no lost updates, and those that write just what they
/// read no write skew.
#[test]
fn histories_hold_at_their_level_and_usually_not_at_the_next() {
    let [general, mini, cobra, blind, lists, ..] = &workloads()[..] else { panic!("five workloads") };
    for (strength, &store) in CHAIN.iter().enumerate() {
        for (workload, sessions, at_most) in
            [(general, 2, 5), (general, 3, 5), (mini, 3, 5), (cobra, 3, 10), (blind, 2, 10), (lists, 3, 6)]
        {
            for &level in &CHAIN[..=strength] {
                assert_eq!(held(store, level, workload, sessions), 10, "{store} is not {level}: {workload:?}");
            }
            if let Some(&next) = CHAIN.get(strength + 1) {
                let held = held(store, next, workload, sessions);
                assert!(held <= at_most, "{held} of 10 histories of {store} hold at {next}: {workload:?}");
            }
        }
    }
}

#[test]
fn real_time_matters() {
    let spec =
        |level, seed| HistorySpec { times: TimeDetail::Points, ..small(workloads().swap_remove(3), level, seed) };
    let holds = |level, at| {
        let run = generate(&spec(level, 1));
        Relations::of(&run.history).hold_with(&run.order, at).is_ok()
    };
    assert!(!holds(StoreLevel::Serializable, StoreLevel::StrictSerializable));
    assert!(!holds(StoreLevel::SnapshotIsolation, StoreLevel::StrongSi));
}

/// Long enough that old versions are dropped many times.
#[test]
fn versions_are_dropped_only_when_nobody_needs_them() {
    for level in StoreLevel::ALL {
        for lag in [5, 127] {
            let spec = small(workloads().swap_remove(0), level, 3);
            check(&HistorySpec { transactions: 700, sessions: 12, lag, ..spec });
        }
    }
}

#[test]
fn presets_hold() {
    for preset in Preset::ALL {
        for level in [StoreLevel::SnapshotIsolation, StoreLevel::Serializable, StoreLevel::StrictSerializable] {
            check(&HistorySpec { transactions: 150, level, ..preset.spec() });
        }
    }
}
