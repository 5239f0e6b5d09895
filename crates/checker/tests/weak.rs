//! Read-committed, read-atomic and causal against the oracle, and every verdict through the certifier.

mod support;

use isonomy_checker::certify::certify;
use isonomy_checker::oracle::{Oracle, OracleOptions};
use isonomy_checker::report::Certificate;
use isonomy_checker::{IsolationLevel, Options, Verdict, check};
use isonomy_history::History;

const WEAK: [IsolationLevel; 3] = [IsolationLevel::ReadCommitted, IsolationLevel::ReadAtomic, IsolationLevel::Causal];

fn compare(history: &History, name: &str) {
    let oracle = Oracle::new(history);
    for session_order in [true, false] {
        for level in WEAK {
            let expected = oracle.holds(level, OracleOptions { session_order, ..OracleOptions::default() });
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
                assert_eq!(found, expected, "{name}: {level}, session order {session_order}\n{}", shown(history));
            }
            if let Err(flaw) = certify(history, level, session_order, &verdict) {
                panic!("{name}: {level}, session order {session_order}: {flaw}\n{verdict:?}\n{}", shown(history));
            }
        }
    }
}

fn shown(history: &History) -> String {
    let mut text = Vec::new();
    let written = isonomy_history::formats::write(history, isonomy_history::formats::Format::Hist, &mut text);
    written.expect("hist can be written").expect("a vector takes all");
    String::from_utf8(text).expect("hist is text")
}

/// Levels without a checker of their own are never said to hold, and said to be violated only where they are.
fn compare_strong(history: &History, name: &str) {
    let oracle = Oracle::new(history);
    for session_order in [true, false] {
        for level in IsolationLevel::ALL.into_iter().filter(|level| !WEAK.contains(level)) {
            let verdict = check(history, level, &Options { session_order, ..Options::default() });
            match verdict {
                Verdict::Holds(_) => panic!("{name}: {level} has no checker"),
                Verdict::Violated(_) => {
                    let expected = oracle.holds(level, OracleOptions { session_order, ..OracleOptions::default() });
                    assert_ne!(expected, Some(true), "{name}: {level}\n{}", shown(history));
                    if let Err(flaw) = certify(history, level, session_order, &verdict) {
                        panic!("{name}: {level}: {flaw}\n{}", shown(history));
                    }
                }
                Verdict::Undecided(_) => {}
            }
        }
    }
}

#[test]
fn stronger_levels_are_violated_where_weaker_ones_are() {
    support::for_each_random_history(compare_strong);
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
            let certificate = Certificate::new(history, level, true, &verdict).expect("it is decided");
            let text = serde_json::to_string(&certificate).expect("it can be written");
            let back: Certificate = serde_json::from_str(&text).expect("it can be read");
            assert_eq!(back.verdict(history), Ok((level, verdict)), "{name}");
        }
    });
}
