//! Every scenario on simulated stores: the anomaly shows where the level allows it in this interleaving, and never where it rules it out.

use std::time::Duration;

use isonomy_checker::{IsolationLevel, Options, Verdict, check};
use isonomy_driver::card::{Answer, SCENARIOS, play};
use isonomy_driver::open;

#[test]
fn a_store_never_shows_what_its_level_rules_out() {
    let mut shown = 0;
    for store in ["read-committed", "read-atomic", "snapshot-isolation", "serializable", "strict-serializable"] {
        let promised: IsolationLevel = store.parse().unwrap();
        for scenario in &SCENARIOS {
            let database = open(&[&format!("mock:{store}")], None).unwrap();
            let played = play(&*database, scenario, Duration::from_millis(200), Duration::from_secs(5)).unwrap();
            assert_eq!(played.steps.len(), scenario.steps().count());
            assert!(played.steps.iter().all(|step| step.answer != Answer::Never && !step.waited), "nobody waits here");
            let level: IsolationLevel = scenario.ruled_out_by.parse().unwrap();
            let verdict = check(&played.history, level, &Options::default());
            assert!(!matches!(verdict, Verdict::Undecided(_)), "{}: {verdict:?}", scenario.name);
            let violated = matches!(verdict, Verdict::Violated(_));
            assert!(!(violated && promised.implies(level)), "{} at {store}: {:#?}", scenario.name, played.steps);
            shown += usize::from(violated);
        }
    }
    assert!(shown >= 8, "only {shown} anomalies showed");
}
