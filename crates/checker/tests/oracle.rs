//! The oracle against published verdicts, against itself (axioms, graphs and replays; stronger and weaker levels), and
//! against what [`History::derived`] says of reads.

mod support;

use std::fmt::Debug;
use std::path::PathBuf;

use isonomy_checker::oracle::{MAX_TRANSACTIONS, Oracle, holds};
use isonomy_checker::{IsolationLevel as L, Terms};
use isonomy_history::{
    Datum, Event, FaultKind, History, HistoryBuilder, InitialRule, Key, Name, Outcome, Times, TxnId,
};
use isonomy_history::{EventId, Value};
use support::notation::{history, history_with};
use support::random::{Shape, random_history};
use support::{SEEDS, for_each_random_history, for_each_small_history};

const DEFAULT: Terms = Terms { session_order: true, clock_drift: 0 };
const NO_SESSION_ORDER: Terms = Terms { session_order: false, clock_drift: 0 };

fn drift(clock_drift: i64) -> Terms {
    Terms { clock_drift, ..DEFAULT }
}

/// Asserts that exactly these of the levels without times hold.
fn check(text: &str, expect: &[L]) {
    check_history(&history(text), text, expect);
}

fn check_history(history: &History, name: &str, expect: &[L]) {
    for level in L::ALL.into_iter().filter(|level| !level.needs_times()) {
        assert_eq!(holds(history, level, DEFAULT), Some(expect.contains(&level)), "{level}: {name}");
    }
}

// ---- Published verdicts ----

const RC: &[L] = &[L::ReadCommitted];
const UP_TO_RA: &[L] = &[L::ReadCommitted, L::ReadAtomic];
const UP_TO_CC: &[L] = &[L::ReadCommitted, L::ReadAtomic, L::Causal];
const UP_TO_PC: &[L] = &[L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix];
const UP_TO_SI: &[L] = &[L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::AdyaSi];
const UP_TO_SER: &[L] =
    &[L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::AdyaSi, L::Serializable];
/// Only session order is violated.
const WITHOUT_SESSIONS: &[L] = &[L::ReadCommitted, L::AdyaSi];
const UP_TO_RA_AND_ADYA: &[L] = &[L::ReadCommitted, L::ReadAtomic, L::AdyaSi];

#[test]
fn figures_of_the_thesis() {
    // Without session order the two writes of x may be the other way round.
    check("a: [w(x,1)] [w(x,2) w(y,1)] / b: [r(y,1) r(x,1)]", &[L::AdyaSi]);
    check("a: [w(x,1)] / b: [w(x,2)] / c: [r(x,1) r(x,2)]", RC);
    check("a: [w(y,1)] / b: [r(y,1) w(y,2)] [r(y,1)]", WITHOUT_SESSIONS);
    check("a: [w(x,1) w(y,1)] / b: [w(x,2) w(y,2)] / c: [r(x,1) r(y,2)]", RC);
    check("a: [w(x,1)] / b: [r(x,1) w(x,2)] / c: [r(x,2) w(y,1)] / d: [r(y,1) r(x,1)]", UP_TO_RA);
    check("a: [w(x,1)] [w(x,2)] / b: [r(x,2) w(y,1)] / c: [r(y,1) r(x,1)]", UP_TO_RA_AND_ADYA);
    check(
        "a: [w(x,1) w(y,1)] / b: [r(x,1) r(y,1) w(x,2)] / c: [r(x,1) r(y,1) w(y,2)] / d: [r(x,1) r(y,2)] / e: [r(x,2) r(y,1)]",
        UP_TO_CC,
    );
    check("a: [r(x,_) w(x,1)] / b: [r(x,_) w(x,2)]", UP_TO_PC);
    check("a: [r(x,_) w(y,1)] / b: [r(y,_) w(x,1)]", UP_TO_SI);
    check("a: [r(c,_) w(c,2)] / b: [r(c,_) w(c,3)] / c: [r(c,3)] [r(c,2)]", UP_TO_PC);
    check("a: [w(x,1)] / b: [w(x,2)] / c: [r(x,1)] / d: [r(x,2)]", UP_TO_SER);
}

