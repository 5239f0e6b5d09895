//! etcd keeps the contract, with one member and with three that the tests start.

mod support;

use isonomy_cluster::Kind;
use isonomy_driver::{Error, contract, open};
use isonomy_workload::Preset;
use support::{database, holds_as_promised, start};

#[test]
fn one_member_keeps_the_contract() {
    let Some(server) = start(Kind::Etcd) else { return };
    for isolation in [None, Some("serializable"), Some("snapshot")] {
        let database = database(&server, isolation);
        contract::check(&*database);
        for preset in [Preset::RwRegister, Preset::RangeB, Preset::Bank, Preset::TpcC] {
            holds_as_promised(&*database, preset, 100);
        }
    }
}

#[test]
fn three_members_keep_the_contract() {
    let Some(server) = start(Kind::EtcdCluster) else { return };
    let fresh = database(&server, None);
    contract::check(&*fresh);
    holds_as_promised(&*fresh, Preset::CasRegister, 200);
    // A client need not see what another has just committed.
    for isolation in ["serializable", "snapshot"] {
        let database = database(&server, Some(isolation));
        contract::stress(&*database);
        holds_as_promised(&*database, Preset::RangeB, 200);
    }
}

/// Transactions that only read are compared too, and ranges as a whole.
#[test]
fn what_was_read_is_compared() {
    let Some(server) = start(Kind::Etcd) else { return };
    let database = database(&server, None);
    database.prepare().expect("it is reachable");
    let [mut a, mut b] = [0, 1].map(|number| database.connect(number).expect("it is reachable"));
    let mut disturb = |key, value| {
        b.begin().and_then(|()| b.write(key, value)).and_then(|()| b.commit()).expect("nothing hinders it");
    };
    disturb(1, 10);
    a.begin().expect("it is free");
    assert_eq!((a.read(1), a.read(2)), (Ok(Some(10)), Ok(None)));
    disturb(1, 11);
    assert!(matches!(a.commit(), Err(Error::Aborted(_))));
    a.rollback().expect("it was aborted");
    // Somebody inserts into a range that was empty.
    a.begin().expect("it is free");
    assert_eq!(a.range(50, 60), Ok(vec![]));
    a.write(100, 12).expect("it is open");
    disturb(55, 13);
    assert!(matches!(a.commit(), Err(Error::Aborted(_))));
    a.rollback().expect("it was aborted");
    // Outside of it anybody may.
    a.begin().expect("it is free");
    assert_eq!(a.range(50, 60), Ok(vec![(55, 13)]));
    a.write(100, 14).expect("it is open");
    disturb(61, 15);
    disturb(49, 16);
    assert_eq!(a.commit(), Ok(()));
}

#[test]
fn nobody_is_there() {
    contract::check_unreachable(open(&["etcd://127.0.0.1:1"], None), "127.0.0.1:1");
}

/// A member that hears nothing from the others can answer from what it has, and cannot commit.
#[test]
fn a_lonely_member_reads_and_does_not_commit() {
    let Some(server) = start(Kind::EtcdCluster) else { return };
    let fresh = database(&server, None);
    fresh.prepare().expect("all are there");
    let local = database(&server, Some("serializable"));
    let mut session = local.connect(0).expect("it is there");
    session.begin().and_then(|()| session.write(1, 1)).and_then(|()| session.commit()).expect("all are there");
    for node in &server.nodes()[1..] {
        node.kill();
    }
    session.begin().expect("nothing is sent");
    assert_eq!(session.read(1), Ok(Some(1)));
    assert_eq!(session.commit(), Ok(()));
    session.begin().and_then(|()| session.write(1, 2)).expect("nothing is sent");
    assert!(matches!(session.commit(), Err(Error::Lost(_))), "nobody knows whether the others will get it");
    let mut session = fresh.connect(0).expect("it is there");
    session.begin().expect("nothing is sent");
    assert!(matches!(session.read(1), Err(Error::Aborted(_) | Error::Lost(_))));
}
