//! What every generated history has in common, and what the options do.

use std::io;

use isonomy_history::{Datum, HistoryBuilder, Name, NamedEvent, Outcome, Record, Sink, Times};
use isonomy_workload::{
    Anomaly, GenerateError, HistorySpec, Hooks, MiniShape, Operation, Preset, SpecError, StoreLevel, Summary,
    TimeDetail,
};

#[derive(Default)]
struct Keep {
    records: Vec<Record<'static>>,
    ended: bool,
}

impl Sink for Keep {
    fn take(&mut self, record: &Record<'_>) -> io::Result<()> {
        let number = |name: &Name<'_>| match *name {
            Name::Int(number) => Name::Int(number),
            Name::Text(text) => panic!("{text} is no number"),
        };
        let value = |datum: &Datum<'_>| match *datum {
            Datum::Initial => Datum::Initial,
            Datum::Int(value) => Datum::Int(value),
            Datum::Text(text) => panic!("{text} is no number"),
        };
        let event = |event: &NamedEvent<'_>| match event {
            NamedEvent::Read(key, v) => NamedEvent::Read(number(key), value(v)),
            NamedEvent::Write(key, v) => NamedEvent::Write(number(key), value(v)),
            NamedEvent::Append(key, v) => NamedEvent::Append(number(key), value(v)),
            NamedEvent::ReadList(key, vs) => NamedEvent::ReadList(number(key), vs.iter().map(value).collect()),
            NamedEvent::Insert(key, v) => NamedEvent::Insert(number(key), value(v)),
            NamedEvent::Delete(key, v) => NamedEvent::Delete(number(key), value(v)),
            NamedEvent::Range { lo, hi, rows } => NamedEvent::Range {
                lo: number(lo),
                hi: number(hi),
                rows: rows.iter().map(|(key, v)| (number(key), value(v))).collect(),
            },
            NamedEvent::CompareAndSet { key, expected, new, succeeded } => NamedEvent::CompareAndSet {
                key: number(key),
                expected: value(expected),
                new: value(new),
                succeeded: *succeeded,
            },
        };
        let events = record.events.iter().map(event).collect();
        let session = number(&record.session);
        self.records.push(Record { session, outcome: record.outcome, times: record.times, events });
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        self.ended = true;
        Ok(())
    }
}

fn keep(spec: &HistorySpec) -> (Vec<Record<'static>>, Summary) {
    let mut kept = Keep::default();
    let summary = spec.generate(&mut kept).expect("the specification is valid");
    assert!(kept.ended);
    assert_eq!(summary.records, kept.records.len() as u64);
    assert_eq!(summary.events, kept.records.iter().map(|record| record.events.len() as u64).sum());
    (kept.records, summary)
}

#[test]
fn the_seed_decides_everything() {
    for preset in Preset::ALL {
        for level in StoreLevel::ALL {
            let spec = HistorySpec {
                level,
                transactions: 200,
                times: TimeDetail::Bounds,
                plant: Some(Anomaly::LongFork),
                ..preset.spec()
            };
            let first = keep(&spec);
            assert_eq!(first, keep(&spec), "{preset} {level}");
            assert_ne!(first, keep(&HistorySpec { seed: 1, ..spec }), "{preset} {level}");
        }
    }
}

#[test]
fn histories_are_well_formed_and_of_the_right_size() {
    for preset in Preset::ALL {
        for level in StoreLevel::ALL {
            let spec = HistorySpec { level, transactions: 503, record_aborted: true, ..preset.spec() };
            let mut builder = HistoryBuilder::new();
            let summary = spec.generate(&mut builder).expect("the specification is valid");
            let history = builder.finish().expect("values are unique");
            assert_eq!((summary.committed, history.derived().count()), (503, 503));
            assert_eq!(summary.records, 503 + summary.aborted);
            assert_eq!(history.sessions().len(), spec.sessions as usize);
            let share = 503 / spec.sessions as usize;
            for session in history.sessions() {
                let committed = history.transactions_of(session).filter(|&t| history.derived().counts(t)).count();
                assert!((share..=share + 1).contains(&committed), "{committed} in session {session:?}");
            }
        }
    }
}

#[test]
fn times_do_not_change_what_happens() {
    let spec = HistorySpec { transactions: 300, level: StoreLevel::Causal, ..HistorySpec::default() };
    let (without, _) = keep(&spec);
    let (with, _) = keep(&HistorySpec { times: TimeDetail::Points, ..spec });
    assert!(without.iter().all(|record| record.times == Times::default()));
    assert!(without.iter().zip(&with).all(|(a, b)| a.events == b.events && a.session == b.session));
}

