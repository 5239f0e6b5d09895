//! Redis keeps the contract, with a server that the test starts.

#![allow(clippy::print_stdout, reason = "tests say what they leave out")]

mod support;

use isonomy_cluster::Kind;
use isonomy_driver::contract::{self, Stress};
use isonomy_driver::{Ability, Error, open};
use support::start;

#[test]
fn redis_keeps_the_contract() {
    let Some(server) = start(Kind::Redis) else { return };
    let urls = server.urls();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    for isolation in [None, Some("watch"), Some("multi")] {
        let database = open(&urls, isolation).expect("the URL is one");
        contract::check(&*database);
        contract::stress_with(&*database, Stress { sessions: 8, attempts: 300, keys: 5, seed: 2 });
    }
}

/// An empty `MULTI` and `EXEC` looks at watched keys, so what only reads sees one state.
#[test]
fn what_was_read_is_compared_even_if_nothing_is_written() {
    let Some(server) = start(Kind::Redis) else { return };
    let database = open(&[&server.urls()[0]], None).expect("the URL is one");
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
    let database = open(&[&server.urls()[0]], None).expect("the URL is one");
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
