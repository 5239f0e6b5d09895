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

    /// Runs the harness on the tiny histories at the weak levels, without peers unless the arguments say so.
    fn bench(&self, arguments: &[&str]) -> (Output, String) {
        self.bench_at("read-committed,read-atomic,causal", arguments)
    }

    fn bench_at(&self, levels: &str, arguments: &[&str]) -> (Output, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isonomy-bench"));
        command.current_dir(&self.0).args(["--smoke", "--repeats", "1", "--data", "data", "--results", "results"]);
        command.args(["--levels", levels]);
        if !arguments.contains(&"--isonomy") {
            command.arg("--isonomy").arg(checker());
        }
        let output = command.args(arguments).output().unwrap();
        let table = String::from_utf8(output.stdout.clone()).unwrap();
        (output, table)
    }

    /// The same at strong levels, beside a peer that is this script and wants this input.
    fn bench_strong(&self, script: &str, input: &str, arguments: &[&str]) -> (Output, String) {
        let script = self.script("peer", script);
        let line = format!(
            "other | snapshot-isolation=si serializable | exit 0 | exit 1 | {} {{level}} {input}\n",
            script.display()
        );
        fs::write(self.0.join("peers.conf"), line).unwrap();
        self.bench_at("si,ser", &[&["--peers", "peers.conf"], arguments].concat())
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

#[test]
fn strong_levels_are_compared_in_both_orders() {
    let place = Place::new("strong");
    let (output, table) = place.bench_at("si,ser", &[]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    // Four workloads at two levels, BlindW with and without a violation, lists: all in two orders.
    assert_eq!(table.lines().filter(|line| line.contains("-500")).count(), 4 * 2 * 2 + 2 * 2 + 2, "{table}");
    assert!(row(&table, "a-500-si-by-session", "snapshot-isolation").ends_with("alone: holds |"), "{table}");
    assert!(row(&table, "c-500-ser", "serializable").ends_with("alone: holds |"), "{table}");
    assert!(row(&table, "blindw-rw-500-g-sib", "snapshot-isolation").ends_with("alone: violated |"), "{table}");

    // The orders differ, and the first session comes first in one.
    let text = |name| fs::read_to_string(place.0.join("data").join(name)).unwrap();
    let sessions = |text: String| -> Vec<String> {
        let mut sessions: Vec<String> = text.lines().map(|line| line.split(',').nth(2).unwrap().to_owned()).collect();
        sessions.dedup();
        sessions
    };
    assert!(sessions(text("a-500-si.txt")).len() > 100);
    assert_eq!(sessions(text("a-500-si-by-session.txt")).len(), 20);
}

#[test]
fn peers_get_the_input_that_they_ask_for() {
    let place = Place::new("inputs");
    let check = format!("{} check --json --level", checker().display());
    let cases = [
        ("{bincode}", format!("exec {check} $1 $2"), "d-500-si"),
        ("{dbcop}", format!("exec {check} $1 $2/history.json"), "d-500-si"),
        ("--logs={viper}", format!("exec {check} $1 ${{2#--logs=}}"), "d-500-si"),
        ("{lists}", "head -1 $2 | grep -q '^1283$'".to_owned(), "list-append-500"),
    ];
    for (input, script, only) in cases {
        let (output, table) = place.bench_strong(&script, input, &["--only", only]);
        assert_eq!(code(&output), 0, "{input}: {table}{}", complaints(&output));
        for name in [only.to_owned(), format!("{only}-by-session")] {
            let row = row(&table, &name, "snapshot-isolation");
            assert!(row.contains("| other ") && row.ends_with("| yes: holds |"), "{input}: {row}");
        }
    }

    // Plain values are nothing for a peer of lists, nor the other way round.
    let (_, table) = place.bench_strong("exit 1", "{lists}", &["--only", "d-500-si"]);
    assert!(row(&table, "d-500-si", "snapshot-isolation").contains("| – | – | – | – | alone: holds |"), "{table}");
    let (_, table) = place.bench_strong("exit 1", "{file}", &["--only", "list-append"]);
    assert!(row(&table, "list-append-500", "snapshot-isolation").contains("| – | – | – | – |"), "{table}");
}

#[test]
fn lightweight_transactions_are_compared_at_linearizability() {
    let place = Place::new("lightweight");
    // Who reads the log knows as many operations as were asked and answered.
    let script = place.script(
        "peer",
        "[ $(grep -c ':type :invoke' $1) = $(grep -c ':type :ok, :f :[cw]' $1) ] || exit 2\n\
         case $1 in *missing*|*late*) echo bad; exit 1;; *) echo good;; esac",
    );
    let line = format!(
        "other | linearizable | \"good\" | \"bad\" | {0} {{edn}}\nplain | linearizable | exit 0 | exit 1 | {0} {{file}}\n",
        script.display()
    );
    fs::write(place.0.join("peers.conf"), line).unwrap();
    let (output, table) = place.bench_at("lin", &["--study", "lightweight", "--peers", "peers.conf"]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    // Each beside the one peer that reads registers.
    assert_eq!(table.lines().filter(|line| line.starts_with("| lwt-")).count(), 3, "{table}");
    assert!(row(&table, "lwt-500-s200-c100", "linearizable").starts_with("| lwt-500-s200-c100 | 501 | 501 |"));
    for (name, end) in [("", "holds"), ("-missing-1", "violated"), ("-late-0", "violated")] {
        let row = row(&table, &format!("lwt-500-s200-c100{name}"), "linearizable");
        assert!(row.contains("| other ") && row.ends_with(&format!("| yes: {end} |")), "{table}");
    }
    let log = fs::read_to_string(place.0.join("data/lwt-500-s200-c100-missing-1.edn")).unwrap();
    assert_eq!(log.lines().count(), 1000);
    assert!(log.starts_with("{:process 1, :type :invoke, :f :write, :value 0}\n"), "{log}");
}

#[test]
fn mini_transactions_are_checked_in_several_ways() {
    let place = Place::new("mini");
    let (output, table) = place.bench_at("si,ser,sser", &["--study", "mini", "--keep"]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    // Two workloads at three levels, beside three variants.
    assert_eq!(table.lines().filter(|line| line.starts_with("| mini-")).count(), 2 * 3 * 3, "{table}");
    assert_eq!(table.lines().filter(|line| line.ends_with("| yes: holds |")).count(), 2 * 3 * 3, "{table}");
    let strict = row(&table, "mini-d-500-sser-by-session", "strict-serializable");
    assert!(strict.contains("| frontier "), "{table}");
    let directory = fs::read_dir(place.0.join("results")).unwrap().next().unwrap().unwrap().path();
    let samples = fs::read_to_string(directory.join("mini.jsonl")).unwrap();
    assert!(samples.contains("\"tool\":\"no-inference\",\"format\":\"binary\""), "{samples}");
    assert!(!samples.contains("\"format\":\"text\""), "{samples}");
    assert!(!place.0.join("data/mini-500-si-by-session.txt").exists());

    // A variant that fails is a row, and is not asked again; the verdict is ours.
    let script = format!("case $5 in --engine) exit 7;; esac; exec {} \"$@\"", checker().display());
    let script = place.script("isonomy", &script);
    let only = ["--study", "mini", "--only", "mini-500-ser", "--isonomy", script.to_str().unwrap()];
    let (output, table) = place.bench_at("ser", &only);
    assert_eq!(code(&output), 0, "{table}");
    assert!(table.contains("| frontier failed after ") && table.contains("| alone: holds |"), "{table}");
}

#[test]
fn a_peer_is_not_asked_for_what_it_did_not_manage() {
    let place = Place::new("defeat");
    let script = "echo run >> runs; exit 7";
    let (output, table) = place.bench_strong(script, "{file}", &["--only", "b-500-s"]);
    assert_eq!(code(&output), 0, "{table}");
    assert!(row(&table, "b-500-si", "snapshot-isolation").contains("| other failed after"), "{table}");
    let later = row(&table, "b-500-si-by-session", "snapshot-isolation");
    assert!(later.contains("| other not run: failed at b-500-si | – | – | – | alone: holds |"), "{table}");
    // Once for each family.
    assert_eq!(fs::read_to_string(place.0.join("runs")).unwrap().lines().count(), 2);

    // Whose input has no order needs one run for both.
    fs::remove_file(place.0.join("runs")).unwrap();
    let (_, table) = place.bench_strong("echo run >> runs", "{bincode}", &["--only", "b-500-s"]);
    assert!(row(&table, "b-500-si-by-session", "snapshot-isolation").ends_with("| yes: holds |"), "{table}");
    assert_eq!(fs::read_to_string(place.0.join("runs")).unwrap().lines().count(), 2);
}

#[test]
fn rejection_is_set_beside_acceptance() {
    let place = Place::new("rejection");
    let (output, table) = place.bench_at("si,ser", &["--study", "rejection", "--keep"]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    assert_eq!(table.lines().filter(|line| line.contains("-500")).count(), (3 + 1) * 2, "{table}");
    assert!(!table.contains("plain"), "{table}");
    let skew = row(&table, "a-500-ser-write-skew-by-session", "serializable");
    assert!(skew.contains("| by session |") && skew.ends_with("| alone: violated |"), "{table}");
    let directory = fs::read_dir(place.0.join("results")).unwrap().next().unwrap().unwrap().path();
    assert!(fs::read_to_string(directory.join("rejection.jsonl")).unwrap().contains("\"a-500-si-plain\""));
}

#[test]
fn contention_is_a_curve() {
    let place = Place::new("contention");
    let (output, table) = place.bench_at("si", &["--study", "contention", "--only", "keys", "--only", "reads-100"]);
    assert_eq!(code(&output), 0, "{table}{}", complaints(&output));
    assert_eq!(table.lines().filter(|line| line.starts_with("| keys |")).count(), 5, "{table}");
    assert_eq!(table.lines().filter(|line| line.starts_with("| reads | 100% | 500 |")).count(), 1, "{table}");
}
