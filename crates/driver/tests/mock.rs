//! The simulated store keeps the contract, and each of its levels is what it says: it holds, and no more than it does.

use isonomy_checker::{IsolationLevel, Options, Verdict, check};
use isonomy_driver::run::Plan;
use isonomy_driver::{Mock, contract};
use isonomy_workload::{Distribution, Length, RangeMix, Shape, StoreLevel, Workload};

#[test]
fn the_contract_is_kept() {
    for level in StoreLevel::ALL {
        contract::stress(&Mock::new(level));
    }
    // At weaker levels a client need not see what another has committed.
    for level in [StoreLevel::StrongSi, StoreLevel::StrictSerializable] {
        contract::check(&Mock::new(level));
    }
}

#[test]
fn each_level_is_told_from_the_next() {
    use IsolationLevel as L;
    for (given, next) in [
        (StoreLevel::ReadCommitted, &[L::ReadAtomic][..]),
        (StoreLevel::ReadAtomic, &[L::Causal]),
        (StoreLevel::Causal, &[L::Prefix]),
        (StoreLevel::Prefix, &[L::SnapshotIsolation]),
        (StoreLevel::SnapshotIsolation, &[L::Serializable, L::StrongSi]),
        (StoreLevel::StrongSi, &[L::Serializable]),
        (StoreLevel::Serializable, &[L::StrictSerializable]),
        (StoreLevel::StrictSerializable, &[]),
    ] {
        let mut caught = vec![false; next.len()];
        for (shape, keys) in [
            (Shape::General { length: Length::Between(2, 4), read_share: 0.5, single_access: true }, 30),
            (Shape::LIST_APPEND, 10),
            (Shape::ranges(RangeMix::BALANCED), 30),
            (Shape::CAS_REGISTER, 5),
        ] {
            let workload = Workload { keys, distribution: Distribution::Uniform, shape };
            // Where two transactions must overlap, clients must leave each other time.
            let delay = std::time::Duration::from_micros(300);
            let (history, _) = contract::record(&Mock::new(given), &Plan { delay, ..Plan::new(workload, 6, 400) });
            contract::expect_holds(&history, given.name().parse().expect("a level of the checker"));
            for (&level, caught) in next.iter().zip(&mut caught) {
                *caught |= matches!(check(&history, level, &Options::default()), Verdict::Violated(_));
            }
        }
        assert!(caught.iter().all(|&caught| caught), "{given}: {next:?}: {caught:?}");
    }
}
