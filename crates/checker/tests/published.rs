//! Published verdicts: histories whose verdict at some level somebody else has stated.
//!
//! Two sets of files, neither of them in this repository; a test that lacks its files says so and passes.
//!
//! - The shared corpus (`ISONOMY_CORPUS`, or `shared/corpus` beside the repository); its `MANIFEST.md` states the verdicts.
//! - The executions of dbcop's authors (`ISONOMY_DBCOP`, the folder `excutions` of `EagleBear2002/dbcop-verifier`), 4,326 histories whose
//!   counts are known from two independent readings of the definitions.
//!
//! Every verdict is certified.

#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use isonomy_checker::certify::certify;
use isonomy_checker::patterns::all_anomalies;
use isonomy_checker::{Counterexample, Evidence, IsolationLevel as L, Options, Reason, Terms, Verdict, check};
use isonomy_history::{Datum, History, HistoryBuilder, Key, NamedEvent, Sink};
use shared::{corpus, histories, load, relative};

/// The levels that need no times, in a chain: each implies those before it.
const CHAIN: [L; 6] = [L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::Serializable];
/// The others: those that speak of real time are asked where there are times.
const BESIDE: [L; 5] = [L::AdyaSi, L::GeneralizedSi, L::StrongSessionSi, L::StrongSi, L::StrictSerializable];

fn executions() -> Option<PathBuf> {
    let root = std::env::var_os("ISONOMY_DBCOP").map(PathBuf::from).filter(|root| root.is_dir());
    if root.is_none() {
        eprintln!("ISONOMY_DBCOP does not name the executions of dbcop: nothing is tested");
    }
    root
}

/// A verdict, certified; of a violation what is wrong.
fn decide(history: &History, level: L, name: &str) -> Option<Counterexample> {
    let verdict = check(history, level, &Options::default());
    if let Err(flaw) = certify(history, level, Terms::default(), &verdict) {
        panic!("{name}: {level}: {flaw}");
    }
    match verdict {
        Verdict::Holds(_) => None,
        Verdict::Violated(counterexample) => {
            let anomaly = counterexample.anomaly;
            // What causal forbids, the table says of levels with session order; others may find it without.
            let weak = !level.has_session_order() && anomaly.rules_out(L::Causal);
            assert!(anomaly.rules_out(level) || weak, "{name}: {anomaly} does not rule out {level}");
            Some(counterexample)
        }
        Verdict::Undecided(reason) => panic!("{name}: {level}: {reason}"),
    }
}

/// The weakest level of the chain that a history violates, and what is wrong. All of the chain is decided and certified, and where a
/// level holds so do those below it.
fn weakest_violated(history: &History, name: &str) -> Option<(L, Counterexample)> {
    let mut weakest = None;
    for level in CHAIN {
        match decide(history, level, name) {
            None => assert!(weakest.is_none(), "{name}: {level} holds"),
            Some(counterexample) => weakest = weakest.or(Some((level, counterexample))),
        }
    }
    weakest
}

/// The strongest level of the chain that holds, and the anomaly that rules out the next: `read-committed, fractured-read`. The levels
/// beside the chain are decided as well, and agree with it.
fn found(root: &Path, path: &str) -> String {
    let history = load(&root.join(path));
    let (holds, found) = match weakest_violated(&history, path) {
        None => (CHAIN.len(), "serializable".to_string()),
        Some((level, Counterexample { anomaly, .. })) => {
            let holds = CHAIN.iter().position(|&weak| weak == level).expect("it is in the chain");
            (holds, format!("{}, {anomaly}", if holds == 0 { "none" } else { CHAIN[holds - 1].name() }))
        }
    };
    let mut holding = CHAIN[..holds].to_vec();
    let timed = !matches!(check(&history, L::StrongSi, &Options::default()), Verdict::Undecided(Reason::NoTimes));
    let beside = BESIDE.into_iter().filter(|level| timed || !level.needs_times());
    let beside: Vec<(L, bool)> = beside.map(|level| (level, decide(&history, level, path).is_none())).collect();
    holding.extend(beside.iter().filter(|(_, holds)| *holds).map(|(level, _)| level));
    for level in CHAIN.into_iter().chain(beside.iter().map(|(level, _)| *level)) {
        let implied = holding.iter().any(|strong| strong.implies(level));
        assert_eq!(implied, holding.contains(&level), "{path}: {level} beside {holding:?}");
    }
    found
}

