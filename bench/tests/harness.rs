//! The harness on tiny histories: alone, and beside peers that agree, disagree, fail and sleep.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A place of its own for each test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("harness-{name}"));
        let _ = fs::remove_dir_all(&path); // Of an earlier run, if any.
        fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Runs the harness on the tiny histories, without peers unless the arguments say so.
    fn bench(&self, arguments: &[&str]) -> (Output, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isonomy-bench"));
        command.current_dir(&self.0).args(["--smoke", "--repeats", "1", "--data", "data", "--results", "results"]);
        if !arguments.contains(&"--isonomy") {
            command.arg("--isonomy").arg(checker());
        }
        let output = command.args(arguments).output().unwrap();
        let table = String::from_utf8(output.stdout.clone()).unwrap();
        (output, table)
    }

    /// The same, beside a peer that is this script.
    fn bench_beside(&self, script: &str, arguments: &[&str]) -> (Output, String) {
        let script = self.script("peer", script);
        let line = format!(
            "# A peer.\nother | read-committed=RC causal | \"fine\" | exit 1, not \"fine\" | {} {{level}} --in={{file}}\n",
            script.display()
        );
        fs::write(self.0.join("peers.conf"), line).unwrap();
        self.bench(&[&["--peers", "peers.conf"], arguments].concat())
    }
}

/// The checker that `cargo test` builds with the other examples of this package.
fn checker() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_isonomy-bench")).with_file_name("examples").join("check");
    assert!(path.exists(), "{} is built by `cargo test -p isonomy-bench`", path.display());
    path
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{output:?}"))
}

/// The row of an input at a level.
fn row<'t>(table: &'t str, input: &str, level: &str) -> &'t str {
    let found = |line: &&str| line.starts_with(&format!("| {input} |")) && line.contains(&format!("| {level} |"));
    table.lines().find(found).unwrap_or_else(|| panic!("no row of {input} at {level}:\n{table}"))
}

