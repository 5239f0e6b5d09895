//! Histories that hold or fail by construction: the simulated store at a level, with and without a planted anomaly.

use isonomy_checker::certify::certify;

use isonomy_checker::oracle::Oracle;
use isonomy_checker::{Anomaly as Found, Counterexample, IsolationLevel as L, Options, Terms, Verdict, check};
use isonomy_history::formats::{self, Format, ReadOptions, Source};
use isonomy_history::{History, HistoryBuilder, Name, Sink};
use isonomy_workload::{Anomaly, HistorySpec, Preset, StoreLevel, Summary, TimeDetail};

/// The levels that need no times, in a chain: each implies those before it.
const CHAIN: [L; 6] = [L::ReadCommitted, L::ReadAtomic, L::Causal, L::Prefix, L::SnapshotIsolation, L::Serializable];
const PRESETS: [Preset; 9] = [
    Preset::A,
    Preset::B,
    Preset::C,
    Preset::D,
    Preset::Mini,
    Preset::BlindRw,
    Preset::Cobra,
    Preset::ListAppend,
    Preset::GeneralWh,
];

fn generate(spec: &HistorySpec) -> (History, Summary) {
    let mut builder = HistoryBuilder::new();
    let summary = spec.generate(&mut builder).expect("the specification is sound");
    (builder.finish().expect("the simulated store writes no value twice"), summary)
}

/// The store's promise, as a level of the checker.
fn promised(store: StoreLevel) -> L {
    store.name().parse().expect("stores are named after levels")
}

/// The verdict, certified; of a violation what is wrong.
fn decide_with(history: &History, level: L, terms: Terms, name: &str) -> Option<Counterexample> {
    let options = Options { session_order: terms.session_order, clock_drift: terms.clock_drift, ..Options::default() };
    let verdict = check(history, level, &options);
    if let Err(flaw) = certify(history, level, terms, &verdict) {
        panic!("{name} at {level}: {flaw}");
    }
    match verdict {
        Verdict::Holds(_) => None,
        Verdict::Violated(counterexample) => {
            let anomaly = counterexample.anomaly;
            // What causal forbids, the table says of levels with session order; others may find it without.
            let weak = !level.has_session_order() && anomaly.rules_out(L::Causal);
            assert!(anomaly.rules_out(level) || weak, "{name}: {anomaly} at {level}");
            Some(counterexample)
        }
        Verdict::Undecided(reason) => panic!("{name} at {level}: {reason}"),
    }
}

fn decide(history: &History, level: L, name: &str) -> Option<Counterexample> {
    decide_with(history, level, Terms::default(), name)
}

/// The same history session by session: nothing but the sessions says in which order its transactions ran.
fn session_by_session(history: &History) -> History {
    let mut text = Vec::new();
    formats::write(history, Format::Hist, &mut text).expect("hist can be written").expect("a vector takes all");
    formats::read(Source::Stream(Box::new(text.as_slice())), ReadOptions::default()).expect("it was written")
}

/// Every store with every workload, as recorded and read again session by session.
#[test]
fn stores_give_what_they_promise_and_little_more() {
    const SIZES: [u64; 3] = [300, 1000, 3000];
    for store in StoreLevel::ALL {
        let promised = promised(store);
        for preset in PRESETS {
            let mut holding = [0; CHAIN.len()];
            for (seed, transactions) in (1..).zip(SIZES) {
                let spec = HistorySpec { transactions, level: store, seed, ..preset.spec() };
                let history = generate(&spec).0;
                let name = format!("{store}, {preset}, {transactions} transactions");
                for (level, holding) in CHAIN.into_iter().zip(&mut holding) {
                    let holds = decide(&history, level, &name).is_none();
                    assert!(holds || !promised.implies(level), "{name} violates {level}");
                    *holding += usize::from(holds);
                }
                let history = session_by_session(&history);
                for level in L::ALL.into_iter().filter(|&level| promised.implies(level)) {
                    assert!(decide(&history, level, &name).is_none(), "{name}, session by session, violates {level}");
                }
            }
            // Not all shapes can show every anomaly, and lists hide stale versions; these can.
            if matches!(preset, Preset::A | Preset::C) {
                for (level, holding) in CHAIN.into_iter().zip(holding) {
                    // What a store that is fresh promises in real time includes session order, as its sessions wait.
                    let promised =
                        promised.implies(level) || promised == L::StrongSi && L::SnapshotIsolation.implies(level);
                    assert!(promised || holding < SIZES.len(), "{store}, {preset} always satisfies {level}");
                }
            }
        }
    }
}