#[test]
fn vectors_of_polysi_and_viper() {
    check(
        "s0: [w(x,10) w(y,10)] [w(x,5)] / s1: [w(x,1)] / s2: [w(y,2)] / s3: [r(x,1) r(y,10)] / s4: [r(x,10) r(y,2)]",
        UP_TO_CC,
    );
    check(
        "s1: [w(x,1) w(y,1)] / s2: [r(x,1) w(x,2)] / s3: [r(y,1) w(y,2)] / s4: [r(x,2) r(y,1)] / s5: [r(x,1) r(y,2)]",
        UP_TO_CC,
    );
    check("s1: [w(x,1)] / s2: [r(x,1) w(x,2)] / s3: [r(x,1) w(x,3)]", UP_TO_PC);
    check("s1: [w(x,1) w(y,1)] / s2: [r(x,1) r(y,1) w(x,2)] / s3: [r(x,1) r(y,1) w(y,3)]", UP_TO_SI);
    check("s1: [w(x,1)] / s2: [w(x,2)] / s3: [r(x,1)]", UP_TO_SER);
    check("s1: [r(y,2) w(x,1)] / s2: [r(x,1) w(y,2)]", &[]);
    check("s1: [r(y,_) w(x,1) w(z,1)] / s2: [r(z,_) w(x,2) w(y,2)]", UP_TO_PC);
    check("s1: [w(x,1) w(y,1)] / s2: [w(x,2) w(y,2)] / s3: [r(x,1) r(y,2)]", RC);
    let decoy = "s1: [r(q,4) w(x,1) w(u,1)] / s2: [w(x,2) w(p,2)] / s3: [r(p,2) w(y,3) w(v,3)] / s4: [w(y,4) w(q,4)] / \
                 s5: [r(y,4) r(u,1)] / s6: [r(x,2) r(v,3)]";
    assert_eq!(holds(&history(decoy), L::SnapshotIsolation, DEFAULT), Some(true));
    assert_eq!(holds(&history(decoy), L::AdyaSi, DEFAULT), Some(true));
    for text in ["s0: [w(x,1)] [r(x,_)]", "s1: [w(a,1) w(b,1)] / s0: [r(b,1)] [w(a,2)] [r(a,1)]"] {
        check(text, WITHOUT_SESSIONS);
        for level in [L::SnapshotIsolation, L::Serializable] {
            assert_eq!(holds(&history(text), level, NO_SESSION_ORDER), Some(true), "{level}: {text}");
        }
    }
    let timed = history("s1: [w(x,1)]@0..10 / s2: [r(x,1)]@5..20");
    check_history(&timed, "the last row", UP_TO_SER);
    for level in [L::GeneralizedSi, L::StrongSessionSi, L::StrongSi] {
        assert_eq!(holds(&timed, level, drift(4)), Some(false));
        assert_eq!(holds(&timed, level, drift(5)), Some(true));
    }
    assert_eq!(holds(&timed, L::StrictSerializable, DEFAULT), Some(true));
}

#[test]
fn anomalies_of_mtc() {
    let anomalies = [
        "a: [r(x,7)]",
        "a: [r(x,_) w(x,1)]! / b: [r(x,1)]",
        "a: [r(x,1) w(x,1)]",
        "a: [r(x,_) w(x,1) w(x,2) r(x,1)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,1) w(x,2) r(x,1)]",
        "a: [r(x,_) w(x,1) w(x,2)] / b: [r(x,1)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,1) w(x,2)] / c: [r(x,1) r(x,2)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,1) w(x,2)] [r(x,1)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,1) w(x,2) r(y,_) w(y,1)] / c: [r(y,1) r(x,1)]",
        "a: [r(x,_) r(y,_) w(x,1) w(y,1)] / b: [r(x,1) r(y,_)]",
        "a: [r(x,_) r(y,_) w(x,1) w(y,1)] / b: [r(y,_) r(x,1)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,1) r(y,_) w(y,1)] / c: [r(y,1) r(x,_)]",
        "a: [r(x,_) w(x,1)] / b: [r(y,_) w(y,1)] / c: [r(x,1) r(y,_)] / d: [r(x,_) r(y,1)]",
        "a: [r(x,_) w(x,1)] / b: [r(x,_) w(x,2)]",
        "a: [r(x,_) w(x,1) r(y,1)] / b: [r(y,_) w(y,1) r(x,1)]",
    ];
    for text in anomalies {
        for level in [L::SnapshotIsolation, L::Serializable] {
            assert_eq!(holds(&history(text), level, DEFAULT), Some(false), "{level}: {text}");
        }
    }
    check("a: [r(x,_) r(y,_) w(x,1)] / b: [r(x,_) r(y,_) w(y,1)]", UP_TO_SI);
}

/// A history in the lines of C4: `r(key,value,session,transaction)`, where transaction -1 aborted and 0 is initial.
fn c4(text: &str) -> History {
    let mut builder = HistoryBuilder::new();
    builder.set_initial(InitialRule::UnlessWritten(0));
    let mut current = None;
    for event in text.split_whitespace() {
        let numbers = event[2..].trim_end_matches(')').split(',').map(|n| n.parse::<i64>().expect("four numbers"));
        let [key, value, session, txn] = numbers.collect::<Vec<_>>()[..] else { panic!("four numbers: {event}") };
        if current != Some((session, txn)) {
            current = Some((session, txn));
            builder.begin(Name::Int(session));
            builder.set_outcome(if txn == -1 { Outcome::Aborted } else { Outcome::Committed });
        }
        let (key, value) = (Name::Int(key), Datum::Int(value));
        if event.starts_with('r') { builder.read(key, value) } else { builder.write(key, value) }
    }
    builder.finish().expect("the vectors are well formed")
}

