//! Reads every history of the shared corpus (`ISONOMY_CORPUS`, or `shared/corpus` beside the repository), each with its
//! format detected. Where there is no corpus the tests say so and pass.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use isonomy_history::formats::{self, Format, ReadError, ReadOptions, Source};
use isonomy_history::{FaultKind, History, HistoryError, Outcome};

#[allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]
fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("ISONOMY_CORPUS").map_or(beside, PathBuf::from);
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("no corpus at {}: nothing is tested", root.display());
    None
}

/// Sorted paths below a folder, relative to the corpus: files, and folders that are logs of one history.
fn histories(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        if entries.iter().any(|path| is_session_log(path)) {
            found.push(folder);
            continue;
        }
        for path in entries {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    let mut found: Vec<String> =
        found.iter().map(|path| path.strip_prefix(root).unwrap().to_str().unwrap().to_string()).collect();
    found.sort();
    found
}

fn is_session_log(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let number = name.strip_prefix(['T', 'J']).and_then(|rest| rest.strip_suffix(".log"));
    number.is_some_and(|digits| digits.parse::<u32>().is_ok())
}

fn load(path: &Path) -> Result<History, ReadError> {
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
    formats::read(source, ReadOptions::default())
}

fn format_of(path: &Path) -> Option<Format> {
    if path.is_dir() {
        let first = fs::read_dir(path).unwrap().next().unwrap().unwrap().file_name();
        return Some(if first.to_str().unwrap().starts_with('T') { Format::Cobra } else { Format::Viper });
    }
    let mut head = Vec::new();
    File::open(path).unwrap().take(64 << 10).read_to_end(&mut head).unwrap();
    formats::detect(&head)
}

/// Sessions, committed transactions, events in these.
fn counts(history: &History) -> (usize, usize, usize) {
    let committed = || history.transactions().filter(|&txn| history.outcome(txn) == Outcome::Committed);
    (history.sessions().len(), committed().count(), committed().map(|txn| history.events(txn).len()).sum())
}

#[test]
fn every_history_loads() {
    let Some(root) = corpus() else { return };
    let mut loaded: BTreeMap<&str, usize> = BTreeMap::new();
    let mut repeated = Vec::new();
    let mut others = Vec::new();
    for path in histories(&root) {
        let format = format_of(&root.join(&path));
        match load(&root.join(&path)) {
            Ok(_) => *loaded.entry(format.unwrap().name()).or_default() += 1,
            Err(ReadError::History(HistoryError::RepeatedValue { .. })) => repeated.push(path),
            Err(ReadError::Unrecognized) => others.push(path),
            // GRAIL's write-ahead logs are no histories. They are JSON lines, so they are taken for our own.
            Err(ReadError::Malformed { .. }) if path.starts_with("grail/") && path.ends_with(".log") => {
                others.push(path)
            }
            Err(error) => panic!("{path}: {error}"),
        }
    }
    let expected =
        [("awdit", 15), ("cobra", 9), ("dbcop", 162), ("elle", 37), ("text", 91), ("timestamped", 2), ("viper", 15)];
    assert_eq!(loaded, BTreeMap::from(expected));
    assert_eq!(repeated, ["BL-1k", "RH-1k"].map(|name| format!("veristrong/fig5/{name}/hist-00000/history.bincode")));
    let logs = ["dirty-read", "g-single", "g0", "g1a", "g1b-1", "non-repeatable-read", "write-skew"];
    let mut not_histories = vec![
        "MANIFEST.md",
        "cobra-logs/bsl/polyg/chengRW-200.polyg",
        "dbcop-verifier/expected.tsv",
        "grail/expected.tsv",
    ];
    let logs = logs.map(|name| format!("grail/rw-register-test/{name}.log"));
    not_histories.extend(logs.iter().map(String::as_str));
    assert_eq!(others, not_histories);
}

#[test]
fn dbcop_histories_have_the_recorded_sizes() {
    let Some(root) = corpus() else { return };
    let folder = root.join("dbcop-verifier");
    let table = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let mut rows = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [path, _, _, sizes @ ..] = &columns[..] else { panic!("{row}") };
        let history = load(&folder.join(path)).unwrap();
        let (sessions, committed, _) = counts(&history);
        let found = [sessions, committed, history.event_count(), history.key_count()].map(|size| size.to_string());
        assert_eq!(sizes, found, "{path}");
        rows += 1;
    }
    assert_eq!(rows, 135);
}

