//! Databases that are broken on purpose: runs come to an end, what was promised holds, and the report tells what was done.

#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

mod place;

use std::env;
use std::process::Output;

use place::{code, err, isonomy, json, out};
use serde_json::Value;

/// Runs a workload on servers that are started for it. Without their binaries this says so and the test passes, unless `ISONOMY_SERVERS=1`
/// demands them.
fn run(kind: &str, args: &[&str]) -> Option<Output> {
    let db = format!("cluster:{kind}");
    let output = isonomy(&[&["run", "--json", "--db", &db], args].concat());
    if code(&output) == 2 && err(&output).contains("apt-get install") && env::var_os("ISONOMY_SERVERS").is_none() {
        eprintln!("{kind} is not tested: {}", err(&output));
        return None;
    }
    Some(output)
}

/// The report of the one run, after a look at what every run with faults must have.
#[track_caller]
fn report(output: &Output, faults: &[&str], level: &str) -> Value {
    assert_eq!(code(output), 0, "{}{}", out(output), err(output));
    let lines = json(output);
    let verdict = lines.iter().find(|line| line["level"] == level).expect("the level was checked");
    assert_eq!(verdict["verdict"], "holds", "{verdict}");
    let report = lines.into_iter().find(|line| line["run"].is_number()).expect("the run is told");
    let told = report["faults"].as_array().expect("faults are told");
    assert!(!told.is_empty(), "{report}");
    for one in told {
        assert!(one["fault"].as_str().is_some_and(|name| faults.contains(&name)), "{one}");
        assert!(one["trouble"].is_null(), "{one}");
        assert!(one["from"].as_f64() <= one["until"].as_f64(), "{one}");
    }
    assert!(report["committed"].as_u64() > Some(100), "{report}");
    assert!(report["reconnected"].as_u64() > Some(0), "{report}");
    report
}

/// The server is killed and comes back with all that it had confirmed.
#[test]
fn a_killed_server_loses_nothing() {
    for (kind, isolation, level) in [
        ("postgres", "serializable", "serializable"),
        ("postgres", "repeatable read", "snapshot-isolation"),
        ("redis", "watch", "strict-serializable"),
    ] {
        let args = ["--isolation", isolation, "--workload", "mini", "--keys", "30", "--sessions", "6"];
        let faults = ["--duration", "6s", "--faults", "kill", "--fault-every", "1s", "--fault-lasting", "300ms"];
        let Some(output) = run(kind, &[args, faults].concat()) else { continue };
        report(&output, &["kill"], level);
    }
}

/// Answers that never come leave transactions of which nobody knows: those that somebody read from count, the others may not have been.
#[test]
fn lost_answers_are_no_violations() {
    for (isolation, level) in [("serializable", "serializable"), ("read committed", "read-committed")] {
        let args = ["--isolation", isolation, "--workload", "mini", "--keys", "30", "--sessions", "6"];
        let faults = ["--duration", "5s", "--faults", "mute,cut", "--fault-every", "200ms", "--fault-lasting", "100ms"];
        let Some(output) = run("postgres", &[&args[..], &faults[..]].concat()) else { return };
        let report = report(&output, &["mute", "cut"], level);
        assert!(report["indeterminate"].as_u64() > Some(0), "no commit was under way at any fault: {report}");
    }
}