#[test]
fn vectors_of_c4() {
    let k = "w(1,2,0,0) r(1,2,1,1) w(1,1,1,2) w(2,1,1,2) r(2,1,2,3) r(1,2,2,4)";
    let vectors = [
        "r(1,1,0,0) r(2,1,0,0)",
        "w(1,1,0,-1) w(2,1,0,-1) r(1,1,0,1)",
        "r(1,1,0,0) w(1,1,0,0)",
        "w(1,1,0,0) w(1,2,1,1) r(1,1,1,1)",
        "w(1,1,0,0) w(1,2,0,0) r(1,1,1,1)",
        "w(1,2,0,0) w(1,1,1,1) r(1,1,1,1) r(1,2,1,1)",
        "r(1,1,0,0) w(2,1,0,0) r(2,1,1,1) w(1,1,1,2)",
        "w(1,2,0,0) r(1,2,1,1) w(1,1,1,2) w(2,1,1,2) r(1,2,2,3) r(2,1,2,3)",
        "w(1,1,0,0) w(2,1,0,0) w(1,2,1,1) w(2,2,1,1) r(1,1,2,2) r(2,2,2,2)",
        "w(1,0,0,0) w(1,1,0,1) w(2,1,0,1) r(1,0,0,2)",
        k,
        &format!("{k} r(1,2,3,5) r(1,1,3,6)"),
        "w(1,2,0,0) w(1,1,1,2) w(2,1,1,2) r(2,1,2,3) r(1,2,2,4) r(1,2,3,5) r(1,1,3,6)",
        "w(1,1,0,0) w(1,2,0,1) r(1,1,0,2)",
        "w(1,1,0,0) w(1,2,0,0) r(1,1,0,0)",
    ];
    for text in vectors {
        assert_eq!(holds(&c4(text), L::Causal, DEFAULT), Some(false), "{text}");
    }
    let atomic =
        c4("w(1,1,0,0) w(1,2,1,1) w(2,1,1,1) r(1,1,2,2) r(2,1,2,2) r(1,1,3,3) w(3,1,3,3) r(3,1,4,4) r(1,2,4,4)");
    assert_eq!(holds(&atomic, L::Causal, DEFAULT), Some(false));
    // Read-atomic asks for t1 before t0 only: t2 saw t1, which writes key 1, and read that from t0.
    assert_eq!(holds(&atomic, L::ReadAtomic, DEFAULT), Some(true));
}

#[test]
#[allow(clippy::print_stderr, reason = "says that there was nothing to compare with")]
fn shared_cases() {
    let shared = std::env::var_os("ISONOMY_SHARED").map(PathBuf::from);
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let path = shared.unwrap_or_else(beside).join("checks/cases.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("no shared cases at {}", path.display());
        return;
    };
    let cases: serde_json::Value = serde_json::from_str(&text).expect("the cases are JSON");
    for case in cases.as_array().expect("a list of cases") {
        let history = from_json(&case["history"]);
        for (level, expected) in case["expect"].as_object().expect("levels with verdicts") {
            let level: L = level.parse().expect("a level");
            assert_eq!(holds(&history, level, DEFAULT), Some(expected == "holds"), "{level}: {}", case["name"]);
        }
    }
}

fn from_json(transactions: &serde_json::Value) -> History {
    let mut builder = HistoryBuilder::new();
    for txn in transactions.as_array().expect("a list of transactions") {
        builder.begin(Name::Int(txn["session"].as_i64().expect("sessions are numbers")));
        builder.set_outcome(match txn["status"].as_str() {
            Some("aborted") => Outcome::Aborted,
            Some("unknown" | "indeterminate") => Outcome::Indeterminate,
            _ => Outcome::Committed,
        });
        builder.set_times(Times { start: txn["start"].as_i64(), finish: txn["finish"].as_i64(), ..Times::default() });
        for event in txn["ops"].as_array().expect("a list of events") {
            let (key, value) = (Name::Text(event[1].as_str().expect("keys are texts")), event[2].as_i64().into());
            match event[0].as_str() {
                Some("r") => builder.read(key, value),
                Some("w") => builder.write(key, value),
                other => panic!("no such event in the cases: {other:?}"),
            }
        }
    }
    builder.finish().expect("the cases are well formed")
}

// ---- What the definitions say where no paper does ----