/// Ranges, inserts, deletes, compare-and-sets and the transactions of applications, which are long or have hot rows.
#[test]
fn applications_get_what_they_are_promised() {
    use Preset as P;
    let presets = [P::RwRegister, P::RangeB, P::RangeRqh, P::RangeIdh, P::Bank, P::SmallBank];
    let more = [P::TpcC, P::Rubis, P::Twitter, P::Voter, P::Wikipedia, P::CasRegister];
    for store in [StoreLevel::Causal, StoreLevel::SnapshotIsolation, StoreLevel::StrictSerializable] {
        let promised = promised(store);
        for preset in presets.into_iter().chain(more) {
            let (history, summary) =
                generate(&HistorySpec { transactions: 600, level: store, seed: 2, ..preset.spec() });
            let name = format!("{store}, {preset}, {} aborted", summary.aborted);
            for level in L::ALL.into_iter().filter(|&level| promised.implies(level)) {
                assert!(decide(&history, level, &name).is_none(), "{name} violates {level}");
            }
            if preset == P::CasRegister {
                let linearizable = decide_if_timed(&history, L::Linearizable, &name);
                assert_eq!(linearizable, store == StoreLevel::StrictSerializable, "{name}");
            }
        }
    }
}

/// Whether a level that needs times holds; not if there are none.
fn decide_if_timed(history: &History, level: L, name: &str) -> bool {
    history.transactions().all(|txn| history.times(txn).finish.is_some()) && decide(history, level, name).is_none()
}

/// What a store allows does happen: programs that write what they have not read, or read rows that come and go.
#[test]
fn applications_show_anomalies() {
    for (preset, keys, store, asked) in [
        (Preset::SmallBank, 18, StoreLevel::SnapshotIsolation, L::Serializable),
        (Preset::RwRegister, 10, StoreLevel::SnapshotIsolation, L::Serializable),
        (Preset::Bank, 8, StoreLevel::Prefix, L::SnapshotIsolation),
        // Its transactions only read or only write, so nothing is between this and serializable.
        (Preset::RangeB, 20, StoreLevel::Causal, L::Prefix),
    ] {
        let mut spec = HistorySpec { transactions: 2000, level: store, seed: 3, ..preset.spec() };
        spec.workload.keys = keys;
        assert!(decide(&generate(&spec).0, asked, preset.name()).is_some(), "{store}, {preset} satisfies {asked}");
    }
}

/// With exact clocks, and with clocks that are off by as much as comparisons are loosened.
#[test]
fn stores_give_what_they_promise_in_real_time() {
    // A store whose snapshots are fresh keeps session order, as its sessions wait. What its reads miss is in no serial order. The other one
    // reads the latest version, not that of a snapshot at the begin.
    let stores: [(StoreLevel, &[L]); 2] = [
        (StoreLevel::StrongSi, &[L::GeneralizedSi, L::StrongSessionSi, L::StrongSi]),
        (StoreLevel::StrictSerializable, &[L::StrictSerializable]),
    ];
    for (store, promised) in stores {
        for preset in [Preset::A, Preset::C, Preset::Mini, Preset::ListAppend, Preset::BlindRw] {
            for times in [TimeDetail::Points, TimeDetail::Bounds] {
                for clock_skew in [0, 1_000, 100_000] {
                    let shape = HistorySpec { transactions: 1000, seed: 8, ..preset.spec() };
                    let history = generate(&HistorySpec { level: store, times, clock_skew, ..shape }).0;
                    let terms = Terms { clock_drift: 2 * clock_skew as i64, ..Terms::default() };
                    let name = format!("{store}, {preset}, {times:?}, clocks off by {clock_skew}");
                    for &level in promised {
                        assert!(decide_with(&history, level, terms, &name).is_none(), "{name} violates {level}");
                    }
                }
            }
        }
    }
}

