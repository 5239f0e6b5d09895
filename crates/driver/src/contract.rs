//! What every driver must do, as one suite for all of them.
//!
//! A driver's tests call [`check`] on a database that is running, and [`check_unreachable`] on an address where nobody listens. Both panic
//! with what was expected and what came.
//!
//! ```no_run
//! # fn main() -> Result<(), isonomy_driver::Error> {
//! let database = isonomy_driver::open(&["mock:snapshot-isolation"], None)?;
//! isonomy_driver::contract::check(&*database);
//! # Ok(())
//! # }
//! ```
//!
//! One client at a time is in a transaction, but for [`stress`]: a database may make others wait, and the suite has one thread.

mod stress;

pub use stress::{expect_holds, record, stress};

use std::fmt::Debug;

use crate::{Ability, Database, Error, Row, Session, Value};

/// Checks everything that the database says it can, and ends with a [`stress`]. All that it held is removed.
#[track_caller]
pub fn check(database: &dyn Database) {
    check_one_at_a_time(database);
    stress(database);
}

/// [`check`] without the stress.
#[track_caller]
pub fn check_one_at_a_time(database: &dyn Database) {
    let description = well("describe", database.describe());
    for (what, text) in [
        ("a product", &description.product),
        ("a version", &description.version),
        ("an isolation", &description.isolation.name),
    ] {
        assert!(!text.trim().is_empty(), "the description has {what}: {description:?}");
    }
    if let Some(level) = description.isolation.promises {
        assert!(level.parse::<isonomy_checker::IsolationLevel>().is_ok(), "`{level}` is a level that isonomy knows");
    }
    registers(database);
    outcomes(database);
    sessions_take_turns(database);
    if database.can(Ability::Lists) {
        lists(database);
    }
    if database.can(Ability::Ranges) {
        ranges(database);
    }
    if database.can(Ability::CompareAndSet) {
        compare_and_set(database);
    }
    prepare_empties(database);
}

/// Checks what comes of an address where nobody listens: [`Error::Unreachable`], with the address and how to start a server. The address is
/// what follows the scheme and the user, as `127.0.0.1:1`.
#[track_caller]
pub fn check_unreachable(opened: Result<Box<dyn Database>, Error>, address: &str) {
    // Whether the driver looks at once or at the first need is its own affair.
    let error = match opened.and_then(|database| database.prepare()) {
        Err(error) => error,
        Ok(()) => panic!("a database at {address}, where nobody should be, was prepared"),
    };
    let Error::Unreachable(message) = &error else { panic!("expected Error::Unreachable, found {error:?}") };
    assert!(message.contains(address), "the message names {address}: {message}");
    assert!(message.to_lowercase().contains("start"), "the message says how to start a server: {message}");
}

fn registers(database: &dyn Database) {
    well("prepare", database.prepare());
    let mut a = client(database, 0);
    let mut b = client(database, 1);
    let nothing = transact(&mut *a, |s| Ok([s.read(1)?, s.read(u64::from(u32::MAX))?]));
    assert_eq!(nothing, [None, None], "a key that was never written holds nothing");
    let own = transact(&mut *a, |s| {
        s.write(1, 10)?;
        let first = s.read(1)?;
        s.write(1, 11)?;
        s.write(2, i64::MAX)?;
        Ok([first, s.read(1)?])
    });
    assert_eq!(own, [Some(10), Some(11)], "a transaction reads its own last write");
    let seen = transact(&mut *b, |s| Ok([s.read(1)?, s.read(2)?, s.read(3)?]));
    assert_eq!(seen, [Some(11), Some(i64::MAX), None], "another client sees what was committed");
    let seen = transact(&mut *client(database, 2), |s| s.read(1));
    assert_eq!(seen, Some(11), "so does one that comes later");
}

fn outcomes(database: &dyn Database) {
    well("prepare", database.prepare());
    let (mut a, mut b) = (client(database, 0), client(database, 1));
    transact(&mut *a, |s| s.write(1, 10));
    well("begin", a.begin());
    well("write over", a.write(1, 11));
    well("write anew", a.write(2, 12));
    well("rollback", a.rollback());
    let seen = transact(&mut *b, |s| Ok([s.read(1)?, s.read(2)?]));
    assert_eq!(seen, [Some(10), None], "what was rolled back is not there");
    // Nothing was done: both ends must do, for workloads give up before the first operation, too.
    well("begin", a.begin());
    well("commit of nothing", a.commit());
    well("begin", a.begin());
    well("rollback of nothing", a.rollback());
    assert_eq!(transact(&mut *a, |s| s.read(1)), Some(10), "the client is ready for the next transaction");
}

fn sessions_take_turns(database: &dyn Database) {
    well("prepare", database.prepare());
    let mut clients: Vec<Box<dyn Session>> = (0..3).map(|number| client(database, number)).collect();
    let mut last = None;
    for round in 1..=12 {
        let session = &mut *clients[round as usize % 3];
        let gives_up = round % 4 == 0;
        well("begin", session.begin());
        assert_eq!(well("read", session.read(7)), last, "round {round}: the last committed value");
        well("write", session.write(7, round));
        if gives_up {
            well("rollback", session.rollback());
        } else {
            well("commit", session.commit());
            last = Some(round);
        }
    }
}