#[test]
fn indeterminate_transactions() {
    // Seen by nobody who counts: dropped, with what it saw.
    check("a: [r(x,_) w(x,1)]? / b: [r(x,_) w(x,2)]", UP_TO_SER);
    check("a: [w(x,1)]? / b: [r(x,1) w(y,1)]! / c: [r(x,_)] [r(y,_)]", UP_TO_SER);
    check("a: [w(x,1)]? / b: [r(x,1) w(y,1)]! / c: [r(x,_) r(y,1)]", &[]);
    // Seen, also through another: counts.
    check("a: [r(x,_) w(x,1)]? / b: [r(x,_) w(x,2)] / c: [r(x,1)]", UP_TO_PC);
    check("a: [r(x,_) w(x,1)]? / b: [r(x,1) w(y,1)]? / c: [r(y,1)] / d: [r(x,_) w(x,2)]", UP_TO_PC);
}

#[test]
fn lists() {
    check("a: [append(x,1)] / b: [append(x,2)] / c: [list(x,[1,2])] / d: [list(x,[1])] / e: [list(x,[])]", UP_TO_SER);
    check("a: [append(x,1)] / b: [append(x,2)] / c: [list(x,[1,2])] / d: [list(x,[2])]", &[]);
    check("a: [append(x,1) list(x,[1])] / b: [list(x,[1]) append(x,2) append(x,3) list(x,[1,2,3])]", UP_TO_SER);
    check("a: [list(x,[]) append(x,1)] / b: [list(x,[]) append(x,2)]", UP_TO_PC);
    // Every element shows its appender: x was seen with the list, y was not.
    check("a: [append(x,1) w(y,1)] / b: [append(x,2)] / c: [list(x,[1,2]) r(y,_)]", &[]);
    check("a: [append(x,1) w(y,1)] / b: [append(x,2)] / c: [r(y,_) list(x,[1,2])]", RC);
    // All of a transaction's appends are there, in its order, and nothing between them.
    check("a: [append(x,1) append(x,2)] / b: [list(x,[1])]", &[]);
    check("a: [append(x,1) append(x,2)] / b: [list(x,[2])]", &[]);
    check("a: [append(x,1) append(x,2)] / b: [append(x,3)] / c: [list(x,[2,1,3])]", &[]);
    check("a: [append(x,1) append(x,2)] / b: [append(x,3)] / c: [list(x,[1,3,2])]", &[]);
    check("a: [append(x,1) append(x,2)] / b: [append(x,3)] / c: [list(x,[1,2,3])]", UP_TO_SER);
    // Faults of the other kinds.
    check("a: [append(x,1)]! / b: [list(x,[1])]", &[]);
    check("a: [append(x,1)] / b: [list(x,[1,1])]", &[]);
    check("a: [list(x,[1])]", &[]);
    check("a: [append(x,1) append(x,2) list(x,[1])]", &[]);
    // What a transaction appended itself stands where it commits: each saw the empty list of others, as with a lost update.
    check("a: [append(x,1) list(x,[1])] / b: [append(x,2) list(x,[2])]", UP_TO_PC);
}

#[test]
fn rows_and_compare_and_sets() {
    // A key of the history that a range does not return is initial there; a tombstone is a version.
    check("a: [insert(k,1)] / b: [range(a,z,[])] / c: [range(a,z,[k=1])]", UP_TO_SER);
    check("a: [insert(k,1)] [range(a,z,[])]", WITHOUT_SESSIONS);
    check("a: [insert(k,1)] [delete(k,2)] / b: [range(a,z,[k=2])] [range(a,z,[k=1])]", UP_TO_RA_AND_ADYA);
    check("a: [delete(k,1) range(k,z,[])] / b: [insert(j,1) range(a,i,[]) range(a,j,[j=1])]", UP_TO_SER);
    check("a: [delete(k,1) range(a,z,[])] / b: [insert(j,1) range(a,z,[j=1])]", UP_TO_SI);
    check("a: [insert(k,1) range(a,z,[])]", &[]);
    check("a: [insert(j,1) insert(k,1)] / b: [range(a,z,[k=1])]", RC);
    check("a: [cas(x,_,1)] / b: [cas(x,1,2)] / c: [cas(x,1,3)!]", UP_TO_SER);
    check("a: [cas(x,_,1)] / b: [cas(x,_,2)]", UP_TO_PC);
    check("a: [cas(x,3,1)] / b: [cas(x,_,3)!]", &[]);
}