#[test]
fn times_overlap_and_run_forward() {
    for times in [TimeDetail::Points, TimeDetail::Bounds] {
        let level = StoreLevel::Prefix;
        let spec = HistorySpec { transactions: 300, level, times, indeterminate_share: 0.1, ..HistorySpec::default() };
        let (records, summary) = keep(&spec);
        assert!(summary.indeterminate > 10);
        let mut last_of = std::collections::BTreeMap::new();
        let mut overlapping = 0;
        for (at, record) in records.iter().enumerate() {
            let known: Vec<i64> = record.times.in_order().into_iter().flatten().collect();
            assert!(known.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", record.times);
            let expected = if times == TimeDetail::Points { 2 } else { 4 };
            assert_eq!(known.len(), expected - usize::from(record.outcome == Outcome::Indeterminate));
            let Name::Int(session) = record.session else { panic!("sessions are numbers") };
            let before = last_of.insert(session, *known.last().expect("it has a start"));
            assert!(before.is_none_or(|before| before < known[0]), "a session does one thing at a time");
            overlapping += usize::from(records[at + 1..].iter().any(|later| later.times.start < known.last().copied()));
        }
        assert!(overlapping > 250, "{overlapping}");
    }
}

#[test]
fn clocks_of_sessions_are_off() {
    let spec = HistorySpec { transactions: 200, times: TimeDetail::Points, ..HistorySpec::default() };
    let (right, _) = keep(&spec);
    let (skewed, _) = keep(&HistorySpec { clock_skew: 1_000_000, ..spec });
    let mut offsets = std::collections::BTreeMap::new();
    for (a, b) in right.iter().zip(&skewed) {
        let offset = b.times.start.zip(a.times.start).map(|(b, a)| b - a).expect("it has a start");
        assert!(offset.abs() <= 1_000_000);
        assert_eq!(b.times.finish, a.times.finish.map(|finish| finish + offset));
        assert_eq!(*offsets.entry(a.session).or_insert(offset), offset);
    }
    assert!(offsets.len() == 20 && offsets.values().any(|&offset| offset != 0));
}

#[test]
fn aborted_and_indeterminate_transactions() {
    let spec = HistorySpec {
        transactions: 1000,
        rollback_share: 0.2,
        indeterminate_share: 0.1,
        level: StoreLevel::ReadCommitted,
        ..HistorySpec::default()
    };
    let (records, summary) = keep(&spec);
    assert_eq!(summary.committed + summary.indeterminate, 1000);
    assert!((70..130).contains(&summary.indeterminate) && (200..300).contains(&summary.aborted), "{summary:?}");
    assert!(records.iter().all(|record| record.outcome != Outcome::Aborted));
    let (records, summary) = keep(&HistorySpec { record_aborted: true, ..spec });
    assert_eq!(records.iter().filter(|record| record.outcome == Outcome::Aborted).count() as u64, summary.aborted);
}

#[test]
fn all_mini_transactions_occur() {
    let (records, _) = keep(&HistorySpec { transactions: 2000, ..Preset::Mini.spec() });
    for shape in MiniShape::ALL {
        let occurs = records.iter().any(|record| {
            let keys = record.events.iter().map(|event| match event {
                NamedEvent::Read(Name::Int(key), _) => Operation::Read(*key as u64),
                NamedEvent::Write(Name::Int(key), _) => Operation::Write(*key as u64),
                other => panic!("{other:?} is in no mini-transaction"),
            });
            let program: Vec<Operation> = keys.collect();
            let keys: Vec<u64> = program.iter().filter_map(|o| o.key()).collect();
            let first = keys[0];
            let second = keys.iter().copied().find(|&key| key != first);
            second.is_some() == (shape.keys() == 2)
                && shape.operations([first, second.unwrap_or(first)]).collect::<Vec<_>>() == program
        });
        assert!(occurs, "{}", shape.name());
    }
}

/// Ranges, inserts, deletes and compare-and-sets do what a store does, as far as one client alone can tell.
#[test]
fn one_client_alone_sees_what_it_did() {
    for preset in [Preset::RangeB, Preset::RangeIdh, Preset::TpcC, Preset::CasRegister] {
        let (records, _) = keep(&HistorySpec { sessions: 1, lag: 0, transactions: 800, ..preset.spec() });
        let mut store: std::collections::BTreeMap<Name<'_>, Datum<'_>> = std::collections::BTreeMap::new();
        let [mut deleted, mut returned, mut set] = [0; 3];
        for event in records.iter().flat_map(|record| &record.events) {
            match event {
                NamedEvent::Read(key, value) => assert_eq!(store.get(key).unwrap_or(&Datum::Initial), value),
                NamedEvent::Write(key, value) => {
                    store.insert(*key, *value);
                }
                NamedEvent::Insert(key, value) => {
                    let before = store.insert(*key, *value);
                    assert!(before.is_none_or(|value| matches!(value, Datum::Int(..=-1))), "{before:?} is there");
                }
                NamedEvent::Delete(key, tombstone) => {
                    assert!(matches!(tombstone, Datum::Int(..=-1)));
                    store.insert(*key, *tombstone);
                    deleted += 1;
                }
                NamedEvent::Range { lo, hi, rows } => {
                    let all: Vec<_> = store.range(*lo..=*hi).map(|(key, value)| (*key, *value)).collect();
                    assert_eq!(&all, rows);
                    returned += rows.len();
                }
                NamedEvent::CompareAndSet { key, expected, new, succeeded } => {
                    // Nobody else writes, so what the client knows is right.
                    assert!(*succeeded && store.insert(*key, *new).unwrap_or(Datum::Initial) == *expected);
                    set += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(deleted > 100 || set > 100, "{preset}");
        assert!(returned > 100 || matches!(preset, Preset::TpcC | Preset::CasRegister), "{preset}: {returned}");
    }
}

#[test]
fn some_compare_and_sets_fail() {
    let (records, _) = keep(&HistorySpec { transactions: 2000, ..Preset::CasRegister.spec() });
    let events = records.iter().flat_map(|record| &record.events);
    let outcomes = events.filter_map(|event| match event {
        NamedEvent::CompareAndSet { succeeded, .. } => Some(*succeeded),
        _ => None,
    });
    let (succeeded, failed): (Vec<bool>, Vec<bool>) = outcomes.partition(|&succeeded| succeeded);
    assert!(succeeded.len() > 20 && failed.len() > 100, "{} {}", succeeded.len(), failed.len());
}

#[test]
fn serial_runs_have_no_conflicts() {
    for level in StoreLevel::ALL {
        let spec = HistorySpec { level, concurrency: Some(1), lag: 0, transactions: 500, ..Preset::C.spec() };
        assert_eq!(keep(&spec).1.aborted, 0, "{level}");
    }
}

#[test]
fn hooks_are_told() {
    let spec = HistorySpec { transactions: 10_000, ..Preset::D.spec() };
    let (mut told, mut placed) = (Vec::new(), Vec::new());
    let mut progress = |done| told.push(done);
    let mut commit_order = |place| placed.push(place);
    let hooks = Hooks { progress: Some(&mut progress), commit_order: Some(&mut commit_order) };
    spec.generate_with(&mut Keep::default(), hooks).expect("the specification is valid");
    assert_eq!(told, [4096, 8192, 10_000]);
    assert_eq!(placed.len(), 10_000);
}

#[test]
fn wrong_specifications_are_refused() {
    let refused = |spec: HistorySpec| match spec.generate(&mut Keep::default()) {
        Err(GenerateError::Spec(why)) => why,
        other => panic!("{other:?}"),
    };
    let spec = HistorySpec::default();
    assert_eq!(refused(HistorySpec { sessions: 0, ..spec.clone() }), SpecError::NoSessions);
    assert_eq!(refused(HistorySpec { concurrency: Some(0), ..spec.clone() }), SpecError::NoSessions);
    assert_eq!(refused(HistorySpec { lag: 128, ..spec.clone() }), SpecError::TooMuchLag { most: 127, found: 128 });
    assert!(matches!(refused(HistorySpec { rollback_share: f64::NAN, ..spec.clone() }), SpecError::Workload(_)));
    assert!(matches!(refused(HistorySpec { rollback_share: 1.0, ..spec }), SpecError::TooManyRollbacks { .. }));
}

#[test]
fn a_sink_that_fails_stops_the_run() {
    struct Full(u32);
    impl Sink for Full {
        fn take(&mut self, _: &Record<'_>) -> io::Result<()> {
            self.0 += 1;
            if self.0 > 3 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
        fn end(&mut self) -> io::Result<()> {
            panic!("nothing may follow an error")
        }
    }
    let mut full = Full(0);
    assert!(matches!(HistorySpec::default().generate(&mut full), Err(GenerateError::Sink(_))));
    assert_eq!(full.0, 4);
}