fn expect(root: &Path, path: &str, expected: &str) {
    assert_eq!(found(root, path), expected, "{path}");
}

fn expect_all(root: &Path, expected: &[(&str, &str)]) {
    for (path, expected) in expected {
        expect(root, path, expected);
    }
}

// ---- The shared corpus ----

#[test]
fn awdit_states_the_strongest_level() {
    let Some(root) = corpus() else { return };
    let mut count = 0;
    for path in histories(&root.join("awdit/tests")) {
        let name = relative(&root, &path);
        let stated = name.split('/').nth(2).unwrap();
        let found = found(&root, &name);
        // Where causal is stated nothing is said of what is above it.
        let strongest: Option<L> = found.split(", ").next().and_then(|level| level.parse().ok());
        let stated = stated.parse().ok();
        let agrees =
            strongest == stated || stated == Some(L::Causal) && strongest.is_some_and(|l| l.implies(L::Causal));
        assert!(agrees, "{name}: {found}");
        count += 1;
    }
    assert_eq!(count, 15);
}

/// Stated: all fourteen violate causal; a to l violate read-atomic; a to g violate read-committed. Not stated, and found: h violates
/// read-committed (the second read goes back), i does not (its reader saw only one of the two orders), j does (its first
/// read is of its own write, and the second of another's), k to n do not.
const TAPS: [(char, &str); 14] = [
    ('a', "none, thin-air-read"),
    ('b', "none, aborted-read"),
    ('c', "none, future-read"),
    ('d', "none, not-my-own-write"),
    ('e', "none, not-my-last-write"),
    ('f', "none, intermediate-read"),
    ('g', "none, cyclic-information-flow"),
    ('h', "none, non-monotonic-read"),
    ('i', "read-committed, fractured-read"),
    ('j', "none, not-my-own-write"),
    ('k', "read-committed, fractured-read"),
    ('l', "read-committed, fractured-read"),
    ('m', "read-atomic, causality-violation"),
    ('n', "read-atomic, causality-violation"),
];

#[test]
fn the_test_cases_of_c4() {
    let Some(root) = corpus() else { return };
    let root = root.join("c4/testcase");
    for (letter, expected) in TAPS {
        expect(&root, &format!("text/tap-{letter}.txt"), expected);
        // Lists give their order away: i and l write two lists in opposite orders, n reads one in two orders.
        let as_list = match letter {
            'i' | 'l' => "none, dirty-write",
            'n' => "none, incompatible-order",
            _ => expected,
        };
        expect(&root, &format!("elle/tap-{letter}.edn"), as_list);
        // The conversion has lost the aborted transaction; there is no e.
        let of_dbcop = if letter == 'b' { "none, thin-air-read" } else { expected };
        if letter != 'e' {
            expect(&root, &format!("dbcop/tap-{letter}/history.bincode"), of_dbcop);
        }
        // The files are empty where Viper's reader would refuse the history.
        expect(&root, &format!("viper/tap-{letter}"), if letter < 'e' { "serializable" } else { expected });
    }
}

