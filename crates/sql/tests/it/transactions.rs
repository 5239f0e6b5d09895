//! Transactions: what stays and what goes.

use isonomy_sql::{Dialect, Engine, Options, Status};
use isonomy_store::{Choice, Options as StoreOptions, Store, StoreLevel};

use crate::support::{ask, check, engine, mysql, postgres, run, weird_engine};

#[test]
fn errors_fail_a_transaction_of_postgresql() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (k INT PRIMARY KEY)");
    check(
        &mut client,
        &[
            ("BEGIN", "BEGIN"),
            ("INSERT INTO t VALUES (1)", "1"),
            ("INSERT INTO t VALUES (2), (1)", "23505"),
            ("SELECT 1", "25P02"),
            ("COMMIT", "ROLLBACK"),
            ("SELECT count(*) FROM t", "0"),
            ("BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s; INSERT INTO t VALUES (2)", "1"),
            ("SELECT 1 / 0", "22012"),
            ("ROLLBACK TO SAVEPOINT s", "ROLLBACK"),
            ("INSERT INTO t VALUES (3)", "1"),
            ("RELEASE SAVEPOINT s", "RELEASE"),
            ("ROLLBACK TO s", "3B001"),
            ("ROLLBACK", "ROLLBACK"),
            ("BEGIN; INSERT INTO t VALUES (1); SAVEPOINT s; INSERT INTO t VALUES (2); ROLLBACK TO s; COMMIT", "COMMIT"),
            ("SELECT * FROM t", "1"),
            ("SAVEPOINT s", "25P01"),
        ],
    );
    assert_eq!(client.status(), Status::Idle);
    ask(&mut client, "BEGIN");
    assert_eq!(client.status(), Status::Open);
    ask(&mut client, "nonsense");
    assert_eq!(client.status(), Status::Failed);
}

#[test]
fn a_transaction_of_mysql_goes_on() {
    let mut client = mysql();
    run(&mut client, "CREATE TABLE t (k INT PRIMARY KEY)");
    check(
        &mut client,
        &[
            ("START TRANSACTION", "START TRANSACTION"),
            ("INSERT INTO t VALUES (1)", "1"),
            ("INSERT INTO t VALUES (2), (1)", "23505"),
            ("SELECT k FROM t", "1"),
            ("COMMIT", "COMMIT"),
            ("SELECT k FROM t", "1"),
            ("SET autocommit = 0", "SET"),
            ("INSERT INTO t VALUES (5)", "1"),
            ("ROLLBACK", "ROLLBACK"),
            ("SELECT k FROM t", "1"),
            ("SET autocommit = 1", "SET"),
        ],
    );
}

#[test]
fn others_see_what_is_committed() {
    let engine = engine(Options::default());
    let (mut one, mut two) = (engine.connect(Dialect::PostgreSql), engine.connect(Dialect::PostgreSql));
    run(&mut one, "CREATE TABLE t (k INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1)");
    run(&mut one, "BEGIN; UPDATE t SET v = 2; ROLLBACK");
    assert_eq!(ask(&mut two, "SELECT v FROM t"), "1");
    run(&mut one, "BEGIN; UPDATE t SET v = 3; COMMIT");
    assert_eq!(ask(&mut two, "SELECT v FROM t FOR UPDATE"), "3");
}

#[test]
fn levels_have_many_names() {
    let mut client = postgres();
    check(
        &mut client,
        &[
            ("SHOW transaction isolation level", "causal"),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE; SHOW transaction_isolation", "serializable"),
            ("COMMIT; SHOW transaction_isolation", "causal"),
            (
                "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL repeatable read; SHOW isonomy.level",
                "snapshot-isolation",
            ),
            ("SHOW TRANSACTION ISOLATION LEVEL", "repeatable read"),
            ("SET default_transaction_isolation = 'read committed'; SHOW isonomy.level", "read-committed"),
            ("SET isonomy.level = 'strict-serializable'; SHOW isonomy.level", "strict-serializable"),
            ("SET isonomy.level = 'nonsense'", "22023"),
            ("BEGIN; SET LOCAL isonomy.level = 'prefix'; SHOW isonomy.level", "prefix"),
            ("ROLLBACK; SHOW isonomy.level", "strict-serializable"),
            ("BEGIN; SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SHOW isonomy.level", "read-committed"),
            ("ROLLBACK; SET isonomy.choice = 'weirdness:0.7'; SHOW isonomy.choice", "weirdness:0.7"),
            ("SET isonomy.choice = 'weirdness:7'", "22023"),
            ("SELECT isonomy_settle()", "settled"),
        ],
    );
    let mut client = mysql();
    check(
        &mut client,
        &[
            ("SELECT @@transaction_isolation", "CAUSAL"),
            (
                "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SELECT @@session.transaction_isolation",
                "READ-COMMITTED",
            ),
            ("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SELECT @@tx_isolation", "SERIALIZABLE"),
            (
                "SET @@session.transaction_isolation = 'REPEATABLE-READ'; SELECT @@transaction_isolation",
                "REPEATABLE-READ",
            ),
        ],
    );
}

/// Two clients count together, one after the other, and try again when they are told to.
fn counted(level: &str) -> i64 {
    let engine = weird_engine(Options::default());
    let mut clients = [engine.connect(Dialect::PostgreSql), engine.connect(Dialect::PostgreSql)];
    run(
        &mut clients[0],
        "CREATE TABLE t (k INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 0); SELECT isonomy_settle()",
    );
    for client in &mut clients {
        run(client, &format!("SET isonomy.level = '{level}'"));
    }
    for turn in 0..20 {
        let client = &mut clients[turn % 2];
        while ask(client, "UPDATE t SET v = v + 1 WHERE k = 1") == "40001" {}
    }
    ask(&mut clients[0], "SELECT v FROM t WHERE k = 1 FOR UPDATE").parse().expect("a number")
}

#[test]
fn weak_levels_lose_updates() {
    assert!(counted("causal") < 20);
    assert_eq!(counted("serializable"), 20);
    assert_eq!(counted("snapshot-isolation"), 20);
}

/// A row that is inserted after a scan which did not know its key is missed by that scan, and not by anything that comes later.
#[test]
fn scans_and_inserts_that_overlap_do_not_miss_each_other() {
    let store = Store::new(StoreOptions {
        level: StoreLevel::Serializable,
        choice: Choice::Newest,
        concurrent: true,
        ..StoreOptions::default()
    });
    let engine = Engine::new(store, Options::default());
    let mut clients = [engine.connect(Dialect::PostgreSql), engine.connect(Dialect::PostgreSql)];
    run(&mut clients[0], "CREATE TABLE shift (id INT PRIMARY KEY, who TEXT)");
    // Each adds a row if there is none.
    for (client, name) in clients.iter_mut().zip(["alice", "bob"]) {
        run(client, "BEGIN");
        assert_eq!(ask(client, "SELECT count(*) FROM shift"), "0");
        let id = name.len();
        run(client, &format!("INSERT INTO shift VALUES ({id}, '{name}')"));
    }
    assert_eq!(ask(&mut clients[0], "COMMIT"), "COMMIT");
    assert_eq!(ask(&mut clients[1], "COMMIT"), "40001");
    assert_eq!(ask(&mut clients[1], "SELECT who FROM shift"), "alice");
}
