//! The frontier search against the oracle, on formulas, and on histories that hold by construction; and every order it finds against the
//! definition.

mod support;

use isonomy_checker::frontier::{Infer, Outcome, Settings, decide};
use isonomy_checker::oracle::Oracle;
use isonomy_checker::{Engine, IsolationLevel as L, Options, Reason, Terms, Verdict, check};
use isonomy_history::{History, HistoryBuilder};
use isonomy_workload::{HistorySpec, Preset, StoreLevel, TimeDetail};
use support::hardness::{history_of, random_cnf, satisfiable};
use support::notation::history;
use support::replay::shows;

const STRONG: [L; 8] = [
    L::Prefix,
    L::SnapshotIsolation,
    L::AdyaSi,
    L::GeneralizedSi,
    L::StrongSessionSi,
    L::StrongSi,
    L::Serializable,
    L::StrictSerializable,
];

/// Whether the level holds; `None` if times are missing. An order is checked against the definition.
fn holds(history: &History, oracle: &Oracle, level: L, settings: &Settings<'_>, name: &str) -> Option<bool> {
    match decide(history, level, settings) {
        Outcome::Order(order) => {
            let Settings { session_order, clock_drift, .. } = *settings;
            if let Err(flaw) = shows(history, oracle, level, session_order, clock_drift, &order) {
                panic!("{name}: {level}, session order {session_order}: {flaw}\n{order:?}\n{}", shown(history));
            }
            Some(true)
        }
        Outcome::Violated => Some(false),
        Outcome::NoTimes => None,
        Outcome::Stopped => panic!("{name}: {level}: nobody stopped it"),
    }
}

fn shown(history: &History) -> String {
    let mut text = Vec::new();
    let written = isonomy_history::formats::write(history, isonomy_history::formats::Format::Hist, &mut text);
    written.expect("hist can be written").expect("a vector takes all");
    String::from_utf8(text).expect("hist is text")
}

fn compare(history: &History, name: &str, settings: Settings<'_>) {
    let oracle = Oracle::new(history);
    for level in STRONG {
        // Where nothing asks for session order it makes no difference, and drift makes none without times.
        let asks = level.has_session_order() && history.sessions().len() < history.transaction_count();
        let session_orders = if asks { &[true, false][..] } else { &[true] };
        let drifts = if level.needs_times() && history.has_times() { &[0, 3][..] } else { &[0] };
        for &session_order in session_orders {
            for &clock_drift in drifts {
                let settings = Settings { session_order, clock_drift, ..settings };
                let found = holds(history, &oracle, level, &settings, name);
                let expected = oracle.holds(level, Terms { session_order, clock_drift });
                let too_large = expected.is_none() && found.is_some();
                assert!(
                    found == expected || too_large,
                    "{name}: {level}, session order {session_order}, drift {clock_drift}: {found:?} for {expected:?}\n{}",
                    shown(history)
                );
            }
        }
    }
}

/// Every second small history, so that two tests can share the work.
fn compare_small(half: usize) {
    let mut met = 0;
    let count = support::for_each_small_history(|history| {
        met += 1;
        if met % 2 == half {
            compare(history, "small", Settings { infer: Infer::First, ..Settings::default() });
        }
    });
    assert!(count > 600_000, "only {count} histories were met");
}

#[test]
fn every_small_history_agrees_with_the_oracle_one_half() {
    compare_small(0);
}

#[test]
fn every_small_history_agrees_with_the_oracle_other_half() {
    compare_small(1);
}

#[test]
fn random_histories_agree_with_the_oracle() {
    support::for_each_random_history(|history, name| {
        compare(history, name, Settings { infer: Infer::First, ..Settings::default() });
    });
}

/// What is inferred hides most of the search from the comparisons above.
#[test]
fn the_search_by_itself_agrees_with_the_oracle() {
    let mut count = 0;
    support::for_each_random_history(|history, name| {
        count += 1;
        let (split, look_ahead) = (count % 2 == 0, count % 4 < 2);
        compare(history, name, Settings { infer: Infer::Never, split, look_ahead, ..Settings::default() });
    });
}

