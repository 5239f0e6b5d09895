//! Real databases give what their documentation promises, and are caught where it promises less.
//!
//! Most runs are mini-transactions on so few keys that clients meet all the time. How often a catch succeeds was measured with 20 runs each,
//! of the size used here, on two busy cores (PostgreSQL 15.18, MariaDB 10.11.19 with Galera 26.4, H2 2.1.214), and is told at each test;
//! tests go on until the catch, for so many runs that they do not fail by chance.

mod support;

use std::time::Duration;

use isonomy_checker::IsolationLevel::{self, Causal, Prefix, ReadCommitted, Serializable, SnapshotIsolation};
use isonomy_checker::{Options, Verdict, check};
use isonomy_cluster::Kind;
use isonomy_driver::run::Plan;
use isonomy_driver::{Database, contract};
use isonomy_workload::{Distribution, Length, MiniMix, Shape, Workload};
use support::{database, start};

/// How many runs have to hold.
const RUNS: u64 = 3;

/// Mini-transactions that meet.
fn mini(transactions: u64) -> Plan {
    let workload = Workload { keys: 6, distribution: Distribution::Uniform, shape: Shape::Mini(MiniMix::ALL) };
    Plan { delay: Duration::from_micros(500), ..Plan::new(workload, 6, transactions) }
}

/// Runs satisfy a level.
fn expect_holds(database: &dyn Database, plan: &Plan, level: IsolationLevel) {
    for seed in 0..RUNS {
        let (history, summary) = contract::record(database, &Plan { seed, ..plan.clone() });
        assert_eq!(Some(summary.committed), plan.transactions, "{summary:?}");
        contract::expect_holds(&history, level);
    }
}

/// One of at most so many runs violates a level.
fn expect_caught(database: &dyn Database, plan: &Plan, level: IsolationLevel, most: u64) {
    let caught = (0..most).any(|seed| {
        let (history, _) = contract::record(database, &Plan { seed, ..plan.clone() });
        matches!(check(&history, level, &Options::default()), Verdict::Violated(_))
    });
    assert!(caught, "{:?} is not caught violating {level}", database.describe());
}

/// Measured: `read committed` violates snapshot-isolation in 20 of 20 runs, `repeatable read` violates serializable in 20 of 20 (write skew).
#[test]
fn postgres() {
    let Some(server) = start(Kind::Postgres) else { return };
    let plan = mini(200);
    let database = |isolation| database(&server, Some(isolation));
    expect_holds(&*database("read committed"), &plan, ReadCommitted);
    expect_caught(&*database("read committed"), &plan, SnapshotIsolation, 5);
    expect_holds(&*database("repeatable read"), &plan, SnapshotIsolation);
    expect_caught(&*database("repeatable read"), &plan, Serializable, 5);
    expect_holds(&*database("serializable"), &plan, Serializable);
}

/// Measured: `repeatable read` violates snapshot-isolation in 20 of 20 runs (lost update); it satisfied prefix in all of them, since
/// transactions that only read and write plain keys do read from one snapshot.
#[test]
fn mariadb() {
    let Some(server) = start(Kind::Mariadb) else { return };
    let plan = mini(200);
    let database = |isolation| database(&server, Some(isolation));
    expect_holds(&*database("read committed"), &plan, ReadCommitted);
    expect_holds(&*database("repeatable read"), &plan, Prefix);
    expect_caught(&*database("repeatable read"), &plan, SnapshotIsolation, 5);
    expect_holds(&*database("serializable"), &plan, Serializable);
}

/// Measured: `repeatable read` violates snapshot-isolation in 20 of 20 runs (lost update); `serializable` violates serializable in 17 of 20
/// (write skew between nodes), with 500 transactions each.
#[test]
fn galera() {
    let Some(server) = start(Kind::Galera) else { return };
    expect_caught(&*database(&server, Some("repeatable read")), &mini(200), SnapshotIsolation, 5);
    expect_caught(&*database(&server, Some("serializable")), &mini(500), Serializable, 20);
}

/// Measured: `serializable` violates serializable in 5 of 10 runs (write skew). H2 answers in several small packets that wait for each
/// other, which takes 40 ms a statement, hence the many clients.
#[test]
fn h2() {
    let Some(server) = start(Kind::H2) else { return };
    let workload = Workload { keys: 20, distribution: Distribution::Uniform, shape: Shape::Mini(MiniMix::ALL) };
    let plan = Plan::new(workload, 12, 200);
    expect_caught(&*database(&server, Some("serializable")), &plan, Serializable, 15);
}

/// Transactions become visible on the primary in another order than on the replica, so that two readers disagree about the order of two
/// writes: a long fork. That takes more clients than cores, and a scheduler that lets one of them wait: measured in 4 of 8 runs on busy cores,
/// and in none of 25 on idle ones. So a fork is not demanded; but nothing worse than a fork may be found, and it may have no other name.
#[test]
fn a_replica_forks_at_worst() {
    let Some(server) = start(Kind::PostgresReplica) else { return };
    let shape = Shape::ListAppend { length: Length::Between(1, 8), read_share: 0.8, appends_per_key: 32 };
    let workload = Workload { keys: 20, distribution: Distribution::Uniform, shape };
    let plan = Plan::new(workload, 24, 4000);
    let database = database(&server, Some("repeatable read"));
    for seed in 0..RUNS {
        let (history, _) = contract::record(&*database, &Plan { seed, ..plan.clone() });
        contract::expect_holds(&history, Causal);
        if let Verdict::Violated(fork) = check(&history, SnapshotIsolation, &Options::default()) {
            let name = fork.anomaly.name();
            assert!(["long-fork", "g-sib"].contains(&name), "{name}");
        }
    }
}
