//! Planted anomalies make a history fail at the levels that they rule out, and at no other.

mod axioms;

use axioms::{Ordered, Relations, find, generate};
use isonomy_history::{FaultKind, NamedEvent, Outcome};
use isonomy_workload::{Anomaly, HistorySpec, Length, Preset, RangeMix, Shape, StoreLevel, TimeDetail, Workload};

fn anomalies() -> impl Iterator<Item = Anomaly> {
    Anomaly::ALL.iter().copied()
}

#[test]
fn alone_each_is_what_it_says() {
    for anomaly in anomalies() {
        for times in [TimeDetail::Points, TimeDetail::Bounds] {
            let spec = HistorySpec { transactions: 0, plant: Some(anomaly), times, ..HistorySpec::default() };
            let run = generate(&spec);
            assert_eq!(run.summary.planted.len(), run.history.transaction_count());
            let relations = Relations::of(&run.history);
            for level in StoreLevel::ALL {
                let holds = relations.hold_somehow(level);
                assert_eq!(holds, !anomaly.rules_out(level), "{anomaly} at {level}: {}", anomaly.notation());
            }
        }
    }
}

#[test]
fn elsewhere_nothing_changes() {
    let general = Shape::General { length: Length::Between(1, 6), read_share: 0.5, single_access: false };
    // Ranges must not cover the keys of the anomaly.
    let ranges = Shape::Ranges { length: Length::Between(1, 6), mix: RangeMix::BALANCED, widest: 10 };
    for anomaly in anomalies() {
        for level in StoreLevel::ALL {
            for (sessions, seed, shape) in [(2, 1, &general), (8, 2, &general), (8, 3, &general), (8, 4, &ranges)] {
                let workload = Workload { keys: 10, shape: shape.clone(), ..Preset::PolySi.spec().workload };
                let spec = HistorySpec {
                    sessions,
                    transactions: 60,
                    workload,
                    level,
                    plant: Some(anomaly),
                    seed,
                    ..HistorySpec::default()
                };
                let Ordered { history, order, summary } = generate(&spec);
                let relations = Relations::of(&history);
                let held = relations.hold_with(&order, level);
                assert_eq!(held.is_err(), anomaly.rules_out(level), "{anomaly} in {level}: {held:?}");
                let expected = anomaly.notation().matches('[').count();
                assert_eq!(summary.planted.len(), expected);
                assert_eq!(summary.records, 60 + expected as u64);
            }
        }
    }
}

#[test]
fn they_have_the_right_shape() {
    let fault = |anomaly| match anomaly {
        Anomaly::ThinAirRead => Some(FaultKind::ThinAir),
        Anomaly::AbortedRead => Some(FaultKind::Aborted),
        Anomaly::IntermediateRead => Some(FaultKind::Intermediate),
        Anomaly::FutureRead => Some(FaultKind::Future),
        Anomaly::NotMyOwnWrite => Some(FaultKind::NotMyOwnWrite),
        Anomaly::NotMyLastWrite => Some(FaultKind::NotMyLastWrite),
        Anomaly::NonRepeatableRead => Some(FaultKind::NonRepeatable),
        _ => None,
    };
    for anomaly in anomalies() {
        let spec = HistorySpec { transactions: 300, plant: Some(anomaly), seed: 4, ..Preset::ListAppend.spec() };
        let Ordered { history, summary, .. } = generate(&spec);
        let found: Vec<FaultKind> = history.derived().faults().iter().map(|fault| fault.kind).collect();
        assert_eq!(found, Vec::from_iter(fault(anomaly)), "{anomaly}");
        let planted: Vec<_> = summary.planted.iter().map(|p| find(&history, p.session, p.position)).collect();
        let aborted = planted.iter().filter(|&&txn| history.outcome(txn) == Outcome::Aborted).count();
        assert_eq!(aborted, usize::from(anomaly == Anomaly::AbortedRead));
        let mut events = planted.iter().flat_map(|&txn| history.record(txn).events);
        assert!(events.all(|event| matches!(event, NamedEvent::Read(..) | NamedEvent::Write(..))));
    }
}
