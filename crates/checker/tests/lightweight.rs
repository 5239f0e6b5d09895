//! Generated lightweight transactions: linearizable, unless a link is missing.

use isonomy_checker::certify::certify;
use isonomy_checker::{Anomaly, IsolationLevel as L, Options, Terms, Verdict, check};
use isonomy_history::HistoryBuilder;
use isonomy_workload::LightweightSpec;

/// The verdicts on the history without and with missing links, certified.
fn check_both(spec: &LightweightSpec) {
    for missing_link in [false, true] {
        let spec = LightweightSpec { missing_link, ..spec.clone() };
        let mut builder = HistoryBuilder::new();
        let Ok(_) = spec.generate(&mut builder, None) else {
            assert!(missing_link && spec.transactions <= spec.keys, "{spec:?}");
            continue;
        };
        let history = builder.finish().expect("no value is written twice");
        let verdict = check(&history, L::Linearizable, &Options::default());
        if let Err(flaw) = certify(&history, L::Linearizable, Terms::default(), &verdict) {
            panic!("{spec:?}: {flaw}");
        }
        match verdict {
            Verdict::Holds(_) => assert!(!missing_link, "{spec:?}"),
            Verdict::Violated(found) => {
                assert_eq!((missing_link, found.anomaly), (true, Anomaly::ThinAirRead), "{spec:?}");
            }
            Verdict::Undecided(reason) => panic!("{spec:?}: {reason}"),
        }
    }
}

#[test]
fn histories_are_linearizable_unless_a_link_is_missing() {
    for seed in 0..6 {
        for (sessions, transactions) in [(1, 50), (7, 200), (40, 1000), (300, 90)] {
            for concurrent_share in [0.0, 0.3, 1.0] {
                for keys in [1, 5, 100] {
                    let spec = LightweightSpec {
                        sessions,
                        transactions,
                        concurrent_share,
                        keys,
                        seed,
                        ..LightweightSpec::default()
                    };
                    check_both(&spec);
                    check_both(&LightweightSpec { failed_share: 0.5, ..spec.clone() });
                    check_both(&LightweightSpec { indeterminate_share: 0.3, ..spec.clone() });
                    check_both(&LightweightSpec { failed_share: 0.2, indeterminate_share: 0.8, ..spec });
                }
            }
        }
    }
}

#[test]
fn small_and_large_ones() {
    for transactions in [0, 1, 2] {
        check_both(&LightweightSpec { transactions, ..LightweightSpec::default() });
    }
    check_both(&LightweightSpec::default());
    check_both(&LightweightSpec { sessions: 20_000, concurrent_share: 1.0, ..LightweightSpec::default() });
    check_both(&LightweightSpec { failed_share: 0.5, indeterminate_share: 0.1, ..LightweightSpec::default() });
}