#[test]
fn formulas_are_satisfiable_iff_their_histories_hold() {
    let mut satisfied = 0;
    for seed in 0..400 {
        let cnf = random_cnf(4, 8, 3, seed);
        let history = history_of(&cnf);
        let oracle = Oracle::new(&history);
        let expected = satisfiable(&cnf);
        satisfied += u32::from(expected);
        for level in [L::Prefix, L::SnapshotIsolation, L::AdyaSi, L::Serializable] {
            let found = holds(&history, &oracle, level, &Settings::default(), "formula");
            assert_eq!(found, Some(expected), "{level}: {cnf:?}");
        }
    }
    assert!((100..300).contains(&satisfied), "{satisfied} of 400 formulas can be satisfied");
}

fn generate(spec: &HistorySpec) -> History {
    let mut builder = HistoryBuilder::new();
    spec.generate(&mut builder).expect("the specification is sound");
    builder.finish().expect("the simulated store writes no value twice")
}

#[test]
fn stores_give_what_they_promise() {
    let stores = ["prefix", "snapshot-isolation", "strong-si", "serializable", "strict-serializable"];
    for store in stores {
        let promised: L = store.parse().expect("stores are named after levels");
        let level: StoreLevel = store.parse().expect("it is a store");
        for preset in [Preset::A, Preset::C, Preset::D, Preset::ListAppend, Preset::BlindRw, Preset::PolySi] {
            for (sessions, seed) in [(3, 1), (5, 2), (8, 3)] {
                let spec = HistorySpec { sessions, transactions: 200, level, seed, ..preset.spec() };
                let spec = HistorySpec { times: TimeDetail::Bounds, ..spec };
                let history = generate(&spec);
                let oracle = Oracle::new(&history);
                let name = format!("{store}, {}, {sessions} sessions", preset.name());
                for level in STRONG.into_iter().filter(|&level| promised.implies(level)) {
                    let found = holds(&history, &oracle, level, &Settings::default(), &name);
                    assert_eq!(found, Some(true), "{name}: {level}");
                }
            }
        }
    }
}

#[test]
fn sessions_that_share_no_key_are_decided_apart() {
    // Each pair of sessions could be interleaved in many ways, and the last pair is wrong.
    let mut text = String::new();
    for pair in 0..40 {
        let txns = |x: &str| (0..6).map(|i| format!("[w({x}{pair},{i}) w(z{pair},{x}{i})]")).collect::<String>();
        text += &format!("a{pair}: {}\nb{pair}: {}\n", txns("x"), txns("y"));
    }
    let valid = history(&text);
    let wrong = history(&format!("{text}a: [r(p,_) w(q,1)]\nb: [r(q,_) w(p,1)]\n"));
    let settings = Settings { budget: 1_000, infer: Infer::Never, ..Settings::default() };
    assert!(matches!(decide(&valid, L::Serializable, &settings), Outcome::Order(_)));
    assert_eq!(decide(&wrong, L::Serializable, &settings), Outcome::Violated);
    let whole = Settings { split: false, ..settings };
    assert_eq!(decide(&wrong, L::Serializable, &whole), Outcome::Stopped);
}

#[test]
fn budgets_and_stops_are_respected() {
    let cnf = random_cnf(4, 8, 3, 3);
    let history = history_of(&cnf);
    let settings = Settings::default();
    assert!(matches!(decide(&history, L::Serializable, &settings), Outcome::Order(_)));
    assert_eq!(decide(&history, L::Serializable, &Settings { budget: 0, ..settings }), Outcome::Stopped);
    assert_eq!(decide(&history, L::Serializable, &Settings { stop: &|| true, ..settings }), Outcome::Stopped);
}

#[test]
fn the_engine_can_be_chosen() {
    let options = Options { engine: Engine::Frontier, ..Options::default() };
    let skew = history("a: [r(x,_) w(y,1)] / b: [r(y,_) w(x,1)]");
    assert!(matches!(check(&skew, L::SnapshotIsolation, &options), Verdict::Holds(_)));
    assert!(!matches!(check(&skew, L::Serializable, &options), Verdict::Holds(_)));
    assert_eq!(check(&skew, L::StrongSi, &options), Verdict::Undecided(Reason::NoTimes));
    assert!(matches!(check(&skew, L::Causal, &options), Verdict::Holds(_)));
    let stopped = Options { stop: &|| true, ..options };
    assert_eq!(check(&skew, L::Serializable, &stopped), Verdict::Undecided(Reason::Stopped));
}
