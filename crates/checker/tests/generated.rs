//! Histories that hold or fail by construction: the simulated store at a level, with and without a planted anomaly.

use isonomy_checker::certify::certify;
use isonomy_checker::{Anomaly as Found, IsolationLevel, Options, Terms, Verdict, check};
use isonomy_history::{History, HistoryBuilder};
use isonomy_workload::{Anomaly, HistorySpec, Preset, StoreLevel, TimeDetail};

const WEAK: [IsolationLevel; 3] = [IsolationLevel::ReadCommitted, IsolationLevel::ReadAtomic, IsolationLevel::Causal];
const STORES: [&str; 6] = ["read-committed", "read-atomic", "causal", "prefix", "snapshot-isolation", "serializable"];
const PRESETS: [Preset; 5] = [Preset::A, Preset::C, Preset::D, Preset::ListAppend, Preset::BlindRw];

fn generate(spec: &HistorySpec) -> History {
    let mut builder = HistoryBuilder::new();
    spec.generate(&mut builder).expect("the specification is sound");
    builder.finish().expect("the simulated store writes no value twice")
}

/// The verdict, certified.
fn holds(history: &History, level: IsolationLevel, name: &str) -> bool {
    let verdict = check(history, level, &Options::default());
    if let Err(flaw) = certify(history, level, Terms::default(), &verdict) {
        panic!("{name} at {level}: {flaw}");
    }
    match verdict {
        Verdict::Holds(_) => true,
        Verdict::Violated(counterexample) => {
            assert!(counterexample.anomaly.rules_out(level), "{name}: {} at {level}", counterexample.anomaly);
            false
        }
        Verdict::Undecided(reason) => panic!("{name} at {level}: {reason}"),
    }
}

#[test]
fn stores_give_what_they_promise_and_little_more() {
    for store in STORES {
        let promised: IsolationLevel = store.parse().expect("stores are named after levels");
        let level: StoreLevel = store.parse().expect("it is a store");
        for preset in PRESETS {
            // Not all shapes can show every anomaly, and lists hide stale versions: at least one seed must.
            let mut more = [0; 3];
            for seed in 1..=4 {
                let times = if seed % 2 == 0 { TimeDetail::Points } else { TimeDetail::None };
                let spec = HistorySpec { transactions: 1500, level, times, seed, ..preset.spec() };
                let history = generate(&spec);
                let name = format!("{store}, {}, seed {seed}", preset.name());
                for (weak, more) in WEAK.into_iter().zip(&mut more) {
                    let holds = holds(&history, weak, &name);
                    assert!(holds || !promised.implies(weak), "{name} violates {weak}");
                    *more += u32::from(holds);
                }
            }
            let shows = matches!(preset, Preset::A | Preset::C);
            for (weak, holding) in WEAK.into_iter().zip(more) {
                assert!(
                    promised.implies(weak) || !shows || holding < 4,
                    "{store}, {} always satisfies {weak}",
                    preset.name()
                );
            }
        }
    }
}

#[test]
fn planted_anomalies_are_found_and_nothing_else() {
    for &anomaly in Anomaly::ALL {
        for seed in 1..=3 {
            let level = StoreLevel::Serializable;
            let spec = HistorySpec { transactions: 1500, level, plant: Some(anomaly), seed, ..Preset::A.spec() };
            let history = generate(&spec);
            for weak in WEAK {
                let ruled_out = anomaly.rules_out(weak.name().parse().expect("there is a store of each weak level"));
                let name = format!("{} planted, seed {seed}", anomaly.name());
                assert_eq!(holds(&history, weak, &name), !ruled_out, "{name} at {weak}");
            }
        }
    }
}

#[test]
fn planted_anomalies_are_named() {
    for &anomaly in Anomaly::ALL {
        let Ok(expected) = anomaly.name().parse::<Found>() else { continue };
        let spec = HistorySpec {
            transactions: 500,
            level: StoreLevel::Serializable,
            plant: Some(anomaly),
            seed: 5,
            ..Preset::A.spec()
        };
        let history = generate(&spec);
        let weakest = WEAK.into_iter().find(|&weak| expected.info().rules_out.contains(&weak));
        let Some(weakest) = weakest else { continue };
        let Verdict::Violated(counterexample) = check(&history, weakest, &Options::default()) else {
            panic!("{expected} is not found at {weakest}")
        };
        assert_eq!(counterexample.anomaly, expected, "at {weakest}");
        assert!(counterexample.transactions().len() <= 5, "{expected}: {:?}", counterexample.transactions());
    }
}