#[test]
fn known_bugs() {
    let Some(root) = corpus() else { return };
    let yugabyte = "read-committed, session-guarantee-violation";
    let dgraph = "read-atomic, causality-violation";
    expect_all(
        &root,
        &[
            // Stated: causal is violated.
            ("c4/bugs/yugabyte.txt", yugabyte),
            ("isovista/history/bugs/yugabyte_tcc.txt", yugabyte),
            ("veristrong/table2/si/polysi/yugabyte/history.bincode", yugabyte),
            ("dbcop-verifier/histories/yaml/non_cc.yaml", "read-atomic, causality-violation"),
            // Stated: an aborted read, and cyclic information flow, which is below. Both have worse than that.
            ("c4/reproduce/viper/history3-4-1-2-aborted-read/history.edn", "none, incompatible-order"),
            ("c4/reproduce/viper/history4-4-6-cyclic-information/history.edn", "none, aborted-read"),
            // Stated: snapshot isolation is violated. C4 finds the patterns i, k and l in Dgraph's, which causal forbids; the
            // one of Galera is a lost update.
            ("isovista/history/bugs/dgraph_si.txt", dgraph),
            ("polysi-artifact/violations/dgraph/history.bincode", dgraph),
            ("polysi-artifact/violations/galera/galera.txt", "prefix, lost-update"),
            ("veristrong/table2/si/polysi/galera/history.bincode", "prefix, lost-update"),
            // Stated: serializability is violated, by the name of two of them by G2. The other reads from transactions that its
            // logs lack.
            ("cobra-logs/ser-violation/cock-blog", "none, thin-air-read"),
            ("cobra-logs/ser-violation/cock-G2", "snapshot-isolation, write-skew"),
            ("cobra-logs/ser-violation/yuga-G2-b", "snapshot-isolation, write-skew"),
        ],
    );
    let letters = |path: &str| c4_letters(&load(&root.join(path)));
    assert!(letters("c4/reproduce/viper/history3-4-1-2-aborted-read/history.edn").contains('b'));
    assert!(letters("c4/reproduce/viper/history4-4-6-cyclic-information/history.edn").contains('g'));
    // With the initial state written by a transaction of its own, as C4 had it.
    assert_eq!(letters("isovista/history/bugs/yugabyte_tcc.txt"), "ikl");
    assert_eq!(letters("isovista/history/bugs/dgraph_si.txt"), "ikl");
}

/// What the counterexamples of known bugs say: the level that is violated, the anomaly and how many transactions show it.
#[test]
fn counterexamples_of_known_bugs() {
    let Some(root) = corpus() else { return };
    let expected: [(&str, L, &str, usize); 11] = [
        // PolySI's figure 5: two updates of one version, and its writer.
        ("polysi-artifact/violations/galera/galera.txt", L::SnapshotIsolation, "lost-update", 3),
        ("veristrong/table2/si/polysi/galera/history.bincode", L::SnapshotIsolation, "lost-update", 3),
        // Figures 12 and 13 call them causality violations; the second is one within a session.
        ("polysi-artifact/violations/dgraph/history.bincode", L::SnapshotIsolation, "causality-violation", 5),
        ("isovista/history/bugs/dgraph_si.txt", L::SnapshotIsolation, "causality-violation", 5),
        ("c4/bugs/yugabyte.txt", L::SnapshotIsolation, "session-guarantee-violation", 3),
        ("isovista/history/bugs/yugabyte_tcc.txt", L::SnapshotIsolation, "session-guarantee-violation", 3),
        (
            "veristrong/table2/si/polysi/yugabyte/history.bincode",
            L::SnapshotIsolation,
            "session-guarantee-violation",
            3,
        ),
        ("cobra-logs/ser-violation/cock-G2", L::Serializable, "write-skew", 2),
        ("cobra-logs/ser-violation/yuga-G2-b", L::Serializable, "write-skew", 3),
        ("elle/histories/si-without-g-single.edn", L::Serializable, "write-skew", 3),
        // The circle of the paper has three, one of which missed a version; the fourth wrote what it read instead.
        ("elle/histories/paper-example.edn", L::SnapshotIsolation, "read-skew", 4),
    ];
    for (path, level, anomaly, transactions) in expected {
        let history = load(&root.join(path));
        let counterexample = decide(&history, level, path).unwrap_or_else(|| panic!("{path}: {level} holds"));
        let found = (counterexample.anomaly.name(), counterexample.transactions().len());
        assert_eq!(found, (anomaly, transactions), "{path}: {level}");
    }
}

