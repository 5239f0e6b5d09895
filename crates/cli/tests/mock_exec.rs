//! `isonomy mock exec`: any command on fresh stores. The commands under test are runs of `isonomy` itself, and of the shell.

#![cfg(unix)]

mod place;

use std::process::Output;
use std::time::{Duration, Instant};

use place::{EXE, Place, code, err, isonomy, json, out};

/// A command that fails if its database is not serializable.
fn demanding() -> String {
    format!(
        "{EXE} run --db \"$DATABASE_URL\" --workload mini --keys 3 --sessions 3 --txns 40 --level serializable > /dev/null 2>&1"
    )
}

fn exec(args: &[&str], command: &[&str]) -> Output {
    let fixed = ["mock", "exec"];
    isonomy(&[&fixed, args, &["--"], command].concat())
}

#[test]
fn a_command_that_weak_isolation_breaks_is_told_which_reads_did() {
    let place = Place::new("exec");
    let kept = place.path("kept");
    let command = demanding();
    let args = ["--level", "causal", "--runs", "4", "--record", &kept];
    let output = exec(&args, &["sh", "-c", &command]);
    assert_eq!(code(&output), 1, "{}{}", out(&output), err(&output));
    let text = out(&output);
    for part in ["4 of 4 runs at causal failed: seeds 0, 1, 2, 3", "Seed 0: exit code 1.", "stale", "--replay"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }

    // What was kept is a history that holds at the level of the store, and can be done again.
    let history = format!("{kept}/seed-1/history.jsonl");
    assert_eq!(code(&isonomy(&["check", "--level", "causal", &history])), 0);
    assert_eq!(code(&isonomy(&["check", "--level", "serializable", &history])), 1);
    let folder = format!("{kept}/seed-1");
    let output = exec(&["--replay", &folder, "--no-shrink"], &["sh", "-c", &command]);
    assert_eq!(code(&output), 1, "{}{}", out(&output), err(&output));
}

#[test]
fn serializable_stores_satisfy_it_over_both_protocols() {
    for protocol in ["postgres", "mysql"] {
        let args = ["--level", "serializable", "--runs", "2", "--protocol", protocol, "--json"];
        let output = exec(&args, &["sh", "-c", &demanding()]);
        assert_eq!(code(&output), 0, "{}{}", out(&output), err(&output));
        let lines = json(&output);
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[1]["seed"], &lines[1]["failed"]), (&1.into(), &false.into()));
        assert!(lines[0]["committed"].as_u64() >= Some(40), "{}", lines[0]);
    }
}

#[test]
fn failures_that_isolation_has_nothing_to_do_with_are_told_apart() {
    let output = exec(&["--runs", "2"], &["sh", "-c", "echo it is broken; exit 7"]);
    assert_eq!(code(&output), 1);
    let text = out(&output);
    for part in ["2 of 2 runs", "exit code 7", "it is broken", "isolation is not what this failure is about"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn commands_that_hang_are_ended_with_all_they_started() {
    let began = Instant::now();
    let output = exec(&["--runs", "1", "--timeout", "200ms"], &["sh", "-c", "sleep 600 & sleep 600"]);
    assert_eq!(code(&output), 1);
    assert!(out(&output).contains("took too long"), "{}", out(&output));
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn what_cannot_run_says_so() {
    let output = exec(&["--runs", "1"], &["/no/such/program"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("cannot run /no/such/program"), "{}", err(&output));
    let output = exec(&["--replay", "/no/such/folder"], &["true"]);
    assert_eq!(code(&output), 2);
    assert!(err(&output).contains("--record"), "{}", err(&output));
    assert_eq!(code(&isonomy(&["mock", "exec"])), 2);
}