#[test]
fn times() {
    let expect = |text: &str, level: L, options: Terms, expected: Option<bool>| {
        assert_eq!(holds(&history(text), level, options), expected, "{level}: {text}");
    };
    // Equal moments are in no order, and drift widens that.
    let stale = "a: [w(x,1)]@0..10 / b: [r(x,_)]@11..20";
    expect(stale, L::StrictSerializable, DEFAULT, Some(false));
    expect(stale, L::StrongSi, DEFAULT, Some(false));
    expect(stale, L::GeneralizedSi, DEFAULT, Some(true));
    expect(stale, L::StrictSerializable, drift(1), Some(true));
    expect("a: [w(x,1)]@0..10 / b: [r(x,_)]@10..20", L::StrictSerializable, DEFAULT, Some(true));
    // Within the inner bounds the begin may be later than the start: here it is after the commit.
    let lazy = "a: [w(x,1)]@0..0..8..10 / b: [r(x,1)]@5..12..19..20";
    expect(lazy, L::StrongSi, DEFAULT, Some(true));
    expect("a: [w(x,1)]@0..0..8..10 / b: [r(x,1)]@5..6..19..20", L::StrongSi, DEFAULT, Some(false));
    // Commits in the wrong order.
    let swapped = "a: [r(x,_) w(x,1)]@0..10 / b: [r(x,1) w(x,2)]@3..9";
    expect(swapped, L::GeneralizedSi, DEFAULT, Some(false));
    expect(swapped, L::StrictSerializable, DEFAULT, Some(true));
    // Strict serializability does not imply strong snapshot isolation: the reader began before the writer committed.
    expect("a: [w(x,1)]@0..10 / b: [r(x,1)]@5..20", L::StrictSerializable, DEFAULT, Some(true));
    expect("a: [w(x,1)]@0..10 / b: [r(x,1)]@5..20", L::StrongSi, DEFAULT, Some(false));
    // Nobody knows when an indeterminate transaction committed, only that it had begun.
    let unknown = "a: [w(x,1)]?@0.. / b: [r(x,_)]@20..30 / c: [r(x,1)]@40..50";
    for level in [L::GeneralizedSi, L::StrongSi, L::StrictSerializable, L::Linearizable] {
        expect(unknown, level, DEFAULT, Some(true));
    }
    expect("a: [w(x,1)]?@10.. / b: [r(x,1)]@0..5", L::GeneralizedSi, DEFAULT, Some(false));
    expect("a: [w(x,1)]?@10.. / b: [r(x,1)]@0..5", L::StrictSerializable, DEFAULT, Some(false));
    // Times are missing, and not: only of transactions that count must they be known.
    expect("a: [w(x,1)]@..10", L::StrongSi, DEFAULT, None);
    expect("a: [w(x,1)]@0..", L::StrictSerializable, DEFAULT, None);
    expect("a: [w(x,1)]@0.. / b: [r(x,7)]@0..1", L::StrictSerializable, DEFAULT, None);
    expect("a: [w(x,1)]! / b: [w(x,2)]? / c: [r(x,_)]@0..1", L::StrongSi, DEFAULT, Some(true));
    expect("a: []", L::StrongSi, DEFAULT, None);
}

#[test]
fn single_objects() {
    let lin = |text: &str| holds(&history(text), L::Linearizable, DEFAULT);
    assert_eq!(lin("a: [w(x,1)]@0..10 [r(x,1)]@11..20 / b: [cas(x,1,2)]@5..30 [r(x,2)]@31..32"), Some(true));
    assert_eq!(lin("a: [w(x,1)]@0..10 / b: [r(x,_)]@11..20"), Some(false));
    assert_eq!(lin("a: [w(x,1)]@0..10 / b: [r(x,_)]@10..20"), Some(true));
    assert_eq!(lin("a: [w(x,1)]@0..10 / b: [r(x,1)]@1..2 [r(x,_)]@3..4"), Some(false));
    assert_eq!(lin("a: [w(x,1) r(x,1)]@0..10"), None);
    assert_eq!(lin("a: [append(x,1)]@0..10"), None);
    assert_eq!(lin("a: [w(x,1)] / b: [r(x,1)]"), None);
    // Each object by itself: session order across two of them is not asked for.
    let ties = "a: [w(x,1)]@0..10 [r(y,_)]@10..20 / b: [w(y,1)]@0..10 [r(x,_)]@10..20";
    assert_eq!(lin(ties), Some(true));
    assert_eq!(holds(&history(ties), L::StrictSerializable, DEFAULT), Some(false));
}

#[test]
fn initial_values() {
    for rule in [InitialRule::Declared(0), InitialRule::UnlessWritten(0)] {
        check_history(&history_with(rule, "a: [r(x,0) w(x,1)] / b: [r(x,_)]"), "zero", UP_TO_SER);
    }
    let written = history_with(InitialRule::UnlessWritten(0), "a: [w(x,1)] [w(x,0)] / b: [r(x,1)] [r(x,0)]");
    check_history(&written, "zero is written", UP_TO_SER);
    check_history(&history_with(InitialRule::Unwritten, "a: [r(x,7) w(x,1)] / b: [r(x,7)]"), "read first", UP_TO_SER);
    check_history(&history_with(InitialRule::Unwritten, "a: [r(x,7) w(x,1)] / b: [r(x,8)]"), "two of them", &[]);
}