#[test]
fn histories_of_jepsen_elle_and_grail() {
    let Some(root) = corpus() else { return };
    expect_all(
        &root,
        &[
            // Stated: G2-item, which violates repeatable read, and no violation of snapshot isolation.
            ("elle/histories/si-without-g-single.edn", "snapshot-isolation, write-skew"),
            // Not stated; the paper that it is of calls it G-single. The same operations, without and with the processes that make
            // them sessions.
            ("elle/histories/paper-example.edn", "prefix, read-skew"),
            ("elle-cli/histories/elle/paper-example.edn", "read-committed, session-guarantee-violation"),
            ("elle-cli/histories/elle/paper-example.json", "read-committed, session-guarantee-violation"),
            ("elle-cli/histories/elle/list-append-gh-30.edn", "snapshot-isolation, write-skew"),
            // Stated: fine by Elle's reading, which lets a read return a value that nobody wrote.
            ("elle-cli/histories/elle/rw-register.edn", "none, thin-air-read"),
            ("elle-cli/histories/elle/rw-register.json", "none, thin-air-read"),
            // Stated: a long fork. The file has its reads only, not the writes.
            ("elle-cli/histories/jepsen/long-fork.edn", "none, thin-air-read"),
            // Stated: none is serializable; 20 and 40 satisfy snapshot isolation; 10 and 30 do not, but PL-2 and Elle's parallel snapshot isolation. Our
            // read-committed asks for more than PL-2: their readers saw a transaction's append to one list and then not the
            // one to another. The text conversions have lost what the readers saw before.
            ("grail/histories-30s/10.edn", "none, non-monotonic-read"),
            ("grail/histories-30s/20.edn", "snapshot-isolation, write-skew"),
            ("grail/histories-30s/30.edn", "none, non-monotonic-read"),
            ("grail/histories-30s/40.edn", "snapshot-isolation, write-skew"),
            ("grail/histories-30s-text/10.txt", "read-committed, fractured-read"),
            ("grail/histories-30s-text/20.txt", "snapshot-isolation, write-skew"),
            ("grail/histories-30s-text/30.txt", "read-atomic, causality-violation"),
            ("grail/histories-30s-text/40.txt", "snapshot-isolation, write-skew"),
            // Stated with an order of writes, which we do not read: G0 and G-single are one history to us. All but write-skew violate
            // snapshot isolation, and that one serializability.
            ("grail/rw-register-test/g0.edn", "read-committed, fractured-read"),
            ("grail/rw-register-test/g-single.edn", "read-committed, fractured-read"),
            ("grail/rw-register-test/g1a.edn", "none, aborted-read"),
            ("grail/rw-register-test/g1b-1.edn", "none, intermediate-read"),
            ("grail/rw-register-test/dirty-read.edn", "none, intermediate-read"),
            ("grail/rw-register-test/non-repeatable-read.edn", "read-committed, non-repeatable-read"),
            ("grail/rw-register-test/write-skew.edn", "snapshot-isolation, write-skew"),
            ("grail/rw-register/10.edn", "snapshot-isolation, write-skew"),
        ],
    );
}

