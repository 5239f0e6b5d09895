//! Read-committed, read-atomic and causal against the oracle, and every verdict through the certifier.

mod support;

use isonomy_checker::certify::certify;
use isonomy_checker::oracle::Oracle;
use isonomy_checker::report::Certificate;
use isonomy_checker::{IsolationLevel, Options, Terms, Verdict, check};
use isonomy_history::History;

const WEAK: [IsolationLevel; 3] = [IsolationLevel::ReadCommitted, IsolationLevel::ReadAtomic, IsolationLevel::Causal];

fn compare(history: &History, name: &str) {
    let oracle = Oracle::new(history);
    for session_order in [true, false] {
        let terms = Terms { session_order, ..Terms::default() };
        for level in WEAK {
            let expected = oracle.holds(level, terms);
            let verdict = check(history, level, &Options { session_order, ..Options::default() });
            let found = match &verdict {
                Verdict::Holds(_) => true,
                Verdict::Violated(counterexample) => {
                    let anomaly = counterexample.anomaly;
                    assert!(anomaly.rules_out(level), "{name}: {anomaly} does not rule out {level}");
                    false
                }
                Verdict::Undecided(reason) => panic!("{name}: {level}: {reason}"),
            };
            if let Some(expected) = expected {
                assert_eq!(
                    found,
                    expected,
                    "{name}: {level}, session order {session_order}\n{}",
                    support::shown(history)
                );
            }
            if let Err(flaw) = certify(history, level, terms, &verdict) {
                panic!(
                    "{name}: {level}, session order {session_order}: {flaw}\n{verdict:?}\n{}",
                    support::shown(history)
                );
            }
        }
    }
}

#[test]
fn every_small_history_agrees_with_the_oracle() {
    let count = support::for_each_small_history(|history| compare(history, "small"));
    assert!(count > 600_000, "only {count} histories were met");
}

#[test]
fn random_histories_agree_with_the_oracle() {
    support::for_each_random_history(compare);
}

#[test]
fn certificates_survive_json() {
    let mut seed = 0;
    support::for_each_random_history(|history, name| {
        seed += 1;
        if seed % 50 != 0 {
            return;
        }
        for level in WEAK {
            let verdict = check(history, level, &Options::default());
            let certificate = Certificate::new(history, level, Terms::default(), &verdict).expect("it is decided");
            let text = serde_json::to_string(&certificate).expect("it can be written");
            let back: Certificate = serde_json::from_str(&text).expect("it can be read");
            assert_eq!(back.verdict(history), Ok((level, verdict)), "{name}");
        }
    });
}