/// Stores that promise nothing in real time are caught, and so are clocks that are trusted more than they deserve.
#[test]
fn real_time_is_not_promised_by_all() {
    let times = TimeDetail::Points;
    for preset in [Preset::A, Preset::C] {
        let shape = HistorySpec { transactions: 1000, seed: 8, times, ..preset.spec() };
        for (level, asked, anomaly) in [
            (StoreLevel::SnapshotIsolation, L::StrongSi, Found::StaleSnapshot),
            (StoreLevel::StrictSerializable, L::StrongSi, Found::CommitOrderInversion),
            (StoreLevel::StrictSerializable, L::GeneralizedSi, Found::CommitOrderInversion),
        ] {
            let history = generate(&HistorySpec { level, ..shape.clone() }).0;
            let found = decide(&history, asked, preset.name()).unwrap_or_else(|| panic!("{level} gives {asked}"));
            assert_eq!(found.anomaly, anomaly, "{level}, {preset} at {asked}");
            assert!(found.transactions().len() <= 4, "{level}, {preset} at {asked}: {:?}", found.transactions());
        }
        for (level, asked) in
            [(StoreLevel::StrongSi, L::StrongSi), (StoreLevel::StrictSerializable, L::StrictSerializable)]
        {
            let history = generate(&HistorySpec { level, clock_skew: 1_000_000, ..shape.clone() }).0;
            assert!(decide(&history, asked, preset.name()).is_some(), "{level}, {preset}: clocks are off");
        }
    }
}

/// The transactions that were planted, by themselves.
fn planted_alone(history: &History, summary: &Summary) -> History {
    let mut builder = HistoryBuilder::new();
    for &txn in history.transactions_as_given() {
        let session = history.session_name(history.session_of(txn));
        let position = history.position(txn);
        if summary.planted.iter().any(|planted| Name::Int(planted.session) == session && planted.position == position) {
            builder.take(&history.record(txn)).expect("it fits");
        }
    }
    builder.finish().expect("it was part of a history")
}

/// A history with a planted anomaly violates a level iff the planted transactions do so by themselves; that is, by the oracle, not by the
/// checker. The evidence is small and has the anomaly's name.
#[test]
fn planted_anomalies_are_found_named_and_nothing_else() {
    let stores = [
        (StoreLevel::StrictSerializable, Preset::A, 1000),
        (StoreLevel::StrongSi, Preset::C, 1000),
        (StoreLevel::Serializable, Preset::Mini, 1000),
        (StoreLevel::Serializable, Preset::ListAppend, 1000),
        (StoreLevel::SnapshotIsolation, Preset::BlindRw, 1000),
        (StoreLevel::SnapshotIsolation, Preset::GeneralWh, 1000),
        (StoreLevel::Prefix, Preset::Cobra, 1000),
        (StoreLevel::Causal, Preset::D, 1000),
    ];
    for (store, preset, transactions) in stores {
        let promised = promised(store);
        for (&anomaly, seed) in Anomaly::ALL.iter().zip(1..) {
            let spec = HistorySpec { transactions, level: store, plant: Some(anomaly), seed, ..preset.spec() };
            let (history, summary) = generate(&spec);
            let planted = Oracle::new(&planted_alone(&history, &summary));
            let expected: Found = anomaly.name().parse().expect("the checker knows them all");
            for history in [session_by_session(&history), history] {
                for level in L::ALL.into_iter().filter(|&level| promised.implies(level)) {
                    let name = format!("{anomaly} in {store}, {preset}");
                    let holds =
                        planted.holds(level, Terms::default()).expect("it is small, and has times if they count");
                    let found = decide(&history, level, &name);
                    assert_eq!(found.is_none(), holds, "{name} at {level}: whether it holds");
                    let Some(found) = found else { continue };
                    assert!(found.transactions().len() <= 6, "{name} at {level}: {:?}", found.transactions());
                    // With times there may be smaller evidence, which is then of real time.
                    if !level.needs_times() {
                        assert_eq!(found.anomaly, expected, "{name} at {level}");
                    }
                }
            }
        }
    }
}