/// Recorded `ok` is serializable, and all others are not. Where they fail first is counted as it was found.
#[test]
fn recorded_verdicts_of_dbcop() {
    let Some(root) = corpus() else { return };
    let root = root.join("dbcop-verifier");
    let table = fs::read_to_string(root.join("expected.tsv")).unwrap();
    let mut counts: BTreeMap<(String, String), Counts> = BTreeMap::new();
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (path, recorded) = (columns[0], columns[1]);
        let index = count(&load(&root.join(path)), path);
        assert_eq!(recorded == "ok", index == NONE, "{path}: whether it is serializable");
        // What that checker calls read-committed is reads by themselves; it stops at the first bad read of either kind.
        assert!(recorded != "ReadCommitted" || index == INTEGRITY, "{path} has a read that is wrong by itself");
        let group = path.split('/').nth(1).unwrap().to_string();
        counts.entry((group, recorded.to_string())).or_default()[index] += 1;
    }
    let found: Vec<(&str, &str, Counts)> =
        counts.iter().map(|((group, recorded), &counts)| (group.as_str(), recorded.as_str(), counts)).collect();
    assert_eq!(
        found,
        [
            ("antidote_all_writes", "Serializable", [0, 0, 0, 0, 5, 0, 0, 0]),
            ("galera_all_writes", "ReadCommitted", [5, 0, 0, 0, 0, 0, 0, 0]),
            ("galera_all_writes", "RepeatableRead", [2, 2, 3, 0, 0, 0, 0, 0]),
            ("galera_all_writes", "Serializable", [0, 5, 5, 5, 0, 1, 0, 0]),
            ("galera_all_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 5]),
            ("galera_partition_writes", "ReadCommitted", [5, 0, 0, 0, 0, 0, 0, 0]),
            ("galera_partition_writes", "Serializable", [0, 5, 5, 5, 0, 0, 2, 0]),
            ("galera_partition_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 5]),
            ("roachdb_all_writes", "Serializable", [0, 0, 5, 5, 0, 0, 0, 0]),
            ("roachdb_all_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 4]),
            ("roachdb_general_all_writes", "Serializable", [0, 0, 5, 5, 1, 1, 0, 0]),
            ("roachdb_general_all_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 5]),
            ("roachdb_general_partition_writes", "Serializable", [0, 0, 5, 5, 1, 0, 5, 0]),
            ("roachdb_general_partition_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 5]),
            ("roachdb_partition_writes", "Serializable", [0, 0, 5, 5, 0, 0, 3, 0]),
            ("roachdb_partition_writes", "ok", [0, 0, 0, 0, 0, 0, 0, 5]),
        ]
    );
}

#[test]
fn other_histories_of_the_corpus() {
    let Some(root) = corpus() else { return };
    // Stated for four of them: serializable.
    for path in histories(&root.join("smt-artifact/history")) {
        expect(&root, &relative(&root, &path), "serializable");
    }
    // Not stated: histories of databases at snapshot isolation or serializable, made to measure checkers.
    for (name, expected) in [
        ("20_100_15_10000_0.5_zipf", "snapshot-isolation, write-skew"),
        ("20_100_15_1000_0.5_uniform", "snapshot-isolation, serialization-cycle"),
        ("20_10_15_10000_0.5_uniform", "serializable"),
        ("20_20_15_10000_0.5_uniform", "serializable"),
        ("5_100_15_10000_0.5_uniform", "serializable"),
    ] {
        expect(&root.join("polysi-artifact/fig7"), &format!("{name}/hist-00000/history.bincode"), expected);
    }
    for path in [
        "bsl/raw/chengRW-200",
        "one-shot-10k/twitter-10000",
        "one-shot-chengRW/chengRW-100",
        "one-shot-chengRW/chengRW-300",
        "one-shot-chengRW/chengRW-500",
        "one-shot-chengRW/chengRW-1000",
    ] {
        expect(&root.join("cobra-logs"), path, "serializable");
    }
    expect_all(
        &root,
        &[
            ("veristrong/fig11/si/viper/1000/json", "serializable"),
            ("timekiller/examples/format-kv.json", "snapshot-isolation, write-skew"),
            ("dbcdc-runner/databases/draph/template/history.edn", "snapshot-isolation, write-skew"),
            ("dbcdc-runner/tidb/template/history-template.json", "none, not-my-own-write"),
        ],
    );
}

/// The text conversions of dbcop's executions have the verdict of their origin; CockroachDB's single-operation histories are
/// fine, and those of Galera that are not all show C4's pattern j, a stale read of the initial state, and no other.
#[test]
fn histories_reproduced_by_c4() {
    let Some(root) = corpus() else { return };
    let mut conversions = 0;
    for path in histories(&root.join("c4/reproduce/dbcop")) {
        let name = relative(&root, &path);
        let parts: Vec<&str> = name.split('/').collect();
        let [group, size, number] = parts[parts.len() - 4..parts.len() - 1] else { panic!("{name}") };
        let origin = format!("dbcop-verifier/excutions/{group}/{size}/{number}/history.bincode");
        assert_eq!(count(&load(&path), &name), count(&load(&root.join(&origin)), &origin), "{name}");
        conversions += 1;
    }
    assert_eq!(conversions, 15);
    let mut anomalous = 0;
    for folder in ["Cockreach", "Galera"] {
        for path in histories(&root.join("c4/reproduce").join(folder)) {
            let name = relative(&root, &path);
            let history = load(&path);
            let letters = c4_letters(&history);
            // Those that satisfy causal are serializable, too.
            assert_eq!(weakest_violated(&history, &name).is_none(), letters.is_empty(), "{name}");
            assert!(letters.is_empty() || folder == "Galera" && letters == "j", "{name}: {letters}");
            anomalous += usize::from(!letters.is_empty());
        }
    }
    assert_eq!(anomalous, 6);
}

// ---- The executions of dbcop's authors ----

/// Counts by weakest level violated: a read that is wrong by itself, each level of the chain, none of these.
type Counts = [usize; CHAIN.len() + 2];
const INTEGRITY: usize = 0;
const PREFIX: usize = 4;
const SNAPSHOT: usize = 5;
const NONE: usize = CHAIN.len() + 1;

fn count(history: &History, name: &str) -> usize {
    match weakest_violated(history, name) {
        Some((L::ReadCommitted, Counterexample { evidence: Evidence::Read(_), .. })) => INTEGRITY,
        Some((level, _)) => 1 + CHAIN.iter().position(|&weak| weak == level).expect("it is in the chain"),
        None => NONE,
    }
}

/// The counts of a table of the thesis (Table 3.2, by the axioms as defined), as files and weighted as there: of each folder the first
/// fifty, and the one that all four series share four times. Where the verdicts that the origin recorded are beside the executions, all of
/// them are those found.
#[test]
fn executions_of_dbcop_have_the_known_counts() {
    let Some(root) = executions() else { return };
    let mut files: BTreeMap<String, Counts> = BTreeMap::new();
    let mut weighted = files.clone();
    let mut named = Vec::new();
    for path in histories(&root) {
        let name = relative(&root, &path);
        let parts: Vec<&str> = name.split('/').collect();
        let index = count(&load(&path), &name);
        if let Some(serializable) = recorded(&root, &name) {
            assert_eq!(serializable, index == NONE, "{name}: whether it is serializable");
        }
        // Few enough to be known by name.
        if parts[0].starts_with("roachdb_general") && matches!(index, PREFIX | SNAPSHOT) {
            let group = if parts[0].contains("partition") { "disjoint" } else { "free" };
            named.push(format!("{group}/{}/{}: {}", parts[1], parts[2], CHAIN[index - 1]));
        }
        files.entry(parts[0].to_string()).or_default()[index] += 1;
        let number = parts[2].strip_prefix("hist-").and_then(|number| number.parse::<u32>().ok());
        if parts[0].starts_with("roachdb_general") && number.is_some_and(|number| number < 50) {
            let weight = if parts[1] == "6_30_20_360" { 4 } else { 1 };
            weighted.entry(parts[0].to_string()).or_default()[index] += weight;
        }
    }
    let [files, weighted] = [&files, &weighted].map(|counts| -> Vec<(&str, Counts)> {
        counts.iter().map(|(group, &counts)| (group.as_str(), counts)).collect()
    });
    assert_eq!(
        files,
        [
            ("antidote_all_writes", [0, 0, 0, 0, 500, 0, 0, 0]),
            ("diy_excutions", [0, 0, 0, 0, 0, 0, 0, 23]),
            ("diy_excutions-15_45_5_1000", [0, 0, 0, 0, 0, 0, 0, 1]),
            ("galera_all_writes", [52, 56, 110, 14, 0, 1, 1, 16]),
            ("galera_partition_writes", [19, 27, 109, 43, 0, 0, 4, 48]),
            // This group and the last are not in the table; C4 counts as many in them that violate causal.
            ("roachdb_all_writes", [0, 0, 466, 26, 1, 0, 0, 7]),
            ("roachdb_general_all_writes", [0, 0, 1497, 75, 3, 2, 0, 123]),
            // One file more than the thesis counts, the last of a folder of 51.
            ("roachdb_general_partition_writes", [0, 0, 352, 113, 2, 0, 22, 361 + 1]),
            ("roachdb_partition_writes", [0, 0, 73, 50, 0, 0, 5, 123]),
        ]
    );
    assert_eq!(
        weighted,
        [
            ("roachdb_general_all_writes", [0, 0, 886, 43, 6, 2, 0, 63]),
            ("roachdb_general_partition_writes", [0, 0, 388, 131, 2, 0, 25, 454]),
        ]
    );
    assert_eq!(
        named,
        [
            "free/6_20_20_360/hist-00046: snapshot-isolation",
            // The thesis files this one under prefix.
            "free/6_30_10_360/hist-00013: snapshot-isolation",
            "free/6_30_20_360/hist-00018: prefix",
            "free/6_30_20_540/hist-00026: prefix",
            "free/6_30_20_540/hist-00038: prefix",
            "disjoint/15_30_20_900/hist-00016: prefix",
            "disjoint/6_30_20_420/hist-00019: prefix",
        ]
    );
}

/// Whether the origin recorded that an execution is serializable: its log ends with `"minViolation":"ok"`, or with another level.
fn recorded(root: &Path, name: &str) -> Option<bool> {
    let folder = Path::new(name).parent().expect("it is in a folder");
    let log = root.join("../results-status-cnt-improved").join(folder).join("result_log.json");
    let log = fs::read_to_string(log).ok()?;
    let (_, end) = log.rsplit_once("\"minViolation\":\"")?;
    Some(end.starts_with("ok\""))
}

/// The letters of C4's patterns that a history shows.
fn c4_letters(history: &History) -> String {
    let groups = all_anomalies(history, true, 0).groups;
    groups.iter().filter_map(|group| group.c4).collect::<BTreeSet<char>>().into_iter().collect()
}

/// The history with its initial state written by a transaction of its own, in a session of its own, as in the text conversions
/// of C4's authors.
fn with_explicit_initial(history: &History) -> History {
    let mut builder = HistoryBuilder::new();
    builder.begin("initial".into());
    let explicit = Datum::Int(-1);
    for key in (0..history.key_count() as u32).map(Key) {
        builder.write(history.key_name(key), explicit);
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

/// How many histories show each of C4's patterns, against an independent count over the text conversions.
#[test]
fn executions_of_dbcop_show_the_known_patterns() {
    let Some(root) = executions() else { return };
    type Row = (&'static str, usize, &'static [(char, usize)]);
    let expected: [Row; 7] = [
        ("antidote_all_writes", 0, &[]),
        ("galera_all_writes", 232, &[('d', 52), ('f', 12), ('h', 142), ('i', 225), ('k', 225), ('l', 223)]),
        ("galera_partition_writes", 198, &[('d', 19), ('f', 1), ('h', 65), ('i', 183), ('k', 197), ('l', 187)]),
        ("roachdb_all_writes", 492, &[('i', 488), ('k', 492), ('l', 489)]),
        ("roachdb_general_all_writes", 1572, &[('i', 1550), ('k', 1572), ('l', 1552)]),
        ("roachdb_general_partition_writes", 465, &[('i', 404), ('k', 465), ('l', 415)]),
        ("roachdb_partition_writes", 123, &[('i', 94), ('k', 123), ('l', 101)]),
    ];
    for (group, anomalous, letters) in expected {
        let mut found_anomalous = 0;
        let mut found: BTreeMap<char, usize> = BTreeMap::new();
        for path in histories(&root.join(group)) {
            let shown = c4_letters(&with_explicit_initial(&load(&path)));
            found_anomalous += usize::from(!shown.is_empty());
            shown.chars().for_each(|letter| *found.entry(letter).or_default() += 1);
        }
        assert_eq!((found_anomalous, found), (anomalous, letters.iter().copied().collect()), "{group}");
    }
}