fn complaints(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn alone_the_verdicts_of_both_formats_agree_with_construction() {
    let place = Place::new("alone");
    let (output, table) = place.bench(&[]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    assert_eq!(table.lines().filter(|line| line.starts_with("| ") && line.contains("-500")).count(), 8 * 3, "{table}");
    assert!(row(&table, "a-500", "causal").starts_with("| a-500 | 500 | 7500 | causal |"));
    assert!(row(&table, "a-500", "causal").ends_with("| – | – | – | – | alone: holds |"));
    assert!(row(&table, "a-500-rc", "read-atomic").ends_with("alone: violated |"));
    assert!(row(&table, "a-500-planted", "causal").ends_with("alone: violated |"));
    assert!(!complaints(&output).contains("TROUBLE"));

    // The histories are there now; asked for again, they are made again, and the same.
    let text = fs::read(place.0.join("data/a-500.txt")).unwrap();
    let (again, _) = place.bench(&["--only", "a-500"]);
    assert!(!complaints(&again).contains("making"), "{}", complaints(&again));
    let (fresh, _) = place.bench(&["--only", "d-500", "--fresh"]);
    assert!(complaints(&fresh).contains("making d-500"), "{}", complaints(&fresh));
    assert_eq!(fs::read(place.0.join("data/a-500.txt")).unwrap(), text);
}

#[test]
fn beside_a_peer_that_agrees_there_are_ratios() {
    let place = Place::new("agree");
    let script = format!(
        "case $1 in RC) level=read-committed;; *) level=$1;; esac\n\
         {} check --json --level $level ${{2#--in=}} >/dev/null && echo fine >&2",
        checker().display()
    );
    let (output, table) = place.bench_beside(&script, &["--keep", "--note", "a remark", "--repeats", "2"]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    assert!(row(&table, "a-500", "read-committed").contains("| other ") && table.contains("| yes: holds |"), "{table}");
    assert!(row(&table, "a-500-rc", "causal").ends_with("| yes: violated |"), "{table}");
    assert!(row(&table, "a-500", "read-atomic").ends_with("| – | – | – | – | alone: holds |"), "{table}");

    // What is kept: the same rows with a note on the machine, and every run.
    let directory = fs::read_dir(place.0.join("results")).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(directory.join("comparison.md")).unwrap();
    assert!(
        kept.contains("- CPU: ") && kept.contains("- note: a remark") && kept.contains("{level} --in={file}`"),
        "{kept}"
    );
    assert!(table.lines().all(|line| kept.contains(line)), "{kept}");
    let samples = fs::read_to_string(directory.join("comparison.jsonl")).unwrap();
    let samples: Vec<serde_json::Value> = samples.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(samples.len(), 8 * (3 + 2 + 3) * 2);
    assert!(samples.iter().all(|sample| sample["wall_seconds"].as_f64() > Some(0.0)));
    assert!(samples.iter().any(|sample| sample["tool"] == "other" && sample["verdict"] == "violated"));

    // A second run on the same day is kept beside the first.
    place.bench(&["--only", "d-500", "--keep"]);
    assert!(directory.join("comparison-2.jsonl").exists());
}

#[test]
fn a_peer_that_disagrees_is_told_loudly() {
    let place = Place::new("disagree");
    let (output, table) = place.bench_beside("echo fine", &["--only", "a-500-planted", "--only", "b-500"]);
    assert_eq!(code(&output), 1, "{table}");
    let wrong = "**NO: expected violated, text violated, binary violated, other holds**";
    assert!(row(&table, "a-500-planted", "causal").contains(wrong), "{table}");
    assert!(row(&table, "b-500", "causal").ends_with("| yes: holds |"), "{table}");
    assert!(complaints(&output).contains("TROUBLE: a-500-planted at causal"), "{}", complaints(&output));
}

#[test]
fn a_wrong_verdict_of_ours_is_told_loudly_without_peers() {
    let place = Place::new("wrong");
    let wrong = place.script("isonomy", "echo '{\"verdict\":\"violated\"}'; exit 1");
    let wrong = wrong.to_str().unwrap();
    let (output, table) = place.bench(&["--only", "d-500", "--isonomy", wrong]);
    assert_eq!(code(&output), 1);
    assert!(
        row(&table, "d-500", "causal").contains("**NO: expected holds, text violated, binary violated**"),
        "{table}"
    );

    let silent = place.script("isonomy", "echo out of order >&2; exit 2");
    let (output, table) = place.bench(&["--only", "d-500", "--isonomy", silent.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert!(row(&table, "d-500", "causal").contains("**NO VERDICT: text, exit code 2: out of order**"), "{table}");
}

#[test]
fn a_peer_that_fails_or_sleeps_is_a_row() {
    let place = Place::new("fail");
    let only = ["--only", "d-500", "--levels", "causal"];
    let (output, table) = place.bench_beside("echo 'cannot|read' >&2; exit 7", &only);
    assert_eq!(code(&output), 0, "{table}");
    assert!(row(&table, "d-500", "causal").contains("| other failed after 0.0"), "{table}");
    assert!(complaints(&output).contains("other failed: exit code 7: cannot|read"), "{}", complaints(&output));

    let (output, table) = place.bench_beside("sleep 100", &[&only[..], &["--timeout", "1", "--repeats", "2"]].concat());
    assert_eq!(code(&output), 0, "{table}");
    assert!(row(&table, "d-500", "causal").contains("| other timeout 1 s / "), "{table}");
    assert!(row(&table, "d-500", "causal").ends_with("| alone: holds |"), "{table}");
}

#[test]
fn what_cannot_run_says_why() {
    let place = Place::new("cannot");
    let (output, _) = place.bench(&["--isonomy", "nowhere/isonomy"]);
    assert_eq!(code(&output), 2);
    assert!(complaints(&output).contains("cargo build --release -p isonomy-cli"), "{}", complaints(&output));

    fs::write(place.0.join("peers.conf"), "\nother | causal\n").unwrap();
    let (output, _) = place.bench(&["--peers", "peers.conf"]);
    assert_eq!(code(&output), 2);
    assert!(complaints(&output).contains("peers.conf: line 2: expected"), "{}", complaints(&output));

    let (output, _) = place.bench(&["--only", "nothing"]);
    assert_eq!(code(&output), 2);

    // A peer that is not installed is no error.
    fs::write(place.0.join("peers.conf"), "other | causal | exit 0 | exit 1 | no-such-checker {file}\n").unwrap();
    let (output, _) = place.bench(&["--peers", "peers.conf", "--only", "d-500", "--levels", "causal"]);
    assert_eq!(code(&output), 0);
    assert!(complaints(&output).contains("other is not installed (no `no-such-checker` in PATH): left out"));
}