#[test]
fn large_histories_are_left_alone() {
    for transactions in [MAX_TRANSACTIONS, MAX_TRANSACTIONS + 1] {
        let text: String = (0..transactions).map(|txn| format!("s{txn}: [w(x,{})] / ", txn + 1)).collect();
        for level in [L::Causal, L::SnapshotIsolation] {
            let expected = (transactions <= MAX_TRANSACTIONS).then_some(true);
            assert_eq!(holds(&history(&text), level, DEFAULT), expected);
        }
    }
}

// ---- Every small history, and random ones ----

/// A history for a message.
fn show(history: &History) -> String {
    let line = |txn| {
        let record = history.record(txn);
        format!("\n{}: {:?} {:?} {:?}", record.session, record.events, record.outcome, record.times)
    };
    history.transactions().map(line).collect()
}

/// Prefix, snapshot isolation and serializability by graphs and by axioms.
fn compare_two_ways(history: &History) {
    let oracle = Oracle::new(history);
    for options in [DEFAULT, NO_SESSION_ORDER] {
        for level in [L::Prefix, L::SnapshotIsolation, L::Serializable] {
            let (graph, axioms) = (oracle.holds(level, options), oracle.holds_by_axioms(level, options));
            assert_eq!(graph, axioms, "{level} by graph and by axioms {options:?}: {}", show(history));
            assert!(graph.is_some(), "it is small enough: {}", show(history));
        }
    }
}

#[test]
fn graphs_and_axioms_agree() {
    let count = for_each_small_history(compare_two_ways);
    assert!(count > 600_000, "only {count} small histories");
    for_each_random_history(|history, _| compare_two_ways(history));
}

#[test]
fn levels_imply_what_they_should_and_no_more() {
    let implies = L::ALL.map(|strong| L::ALL.map(|weak| strong.implies(weak)));
    let mut separated = [[false; 12]; 12];
    let mut look = |history: &History| {
        let oracle = Oracle::new(history);
        let verdicts = L::ALL.map(|level| oracle.holds(level, DEFAULT));
        for strong in (0..12).filter(|&strong| verdicts[strong] == Some(true)) {
            for weak in (0..12).filter(|&weak| verdicts[weak] == Some(false)) {
                let (strong_level, weak_level) = (L::ALL[strong], L::ALL[weak]);
                assert!(!implies[strong][weak], "{strong_level} and not {weak_level}: {}", show(history));
                separated[strong][weak] = true;
            }
        }
    };
    for_each_small_history(&mut look);
    for_each_random_history(|history, _| look(history));
    // Sessions whose transactions overlap in time, or run against it: what only real time keeps in order.
    look(&history("a: [r(x,1)]@0..10 [w(y,1)]@10..20 / b: [r(y,1)]@0..10 [w(x,1)]@10..20"));
    look(&history("a: [r(x,1)]@30..40 [w(y,1)]@0..10 / b: [r(y,1)]@30..40 [w(x,1)]@0..10"));
    for (a, strong) in L::ALL.into_iter().enumerate() {
        for (b, weak) in L::ALL.into_iter().enumerate() {
            // True wherever linearizability can be asked for; but it cannot of most histories, so that the table does not
            // have them.
            let only_of_single_objects =
                [(L::StrictSerializable, L::Linearizable), (L::Linearizable, L::AdyaSi)].contains(&(strong, weak));
            assert!(!only_of_single_objects || !separated[a][b]);
            let known = implies[a][b] || only_of_single_objects;
            assert!(separated[a][b] || known, "no history satisfies {strong} and not {weak}: is it stronger?");
        }
    }
}

#[test]
fn options_loosen() {
    for_each_random_history(|history, name| {
        let oracle = Oracle::new(history);
        for level in L::ALL.into_iter().filter(|&level| oracle.holds(level, DEFAULT) == Some(true)) {
            for options in [NO_SESSION_ORDER, drift(3)] {
                assert_eq!(oracle.holds(level, options), Some(true), "{level} {options:?}: {name}{}", show(history));
            }
        }
        let without_sessions = |level| oracle.holds(level, NO_SESSION_ORDER);
        assert_eq!(without_sessions(L::SnapshotIsolation), oracle.holds(L::AdyaSi, DEFAULT), "{name}");
        assert_eq!(without_sessions(L::StrongSessionSi), oracle.holds(L::GeneralizedSi, DEFAULT), "{name}");
    });
}

#[test]
fn random_histories_are_balanced() {
    let mut verdicts = [[0; 2]; 12];
    for seed in 0..SEEDS {
        let oracle = Oracle::new(&random_history(&Shape::MIXED, seed));
        for (level, verdicts) in L::ALL.into_iter().zip(&mut verdicts) {
            if let Some(holds) = oracle.holds(level, DEFAULT) {
                verdicts[usize::from(holds)] += 1;
            }
        }
    }
    for (level, [violated, holds]) in L::ALL.into_iter().zip(verdicts).filter(|(level, _)| *level != L::Linearizable) {
        assert!(violated > SEEDS / 6 && holds > SEEDS / 6, "{level}: {violated} violated, {holds} hold");
    }
}

