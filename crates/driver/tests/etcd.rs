//! etcd keeps the contract, with one member and with three that the tests start.

#![allow(clippy::print_stdout, reason = "tests say what they leave out")]

mod support;

use isonomy_cluster::{Kind, Server};
use isonomy_driver::contract::{self, Stress};
use isonomy_driver::{Database, Error, open};
use support::start;

fn open_all(server: &Server, isolation: Option<&str>) -> Box<dyn Database> {
    let urls = server.urls();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    open(&urls, isolation).expect("the URLs are some")
}

const STRESS: Stress = Stress { sessions: 6, attempts: 100, keys: 5, seed: 2 };

#[test]
fn one_member_keeps_the_contract() {
    let Some(server) = start(Kind::Etcd) else { return };
    for isolation in [None, Some("serializable"), Some("snapshot")] {
        let database = open_all(&server, isolation);
        contract::check(&*database);
        contract::stress_with(&*database, STRESS);
    }
}

#[test]
fn three_members_keep_the_contract() {
    let Some(server) = start(Kind::EtcdCluster) else { return };
    contract::check(&*open_all(&server, None));
    // A client need not see what another has just committed.
    for isolation in ["serializable", "snapshot"] {
        contract::stress_with(&*open_all(&server, Some(isolation)), STRESS);
    }
}

/// Transactions that only read are compared too, and ranges as a whole.
#[test]
fn what_was_read_is_compared() {
    let Some(server) = start(Kind::Etcd) else { return };
    let database = open_all(&server, None);
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
    let fresh = open_all(&server, None);
    fresh.prepare().expect("all are there");
    let local = open_all(&server, Some("serializable"));
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
