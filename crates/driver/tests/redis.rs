//! Redis keeps the contract, with a server that the test starts.

mod support;

use isonomy_checker::{IsolationLevel, Options, Verdict, check};
use isonomy_cluster::Kind;
use isonomy_driver::run::Plan;
use isonomy_driver::{Ability, Error, contract, open};
use isonomy_workload::Preset;
use support::{database, holds_as_promised, start};

#[test]
fn redis_keeps_the_contract() {
    let Some(server) = start(Kind::Redis) else { return };
    for isolation in [None, Some("watch"), Some("multi")] {
        let database = database(&server, isolation);
        contract::check(&*database);
    }
}

#[test]
fn workloads_hold() {
    let Some(server) = start(Kind::Redis) else { return };
    let watch = database(&server, Some("watch"));
    for preset in [Preset::ListAppend, Preset::RangeB, Preset::CasRegister, Preset::Bank, Preset::TpcC] {
        let summary = holds_as_promised(&*watch, preset, 400);
        assert!(summary.aborted > 0, "{preset}: clients did not meet");
    }
    let multi = database(&server, Some("multi"));
    for preset in [Preset::RwRegister, Preset::RangeIdh, Preset::SmallBank] {
        holds_as_promised(&*multi, preset, 400);
    }
}

/// Without `WATCH` updates are lost, and found to be.
#[test]
fn without_watch_updates_are_lost() {
    let Some(server) = start(Kind::Redis) else { return };
    let database = database(&server, Some("multi"));
    let (history, _) = contract::record(&*database, &Plan::new(Preset::Bank.spec().workload, 6, 1000));
    let verdict = check(&history, IsolationLevel::SnapshotIsolation, &Options::default());
    assert!(matches!(verdict, Verdict::Violated(_)), "{verdict:?}");
}

/// An empty `MULTI` and `EXEC` looks at watched keys, so what only reads sees one state.
#[test]
fn what_was_read_is_compared_even_if_nothing_is_written() {
    let Some(server) = start(Kind::Redis) else { return };
    let database = database(&server, None);
    database.prepare().expect("it is reachable");
    let [mut a, mut b] = [0, 1].map(|number| database.connect(number).expect("it is reachable"));
    let mut disturb = |value| {
        b.begin().and_then(|()| b.write(1, value)).and_then(|()| b.append(1, value)).expect("nothing hinders it");
        b.commit().expect("nothing hinders it");
    };
    a.begin().expect("it is free");
    assert_eq!(a.read(1), Ok(None));
    disturb(10);
    assert!(matches!(a.commit(), Err(Error::Aborted(_))));
    a.rollback().expect("it was aborted");
    a.begin().expect("it is free");
    assert_eq!(a.read_list(1), Ok(vec![10]));
    disturb(11);
    assert!(matches!(a.commit(), Err(Error::Aborted(_))));
    a.rollback().expect("it was aborted");
    // What was given up is no longer watched.
    a.begin().expect("it is free");
    assert_eq!(a.range(0, 3), Ok(vec![(1, 11)]));
    disturb(12);
    a.rollback().expect("it is open");
    a.begin().expect("it is free");
    assert_eq!(a.read(2), Ok(None));
    assert_eq!(a.commit(), Ok(()));
}

#[test]
fn nobody_is_there() {
    contract::check_unreachable(open(&["redis://127.0.0.1:1"], None), "127.0.0.1:1");
    assert!(matches!(open(&["redis://127.0.0.1:1"], Some("snapshot")), Err(Error::Refused(_))));
    let multi = open(&["redis://127.0.0.1:1"], Some("multi")).expect("nothing is sent yet");
    assert!(multi.can(Ability::Ranges) && !multi.can(Ability::Lists));
}

#[test]
fn a_server_that_is_gone_is_lost() {
    let Some(server) = start(Kind::Redis) else { return };
    let database = database(&server, None);
    database.prepare().expect("it is reachable");
    let mut session = database.connect(0).expect("it is reachable");
    session.begin().and_then(|()| session.write(1, 1)).and_then(|()| session.commit()).expect("it is there");
    session.begin().and_then(|()| session.write(1, 2)).expect("it is there");
    server.nodes()[0].kill();
    assert!(matches!(session.commit(), Err(Error::Lost(_))));
    assert!(matches!(database.connect(0), Err(Error::Unreachable(_))));
    server.nodes()[0].restart().expect("it starts again");
    let mut session = database.connect(0).expect("it is back");
    session.begin().expect("it is free");
    assert_eq!(session.read(1), Ok(Some(1)), "what was acknowledged is there");
}