// ---- Replays: the third way, for serializability ----

#[test]
fn serial_replays_agree() {
    let look = |history: &History| {
        let oracle = Oracle::new(history);
        if !matches!(history.initial(), InitialRule::Absent | InitialRule::Declared(_))
            || oracle.transactions().len() > 6
        {
            return;
        }
        let ids: Vec<TxnId> = oracle.transactions().iter().map(|txn| txn.id).collect();
        let session = |a: TxnId, b: TxnId| a < b && history.session_of(a) == history.session_of(b);
        let finish = |txn| history.times(txn).finish.unwrap_or(i64::MAX);
        let time = |a: TxnId, b: TxnId| finish(a) < history.times(b).start.unwrap_or(i64::MIN);
        let serial = replay_exists(history, &ids, &mut Vec::new(), &session);
        assert_eq!(oracle.holds(L::Serializable, DEFAULT), Some(serial), "{}", show(history));
        if let Some(strict) = oracle.holds(L::StrictSerializable, DEFAULT) {
            let replays = replay_exists(history, &ids, &mut Vec::new(), &|a, b| session(a, b) || time(a, b));
            assert_eq!(strict, replays, "strict: {}", show(history));
        }
    };
    for_each_small_history(look);
    for_each_random_history(|history, _| look(history));
}

/// Whether all of `ids` can follow `placed`, one at a time, so that each reads what the ones before it left.
fn replay_exists(
    history: &History,
    ids: &[TxnId],
    placed: &mut Vec<TxnId>,
    before: &impl Fn(TxnId, TxnId) -> bool,
) -> bool {
    if placed.len() == ids.len() {
        return true;
    }
    ids.iter().any(|&next| {
        let left = |other: &&TxnId| !placed.contains(other) && **other != next;
        if placed.contains(&next) || ids.iter().filter(left).any(|&other| before(other, next)) {
            return false;
        }
        placed.push(next);
        let exists = replays(history, placed) && replay_exists(history, ids, placed, before);
        placed.pop();
        exists
    })
}

/// Runs transactions one at a time; whether the last one reads what it says it read.
fn replays(history: &History, order: &[TxnId]) -> bool {
    // For each key what was written so far: a register is its last value, a list is all of them.
    let mut state: Vec<Vec<Value>> = vec![Vec::new(); history.key_count()];
    let last = *order.last().expect("somebody runs");
    for &txn in order {
        let mut deleted = Vec::new();
        for event in history.events(txn) {
            let is = |state: &[Vec<Value>], value: Value| match state[history.key_of(value).index()].last() {
                Some(&held) => held == value,
                None => history.datum(value) == Datum::Initial,
            };
            let consistent = match event {
                Event::Read(value) => is(&state, value),
                Event::CompareAndSet { expected, succeeded: true, .. } => is(&state, expected),
                Event::ReadList { key, elements } => state[key.index()] == elements,
                Event::Range { lo, hi, rows } => {
                    let in_range = |key: &Key| (lo..=hi).contains(&history.key_name(*key));
                    let mut keys = (0..history.key_count() as u32).map(Key).filter(in_range);
                    let returned = |key: Key| rows.iter().find(|&&row| history.key_of(row) == key);
                    keys.all(|key| match returned(key) {
                        Some(&row) => is(&state, row),
                        None => state[key.index()].is_empty() || deleted.contains(&state[key.index()].last().copied()),
                    })
                }
                _ => true,
            };
            if txn == last && !consistent {
                return false;
            }
            match event {
                Event::Write(value) | Event::Append(value) | Event::Insert(value) => {
                    state[history.key_of(value).index()].push(value);
                }
                Event::Delete(value) => {
                    state[history.key_of(value).index()].push(value);
                    deleted.push(Some(value));
                }
                Event::CompareAndSet { new, succeeded: true, .. } => state[history.key_of(new).index()].push(new),
                _ => {}
            }
        }
    }
    true
}

// ---- `Derived` ----

#[test]
fn derived_agrees() {
    let look = |history: &History| {
        if let Err(difference) = compare_with_derived(history) {
            panic!("{difference}{}", show(history));
        }
    };
    for_each_small_history(look);
    for_each_random_history(|history, _| look(history));
}

fn same<T: PartialEq + Debug>(what: &str, ours: T, theirs: T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: oracle {ours:?}, derived {theirs:?}")) }
}