#[test]
fn twins_agree() {
    let Some(root) = corpus() else { return };
    let load = |path: &str| load(&root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    for letter in 'a'..='n' {
        let text = counts(&load(&format!("c4/testcase/text/tap-{letter}.txt")));
        let elle = counts(&load(&format!("c4/testcase/elle/tap-{letter}.edn")));
        match letter {
            // These have other sessions in Elle's files, and n one transaction less.
            'b' | 'i' | 'l' => assert_eq!((elle.1, elle.2), (text.1, text.2), "{letter}"),
            'n' => assert_eq!((elle.1 + 1, elle.2), (text.1, text.2)),
            _ => assert_eq!(elle, text, "{letter}"),
        }
        // The files for Viper are empty where Viper's reader would refuse them.
        let viper = counts(&load(&format!("c4/testcase/viper/tap-{letter}")));
        assert_eq!(viper, if letter < 'e' { (0, 0, 0) } else { text }, "{letter}");
        if letter != 'e' {
            let dbcop = load(&format!("c4/testcase/dbcop/tap-{letter}/history.bincode"));
            // One transaction more, in a session of its own, writes all initial values.
            let (sessions, committed, events) = counts(&dbcop);
            let keys = dbcop.key_count();
            assert_eq!((sessions - 1, committed - 1, events - keys), text, "{letter}");
        }
    }
    for name in ["10", "20", "30", "40"] {
        let edn = load(&format!("grail/histories-30s/{name}.edn"));
        assert_eq!(counts(&edn), counts(&load(&format!("grail/histories-30s-text/{name}.txt"))), "{name}");
        assert!(edn.has_times());
    }
    for name in ["rw-register", "paper-example"] {
        let [edn, json] = ["edn", "json"].map(|end| load(&format!("elle-cli/histories/elle/{name}.{end}")));
        let records = |history: &History| {
            format!("{:?}", history.transactions().map(|txn| history.record(txn)).collect::<Vec<_>>())
        };
        assert_eq!(records(&edn), records(&json), "{name}");
    }
    let with_initial = |history: &History, (sessions, committed, events): (usize, usize, usize)| {
        (sessions + 1, committed + 1, events + history.key_count())
    };
    for (with, without) in [
        ("isovista/history/bugs/dgraph_si.txt", "polysi-artifact/violations/dgraph/history.bincode"),
        ("isovista/history/bugs/yugabyte_tcc.txt", "c4/bugs/yugabyte.txt"),
        ("veristrong/table2/si/polysi/yugabyte/history.bincode", "c4/bugs/yugabyte.txt"),
        ("veristrong/table2/si/polysi/galera/history.bincode", "polysi-artifact/violations/galera/galera.txt"),
    ] {
        let without = load(without);
        assert_eq!(counts(&load(with)), with_initial(&without, counts(&without)), "{with}");
    }
    let mut conversions = 0;
    for path in histories(&root).iter().filter(|path| path.starts_with("c4/reproduce/dbcop/")) {
        let parts: Vec<&str> = path.split('/').collect();
        let [group, size, number] = parts[parts.len() - 4..parts.len() - 1] else { panic!("{path}") };
        let origin = load(&format!("dbcop-verifier/excutions/{group}/{size}/{number}/history.bincode"));
        assert_eq!(counts(&load(path)), with_initial(&origin, counts(&origin)), "{path}");
        conversions += 1;
    }
    assert_eq!(conversions, 15);
}

#[test]
fn known_bad_reads_are_found() {
    let Some(root) = corpus() else { return };
    let faults = |path: &str| -> Vec<FaultKind> {
        load(&root.join(path)).unwrap().derived().faults().iter().map(|fault| fault.kind).collect()
    };
    assert_eq!(faults("cobra-logs/ser-violation/cock-blog"), [FaultKind::ThinAir; 8]);
    assert_eq!(faults("elle-cli/histories/elle/rw-register.json"), [FaultKind::ThinAir]);
    assert_eq!(faults("grail/rw-register-test/g1a.edn")[0], FaultKind::Aborted);
    assert_eq!(faults("grail/rw-register-test/dirty-read.edn"), [FaultKind::Intermediate]);
    assert!(faults("c4/reproduce/viper/history3-4-1-2-aborted-read/history.edn").contains(&FaultKind::Aborted));
    for path in [
        "timekiller/examples/format-kv.json",
        "veristrong/fig11/si/viper/1000/json",
        "cobra-logs/ser-violation/cock-G2",
    ] {
        assert_eq!(faults(path), [], "{path}");
    }
    // Reads of this template do not see the writes of their own transaction; none is out of thin air.
    let template = faults("dbcdc-runner/tidb/template/history-template.json");
    let own = |kind: &FaultKind| matches!(kind, FaultKind::NotMyOwnWrite | FaultKind::NotMyLastWrite);
    assert!(template.len() == 225 && template.iter().all(own));
}
