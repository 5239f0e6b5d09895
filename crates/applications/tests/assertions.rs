//! Which assertions break at which levels, and that what was recorded is what the store promises.

use isonomy::{HistoryBuilder, IsolationLevel, Options, Verdict, check};
use isonomy_applications::{Application, Measurement, Setup, all, find};
use isonomy_store::StoreLevel;

/// In how many of so many runs each assertion breaks, from seed 0 on.
fn broken(application: &dyn Application, level: StoreLevel, sessions: usize, runs: u64) -> Vec<(&'static str, u64)> {
    let setup = Setup { level, sessions, ..Setup::of(application) };
    let mut measurement = Measurement::new(application);
    for seed in 0..runs {
        measurement.run(application, &setup, seed).unwrap();
    }
    let names = application.assertions().iter().map(|assertion| assertion.name);
    names.zip(measurement.tallies.iter().map(|tally| tally.broken)).collect()
}

fn is_on_sql(application: &dyn Application) -> bool {
    !application.is_small()
}

#[test]
fn serializable_transactions_break_nothing() {
    for application in all() {
        let runs = if is_on_sql(*application) { 100 } else { 1_000 };
        for level in [StoreLevel::Serializable, StoreLevel::StrictSerializable] {
            for sessions in [2, 3] {
                let broken = broken(*application, level, sessions, runs);
                assert!(broken.iter().all(|(_, runs)| *runs == 0), "{application:?} at {level}: {broken:?}");
            }
        }
    }
}

#[test]
fn causal_consistency_breaks_all_assertions_on_keys_and_values() {
    for application in all().iter().filter(|application| !is_on_sql(**application)) {
        let broken = broken(*application, StoreLevel::Causal, 3, 500);
        assert!(broken.iter().all(|(_, runs)| *runs > 0), "{application:?}: {broken:?}");
    }
}

#[test]
fn read_committed_breaks_all_assertions() {
    for application in all() {
        let runs = if is_on_sql(*application) { 60 } else { 500 };
        let broken = broken(*application, StoreLevel::ReadCommitted, 3, runs);
        assert!(broken.iter().all(|(_, runs)| *runs > 0), "{application:?}: {broken:?}");
    }
}

/// The thesis believes that A4 and A11 hold under causal consistency. They do not: see `docs/applications.md`.
#[test]
fn causal_consistency_breaks_assertions_on_sql() {
    for application in all().iter().filter(|application| is_on_sql(**application)) {
        let broken = broken(*application, StoreLevel::Causal, 3, 100);
        // A gap in the new orders needs several deliveries to miss the same order: one in fifty runs.
        let expected = broken.iter().filter(|(name, _)| *name != "A3");
        assert!(expected.clone().all(|(_, runs)| *runs > 0), "{application:?}: {broken:?}");
    }
}

/// Compare-and-set, and one key for a cart, are what the first committer protects; reading one thing and writing another is not.
#[test]
fn snapshot_isolation_breaks_some() {
    let any =
        |name: &str| broken(find(name).unwrap(), StoreLevel::SnapshotIsolation, 3, 500).iter().any(|(_, n)| *n > 0);
    assert!(!any("stack"));
    assert!(!any("shopping-cart"));
    assert!(any("courseware"));
}

#[test]
fn the_same_seed_is_the_same_run() {
    for application in all() {
        let setup = Setup::of(*application).with_seed(5);
        let [first, second] = [(); 2].map(|()| setup.finished(*application).unwrap().observed());
        assert_eq!(first, second);
        assert_eq!(first.len(), setup.sessions * setup.operations);
    }
}

#[test]
fn what_was_recorded_holds_at_the_level() {
    for application in all() {
        for level in StoreLevel::ALL {
            for seed in 0..5 {
                let setup = Setup { level, ..Setup::of(*application).with_seed(seed) };
                let mut stage = setup.finished(*application).unwrap();
                stage.broken().unwrap();
                let mut history = HistoryBuilder::new();
                stage.write_history(&mut history).unwrap();
                let promised: IsolationLevel = level.name().parse().unwrap();
                let verdict = check(&history.finish().unwrap(), promised, &Options::default());
                assert!(matches!(verdict, Verdict::Holds(_)), "{application:?} at {level}, seed {seed}: {verdict:?}");
            }
        }
    }
}