/// Compares what the oracle and [`Derived`](isonomy_history::Derived) find, each by itself.
fn compare_with_derived(history: &History) -> Result<(), String> {
    let derived = history.derived();
    let oracle = Oracle::new(history);
    let transactions = oracle.transactions();
    let ids: Vec<TxnId> = transactions.iter().map(|txn| txn.id).collect();
    same("counting", &ids, &history.transactions().filter(|&t| derived.counts(t)).collect())?;
    let ours = oracle.faults().iter().map(|fault| (fault.txn, fault.event, fault.key, fault.kind));
    let theirs = derived.faults().iter().map(|fault| (fault.txn, fault.event, fault.key, fault.kind));
    same("faults", comparable(history, ours), comparable(history, theirs))?;

    for txn in transactions {
        same("writes", &txn.writes[..], derived.writes(txn.id))?;
        if oracle.faults().iter().any(|fault| fault.txn == txn.id && fault.kind != FaultKind::NonRepeatable) {
            continue;
        }
        let theirs = derived.reads(txn.id);
        let ours = txn.reads.iter().map(|read| (read.key, read.from.map(|from| ids[from])));
        same("reads", ours.collect::<Vec<_>>(), theirs.iter().filter_map(|r| Some((r.key()?, r.from()))).collect())?;
        let sources = |mut sources: Vec<TxnId>| {
            sources.sort_unstable();
            sources.dedup();
            sources
        };
        let ours = txn.reads.iter().flat_map(|read| read.sources()).map(|from| ids[from]).collect();
        same("sources", sources(ours), sources(theirs.iter().filter_map(|read| read.from()).collect()))?;
    }
    for key in (0..history.key_count() as u32).map(Key) {
        let writers: Vec<usize> = (0..ids.len()).filter(|&txn| transactions[txn].writes.contains(&key)).collect();
        same("writers", writers.iter().map(|&txn| ids[txn]).collect(), derived.writers(key).to_vec())?;
        let edges: Vec<_> = derived.version_edges().iter().filter(|edge| edge.key == key).collect();
        if !oracle.faults().is_empty() || writers.len() > 5 || edges.is_empty() {
            continue;
        }
        let orders = permutations(&writers);
        let agrees = |order: &[usize]| {
            let place = |txn: TxnId| order.iter().position(|&other| ids[other] == txn);
            edges.iter().all(|edge| place(edge.before) < place(edge.after))
        };
        let allowed: Vec<_> = orders.iter().filter(|order| oracle.lists_allow(key, order)).collect();
        if allowed.is_empty() {
            let torn = derived.faults().iter().any(|fault| fault.kind == FaultKind::IncompatibleOrder(fault.event));
            let cyclic = !orders.iter().any(|order| agrees(order));
            same("torn lists", true, torn || cyclic)?;
        } else {
            same("version orders", allowed, orders.iter().filter(|order| agrees(order)).collect())?;
        }
    }
    Ok(())
}

type FaultAt = (TxnId, EventId, Key, FaultKind);

/// Faults without what is left open: which of two incompatible lists is to blame. The oracle does not blame a list that is
/// torn in itself; it finds that no order of versions allows it.
fn comparable(history: &History, faults: impl Iterator<Item = FaultAt>) -> Vec<(Key, Option<EventId>, String)> {
    let rename = |(txn, event, key, kind): FaultAt| {
        assert!(history.event_ids(txn).any(|id| id == event), "the event is the transaction's");
        match kind {
            FaultKind::IncompatibleOrder(_) => (key, None, "IncompatibleOrder".to_string()),
            kind => (key, Some(event), format!("{kind:?}")),
        }
    };
    let torn = |&(_, event, _, kind): &FaultAt| kind == FaultKind::IncompatibleOrder(event);
    let mut faults: Vec<_> = faults.filter(|fault| !torn(fault)).map(rename).collect();
    faults.sort_unstable();
    faults.dedup_by(|a, b| a == b && a.1.is_none());
    faults
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |&first: &usize| {
        let rest: Vec<usize> = items.iter().copied().filter(|&item| item != first).collect();
        permutations(&rest).into_iter().map(move |order| [vec![first], order].concat())
    };
    items.iter().flat_map(with_first).collect()
}

/// A list that shows some of what a transaction appended and not all, or in another order, is a fault of that list alone.
#[test]
fn torn_lists_are_faults() {
    for text in [
        "a: [append(x,1) append(x,2)] / b: [list(x,[2])]",
        "a: [append(x,1) append(x,2)] / b: [append(x,3)] / c: [list(x,[2,1,3])]",
    ] {
        let history = history(text);
        check(text, &[]);
        let fault = history.derived().faults()[0];
        assert_eq!(fault.kind, FaultKind::IncompatibleOrder(fault.event), "{text}");
    }
}

/// A failed compare-and-set neither read nor wrote its values.
#[test]
fn failed_compare_and_sets_are_not_initial() {
    let history = history_with(InitialRule::Unwritten, "a: [cas(x,8,9)!] [r(x,7)]");
    check_history(&history, "seven was read first", UP_TO_SER);
    assert!(history.derived().faults().is_empty());
}