fn lists(database: &dyn Database) {
    well("prepare", database.prepare());
    let (mut a, mut b) = (client(database, 0), client(database, 1));
    let seen = transact(&mut *a, |s| {
        let first = s.read_list(1)?;
        s.append(1, 10)?;
        s.append(1, 9)?;
        Ok([first, s.read_list(1)?])
    });
    assert_eq!(seen, [vec![], vec![10, 9]], "a list is empty at first, and grows at its end");
    let seen = transact(&mut *b, |s| {
        s.append(1, 11)?;
        s.append(2, 12)?;
        Ok([s.read_list(1)?, s.read_list(2)?])
    });
    assert_eq!(seen, [vec![10, 9, 11], vec![12]], "another client's elements come after");
    well("begin", a.begin());
    well("append", a.append(1, 13));
    well("rollback", a.rollback());
    assert_eq!(transact(&mut *b, |s| s.read_list(1)), [10, 9, 11], "what was rolled back is not in the list");
    assert_eq!(transact(&mut *b, |s| s.read(1)), None, "lists and plain keys are apart");
    transact(&mut *a, |s| s.write(1, 5));
    assert_eq!(transact(&mut *b, |s| s.read_list(1)), [10, 9, 11], "plain keys and lists are apart");
}

fn ranges(database: &dyn Database) {
    well("prepare", database.prepare());
    let (mut a, mut b) = (client(database, 0), client(database, 1));
    assert_eq!(transact(&mut *a, |s| s.range(0, 100)), [], "a range of keys that were never written is empty");
    let seen = transact(&mut *a, |s| {
        s.insert(9, 90)?;
        s.insert(10, 100)?;
        s.insert(3, 30)?;
        s.range(3, 10)
    });
    assert_eq!(seen, [(3, 30), (9, 90), (10, 100)], "a range is by key, has both ends, and own inserts");
    assert_eq!(transact(&mut *b, |s| s.range(4, 9)), [(9, 90)], "what is outside is left out");
    let seen = transact(&mut *b, |s| {
        s.delete(9, -91)?;
        s.read(9)
    });
    assert_eq!(seen, Some(-91), "an own delete is seen");
    let seen: (Vec<Row>, Option<Value>) = transact(&mut *a, |s| Ok((s.range(0, 9)?, s.read(9)?)));
    assert_eq!(seen, (vec![(3, 30), (9, -91)], Some(-91)), "a delete leaves its tombstone, for ranges and reads");
    let seen = transact(&mut *a, |s| {
        s.insert(9, 92)?;
        s.range(9, 9)
    });
    assert_eq!(seen, [(9, 92)], "an insert over a tombstone is fine");
    well("begin", a.begin());
    well("a write before the insert", a.write(50, 500));
    aborted("an insert of a key that is there", a.insert(3, 31));
    well("rollback after an abort", a.rollback());
    let seen = transact(&mut *a, |s| s.range(0, 100));
    assert_eq!(seen, [(3, 30), (9, 92), (10, 100)], "the abort undid all, and the client goes on");
    transact(&mut *b, |s| {
        s.write(3, 32)?;
        s.delete(10, -101)?;
        s.delete(77, -771)
    });
    let seen = transact(&mut *a, |s| s.range(0, 100));
    assert_eq!(seen, [(3, 32), (9, 92), (10, -101), (77, -771)], "a key that was not there can be deleted, too");
}

fn compare_and_set(database: &dyn Database) {
    well("prepare", database.prepare());
    let (mut a, mut b) = (client(database, 0), client(database, 1));
    assert!(!transact(&mut *a, |s| s.compare_and_set(1, Some(5), 10)), "a key that was never written holds no 5");
    assert!(transact(&mut *a, |s| s.compare_and_set(1, None, 10)), "a key that was never written can be set");
    assert!(!transact(&mut *b, |s| s.compare_and_set(1, None, 11)), "once only");
    assert!(!transact(&mut *b, |s| s.compare_and_set(1, Some(9), 11)), "not if it holds another value");
    assert!(transact(&mut *b, |s| s.compare_and_set(1, Some(10), 12)), "but if it holds the expected one");
    assert_eq!(transact(&mut *a, |s| s.read(1)), Some(12), "and others see it");
}

fn prepare_empties(database: &dyn Database) {
    let mut a = client(database, 0);
    transact(&mut *a, |s| s.write(1, 1000));
    drop(a);
    well("prepare", database.prepare());
    well("prepare again", database.prepare());
    let mut b = client(database, 0);
    assert_eq!(transact(&mut *b, |s| s.read(1)), None, "prepare removes all rows");
    if database.can(Ability::Lists) {
        transact(&mut *b, |s| s.append(1, 1));
        well("prepare", database.prepare());
        assert!(transact(&mut *client(database, 1), |s| s.read_list(1)).is_empty(), "prepare removes all lists");
    }
}

#[track_caller]
fn client(database: &dyn Database, number: u32) -> Box<dyn Session> {
    well("connect", database.connect(number))
}

/// Runs a transaction. It is alone, so nothing should stop it; databases that give up now and then all the same get a few chances.
#[track_caller]
fn transact<T>(session: &mut dyn Session, body: impl Fn(&mut dyn Session) -> Result<T, Error>) -> T {
    let mut left = 5;
    loop {
        left -= 1;
        let done = session.begin().and_then(|()| body(session)).and_then(|value| session.commit().map(|()| value));
        match done {
            Ok(value) => return value,
            Err(Error::Aborted(_)) if left > 0 => well("rollback after an abort", session.rollback()),
            Err(error) => panic!("a transaction that nothing disturbs failed: {error:?}"),
        }
    }
}

#[track_caller]
fn well<T>(what: &str, result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("{what}: {error:?}"))
}

#[track_caller]
fn aborted<T: Debug>(what: &str, result: Result<T, Error>) {
    assert!(matches!(result, Err(Error::Aborted(_))), "{what}: expected Error::Aborted, found {result:?}");
}
