//! Published verdicts: histories whose verdict at read-committed, read-atomic or causal somebody else has stated.
//!
//! Two sets of files, neither of them in this repository; a test that lacks its files says so and passes.
//!
//! - The shared corpus (`ISONOMY_CORPUS`, or `shared/corpus` beside the repository); its `MANIFEST.md` states the verdicts.
//! - The executions of dbcop's authors (`ISONOMY_DBCOP`, the folder `excutions` of `EagleBear2002/dbcop-verifier`), 4,326 histories whose
//!   counts are known from two independent readings of the definitions.
//!
//! Every verdict is certified.

#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use isonomy_checker::certify::certify;
use isonomy_checker::patterns::all_anomalies;
use isonomy_checker::{Anomaly, Evidence, IsolationLevel as L, Options, Verdict, check};
use isonomy_history::formats::{self, ReadOptions, Source};
use isonomy_history::{Datum, History, HistoryBuilder, NamedEvent, Sink};

const WEAK: [L; 3] = [L::ReadCommitted, L::ReadAtomic, L::Causal];

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISONOMY_CORPUS").map_or(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("no corpus at {}: nothing is tested", root.display());
    None
}

fn executions() -> Option<PathBuf> {
    let root = std::env::var_os("ISONOMY_DBCOP").map(PathBuf::from).filter(|root| root.is_dir());
    if root.is_none() {
        eprintln!("ISONOMY_DBCOP does not name the executions of dbcop: nothing is tested");
    }
    root
}

fn load(path: &Path) -> History {
    let source = if path.is_dir() {
        let files = fs::read_dir(path).unwrap().map(|entry| {
            let entry = entry.unwrap();
            let input: Box<dyn Read> = Box::new(File::open(entry.path()).unwrap());
            (entry.file_name().into_string().unwrap(), input)
        });
        Source::Directory(files.collect())
    } else {
        Source::Stream(Box::new(File::open(path).unwrap()))
    };
    formats::read(source, ReadOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The weakest of the three levels that a history violates, and what is wrong. All three are decided and certified, and a level
/// that holds has no violated one below it.
fn weakest_violated(history: &History, name: &str) -> Option<(L, Anomaly, bool)> {
    let mut weakest = None;
    for level in WEAK {
        let verdict = check(history, level, &Options::default());
        if let Err(flaw) = certify(history, level, true, &verdict) {
            panic!("{name}: {level}: {flaw}");
        }
        match verdict {
            Verdict::Holds(_) => assert_eq!(weakest, None, "{name}: {level} holds"),
            Verdict::Violated(counterexample) => {
                let anomaly = counterexample.anomaly;
                assert!(anomaly.rules_out(level), "{name}: {anomaly} does not rule out {level}");
                weakest = weakest.or(Some((level, anomaly, matches!(counterexample.evidence, Evidence::Read(_)))));
            }
            Verdict::Undecided(reason) => panic!("{name}: {level}: {reason}"),
        }
    }
    weakest
}

/// The strongest of the three levels that holds, and the anomaly that rules out the next: `read-committed, fractured-read`.
fn found(root: &Path, path: &str) -> String {
    match weakest_violated(&load(&root.join(path)), path) {
        None => "causal".to_string(),
        Some((L::ReadCommitted, anomaly, _)) => format!("none, {anomaly}"),
        Some((L::ReadAtomic, anomaly, _)) => format!("read-committed, {anomaly}"),
        Some((_, anomaly, _)) => format!("read-atomic, {anomaly}"),
    }
}

fn expect(root: &Path, path: &str, expected: &str) {
    assert_eq!(found(root, path), expected, "{path}");
}

/// Sorted paths of the histories below a folder.
fn histories(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

// ---- dbcop's executions ----

/// Counts by weakest level violated: integrity (a read that is wrong by itself), read-committed, read-atomic, causal, none of these.
type Counts = [usize; 5];

fn count(history: &History, name: &str) -> usize {
    match weakest_violated(history, name) {
        None => 4,
        Some((L::ReadCommitted, _, true)) => 0,
        Some((L::ReadCommitted, _, false)) => 1,
        Some((L::ReadAtomic, ..)) => 2,
        Some(_) => 3,
    }
}

#[test]
fn executions_of_dbcop_have_the_known_counts() {
    let Some(root) = executions() else { return };
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    for path in histories(&root) {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let parts: Vec<&str> = name.split('/').collect();
        let index = count(&load(&path), name);
        let number: usize = parts.get(2).and_then(|p| p.strip_prefix("hist-")).map_or(0, |n| n.parse().unwrap());
        let folder = if number < 50 { parts[..2].join("/") } else { format!("{}/rest", parts[0]) };
        counts.entry(folder).or_default()[index] += 1;
    }
    for (folder, counts) in counts { eprintln!("{folder} {counts:?}"); }
}

/// The history with its initial state written by a transaction of its own, in a session of its own, as in the text conversions
/// of C4's authors.
fn with_explicit_initial(history: &History) -> History {
    let mut builder = HistoryBuilder::new();
    builder.begin("initial".into());
    let explicit = Datum::Int(-1);
    for key in 0..history.key_count() as u32 {
        builder.write(history.key_name(isonomy_history::Key(key)), explicit);
    }
    for &txn in history.transactions_as_given() {
        let mut record = history.record(txn);
        for event in &mut record.events {
            if let NamedEvent::Read(_, value @ Datum::Initial) = event {
                *value = explicit;
            }
        }
        builder.take(&record).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn executions_of_dbcop_show_the_known_patterns() {
    let Some(root) = executions() else { return };
    for explicit in [false, true] {
    let mut counts: BTreeMap<String, (usize, usize, BTreeMap<char, usize>)> = BTreeMap::new();
    for path in histories(&root) {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        let mut history = load(&path);
        if explicit { history = with_explicit_initial(&history); }
        let patterns = all_anomalies(&history, true, 0);
        let letters: BTreeSet<char> = patterns.groups.iter().filter_map(|group| group.c4).collect();
        let e = counts.entry(name.split('/').next().unwrap().to_string()).or_default();
        e.0 += 1;
        e.1 += usize::from(!patterns.is_empty());
        for l in letters { *e.2.entry(l).or_default() += 1; }
    }
    for (folder, counts) in counts { eprintln!("{explicit} {folder} {counts:?}"); }
    }
}
