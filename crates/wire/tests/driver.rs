//! Isonomy's own drivers against its own server: what was seen holds at the level that was asked for.

mod support;

use isonomy_driver::contract::{self, expect_holds, record};
use isonomy_driver::run::Plan;
use isonomy_driver::{Database, open};
use isonomy_history::{History, HistoryBuilder};
use isonomy_store::{Options, StoreLevel};
use isonomy_wire::Limits;
use isonomy_workload::Preset;
use support::{Running, newest, start, start_with};

fn databases(running: &Running) -> [Box<dyn Database>; 2] {
    let urls =
        [format!("postgres://tester@{}/db", running.postgres()), format!("mysql://tester@{}/db", running.mysql())];
    urls.map(|url| open(&[&url], None).unwrap_or_else(|error| panic!("{url}: {error}")))
}

#[test]
fn both_protocols_fulfil_the_contract() {
    let running = start();
    for database in databases(&running) {
        contract::check(&*database);
    }
    running.wait_for_clients(0);
}

/// The store's own record, which knows what the clients cannot.
fn inside(running: &Running) -> History {
    let mut builder = HistoryBuilder::new();
    running.engine.store().write_history(&mut builder).unwrap();
    builder.finish().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn workloads_hold_at_the_level_and_the_record_agrees() {
    for level in [StoreLevel::ReadAtomic, StoreLevel::Causal, StoreLevel::Serializable] {
        for kind in 0..2 {
            let running = start_with(Options { level, seed: 3, ..Options::default() }, Limits::default(), None);
            let database = &databases(&running)[kind];
            database.prepare().unwrap();
            let mut workload = Preset::Mini.spec().workload;
            workload.keys = 5;
            let (history, summary) = record(&**database, &Plan::new(workload, 4, 200));
            assert_eq!(summary.committed, 200, "{level}: {summary:?}");
            let named = level.name().parse().expect("its names are the checker's");
            expect_holds(&inside(&running), named);
            // A row that is there without its cells is a matter of two keys, which levels below causal do not tie together.
            if level != StoreLevel::ReadAtomic {
                expect_holds(&history, named);
            }
            running.wait_for_clients(0);
        }
    }
}

/// What is asked for by SQL's names is given.
#[test]
fn isolation_is_asked_for_by_name() {
    let running = start_with(Options { level: StoreLevel::ReadCommitted, ..newest() }, Limits::default(), None);
    let url = format!("postgres://tester@{}/db", running.postgres());
    let database = open(&[&url], Some("serializable")).unwrap();
    assert_eq!(database.describe().unwrap().isolation.promises, Some("serializable"));
    contract::check(&*database);
}
