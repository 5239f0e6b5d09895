//! Prefix, snapshot isolation and its variants, serializability: against the oracle, and every verdict through the certifier.

mod support;

use isonomy_checker::certify::certify;
use isonomy_checker::oracle::Oracle;
use isonomy_checker::report::Certificate;
use isonomy_checker::{IsolationLevel as L, Options, Terms, Verdict, check};
use isonomy_history::History;

const STRONG: [L; 9] = [
    L::Linearizable,
    L::Prefix,
    L::SnapshotIsolation,
    L::AdyaSi,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::Serializable,
    L::StrictSerializable,
];

fn compare(history: &History, name: &str) {
    let oracle = Oracle::new(history);
    for level in STRONG {
        // With session order, without, and with clocks that differ, where each makes a difference.
        let mut all = vec![Terms::default()];
        if level.has_session_order() {
            all.push(Terms { session_order: false, ..Terms::default() });
        }
        if level.needs_times() && history.has_times() {
            all.push(Terms { clock_drift: 3, ..Terms::default() });
        }
        for terms in all {
            let options =
                Options { session_order: terms.session_order, clock_drift: terms.clock_drift, ..Options::default() };
            let verdict = check(history, level, &options);
            let told = || format!("{name}: {level}, {terms:?}\n{verdict:?}\n{}", support::shown(history));
            let found = match &verdict {
                Verdict::Holds(_) => Some(true),
                Verdict::Violated(counterexample) => {
                    // What the weak levels forbid, they forbid with session order; a level without it is ruled out by those that do
                    // without it as well.
                    let anomaly = counterexample.anomaly;
                    let weak = !level.implies(L::Causal) && anomaly.rules_out(L::Causal);
                    assert!(anomaly.rules_out(level) || weak, "{anomaly}: {}", told());
                    Some(false)
                }
                Verdict::Undecided(_) => None,
            };
            let expected = oracle.holds(level, terms);
            assert!(
                found == expected || expected.is_none() && !level.needs_times(),
                "expected {expected:?}: {}",
                told()
            );
            if found.is_some()
                && let Err(flaw) = certify(history, level, terms, &verdict)
            {
                panic!("{flaw}: {}", told());
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
        for level in STRONG {
            let verdict = check(history, level, &Options::default());
            let Some(certificate) = Certificate::new(history, level, Terms::default(), &verdict) else { continue };
            let text = serde_json::to_string(&certificate).expect("it can be written");
            let back: Certificate = serde_json::from_str(&text).expect("it can be read");
            assert_eq!(back.verdict(history), Ok((level, verdict)), "{name}");
        }
    });
}
