//! `isonomy explain`: golden texts and JSON of every anomaly of `corpus/` and of published violations, and the contract of the command.
//!
//! `INSTA_UPDATE=always cargo test -p isonomy-cli --test explain` writes the golden files anew; a reviewer reads the difference.

mod place;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use place::{EXE, Place, code, err, isonomy, json, out};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// What the command says of a file, run where the file is, so that no path of this machine is in it.
fn explain(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(EXE).arg("explain").args(args).current_dir(folder).output().expect("the program runs");
    assert_eq!(code(&output), 1, "{args:?}: {}", err(&output));
    out(&output)
}

/// Compares with the golden file of a name.
fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("golden");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The histories that show an anomaly.
fn anomalous() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the corpus is part of the repository");
    let names =
        entries.map(|entry| entry.expect("it can be listed").file_name().into_string().expect("names are plain"));
    let shows = |name: &String| {
        let text = fs::read_to_string(folder().join(name)).expect("it can be read");
        name.ends_with(".hist") && text.lines().any(|line| line.starts_with("# anomaly: "))
    };
    let mut names: Vec<String> = names.filter(shows).collect();
    names.sort();
    names
}

#[test]
fn every_anomaly_of_the_corpus() {
    let names = anomalous();
    assert!(names.len() > 80, "{}", names.len());
    for name in names {
        golden(name.trim_end_matches(".hist"), &explain(&folder(), &[&name]));
    }
}

#[test]
fn every_anomaly_as_json() {
    let mut count = 0;
    for line in json(&isonomy(&["anomalies", "--json"])) {
        let anomaly = line["anomaly"].as_str().or(line["name"].as_str()).expect("it has a name").to_string();
        let told = explain(&folder(), &["--json", &format!("{anomaly}.hist")]);
        let told: Value = serde_json::from_str(&told).expect("it is one object");
        assert_eq!(told["anomaly"], anomaly);
        golden(&format!("{anomaly}.json"), &format!("{told:#}"));
        count += 1;
    }
    assert_eq!(count, 26);
}

const GALERA: &[&str] = &["T2", "T3", "T8"];
const DGRAPH: &[&str] = &["T(10,63)", "T(4,45)", "T(4,48)", "T(9,68)", "T(9,78)"];
const YUGABYTE: &[&str] = &["T5", "T6", "T7"];

/// Figures 5, 12 and 13 of PolySI's paper: Galera with 3 transactions, Dgraph with more than 5, YugabyteDB with 4.
#[test]
fn published_violations() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISONOMY_CORPUS").map_or(beside, PathBuf::from);
    if !root.is_dir() {
        return;
    }
    for (name, folder, file, core) in [
        ("published-galera", "polysi-artifact/violations/galera", "galera.txt", GALERA),
        ("published-dgraph", "polysi-artifact/violations/dgraph", "history.bincode", DGRAPH),
        ("published-yugabyte", "c4/bugs", "yugabyte.txt", YUGABYTE),
    ] {
        let folder = root.join(folder);
        golden(name, &explain(&folder, &[file]));
        let told: Value = serde_json::from_str(&explain(&folder, &["--json", file])).expect("it is one object");
        let transactions = told["counterexample"]["transactions"].as_array().expect("some take part");
        let mut names: Vec<&str> = transactions.iter().filter_map(|one| one["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, core, "{name}");
    }
}

/// Satisfies read-atomic, not causal.
const CAUSALITY: &str = r#"{"session":1,"ops":[["w","x",1]]}
{"session":2,"ops":[["r","x",1],["w","y",1]]}
{"session":3,"ops":[["r","y",1],["r","x",null]]}
"#;

#[test]
fn levels_exit_codes_and_files() {
    let place = Place::new("explain");
    let path = place.file("causality.jsonl", CAUSALITY);
    let explain = |args: &[&str]| isonomy(&[&["explain"], args, &[&path]].concat());
    let found = out(&explain(&[]));
    assert!(
        found.contains("causal violated: causality-violation") && found.contains("Still holds: read-atomic"),
        "{found}"
    );
    assert!(found.contains(&format!("{path}:3")), "{found}");
    // A stronger level fails by the same; a weaker one holds, and then there is nothing to explain.
    assert!(out(&explain(&["--level", "serializable"])).contains("serializable violated: causality-violation"));
    let weak = explain(&["--level", "read-atomic"]);
    assert_eq!((code(&weak), out(&weak).contains("nothing to explain")), (0, true), "{}", out(&weak));
    assert_eq!(code(&explain(&["--level", "strict-serializable"])), 3);
    assert_eq!(code(&isonomy(&["explain", &place.path("absent")])), 2);
    assert_eq!(code(&explain(&["--svg", "-"])), 2);
    let (svg, dot) = (place.path("why.svg"), place.path("why.dot"));
    assert_eq!(code(&explain(&["--svg", &svg, "--dot", &dot])), 1);
    assert!(fs::read_to_string(svg).is_ok_and(|text| text.starts_with("<svg ")));
    assert!(fs::read_to_string(dot).is_ok_and(|text| text.starts_with("digraph ")));
    let all = out(&explain(&["--all"]));
    assert!(
        all.contains("all anomalous patterns of causal consistency") && all.contains("causality-violation"),
        "{all}"
    );
    let told = &json(&explain(&["--json", "--all"]))[0];
    assert_eq!(told["violates"][0], "causal");
    assert_eq!(told["holds"], serde_json::json!(["read-atomic"]));
    assert_eq!(told["anomalies"][0]["anomaly"], "causality-violation");
    assert_eq!(told["counterexample"]["edges"][0]["kind"], "co");
}

#[test]
fn text_fits_in_eighty_columns_and_has_colours_when_asked() {
    for name in anomalous() {
        let told = explain(&folder(), &[&name]);
        // A path or a name may be longer than any line.
        let long = told.lines().skip(1).filter(|line| line.chars().count() > 80).count();
        assert_eq!(long, 0, "{name}:\n{told}");
        assert!(!told.contains('\u{1b}') && !told.lines().any(|line| line.ends_with(' ')), "{name}:\n{told}");
    }
    assert!(explain(&folder(), &["--color", "always", "lost-update.hist"]).contains("\u{1b}["));
}
