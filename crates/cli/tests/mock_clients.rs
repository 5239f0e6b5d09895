//! `isonomy mock` with the clients that people use: psql, psycopg, SQLAlchemy, the client of MariaDB, PyMySQL.
//!
//! Without a client its test says so and passes, unless `ISONOMY_SERVERS=1` demands it. `scripts/servers` installs them.

#![cfg(unix)]
#![allow(clippy::print_stderr, reason = "whoever runs the tests should know what they did not do")]

mod place;
mod server;

use std::env;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use place::Place;
use server::Mock;

/// Debian's packages are seen by Debian's Python only.
const PYTHON: &str = "/usr/bin/python3";

fn mock() -> Mock {
    Mock::start(&["--pg", "0", "--mysql", "0", "--level", "serializable"], 2)
}

/// Whether a command succeeds that only asks whether something is there.
fn is_there(program: &str, args: &[&str]) -> bool {
    let found = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = found.is_ok_and(|status| status.success());
    assert!(is_there || env::var_os("ISONOMY_SERVERS").is_none(), "{program} {args:?} is missing");
    if !is_there {
        eprintln!("not tested: {program} {args:?} is missing");
    }
    is_there
}

/// What a client printed. If it failed, so does the test.
#[track_caller]
fn output(command: &mut Command) -> String {
    let output: Output = command.output().expect("the client runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

/// Runs one of our scripts with Python.
#[track_caller]
fn python(module: &str, script: &str, args: &[&str]) {
    if is_there(PYTHON, &["-c", &format!("import {module}")]) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
        let told = output(Command::new(PYTHON).arg(path).args(args));
        assert_eq!(told.trim(), "fine");
    }
}

const SESSION: &str = "
CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner VARCHAR(20) NOT NULL, balance INTEGER);
INSERT INTO accounts VALUES (1, 'ann', 100), (2, 'bob', NULL);
BEGIN;
UPDATE accounts SET balance = balance - 30 WHERE id = 1;
SELECT owner, balance FROM accounts ORDER BY id;
ROLLBACK;
SELECT owner, balance FROM accounts ORDER BY id;
";

#[test]
fn psql_runs_a_script() {
    if !is_there("psql", &["--version"]) {
        return;
    }
    let (mock, place) = (mock(), Place::new("psql"));
    let script = place.file("script.sql", SESSION);
    let mut psql = Command::new("psql");
    psql.args([&mock.urls[0], "--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "-v", "ON_ERROR_STOP=1"]);
    let told = output(psql.args(["-f", &script]));
    assert_eq!(told, "ann|70\nbob|\nann|100\nbob|\n");
    // Errors are told with their hints, and the prompt knows of transactions.
    let failed = Command::new("psql").args([&mock.urls[0], "-X", "-c", "SELECT * FROM nowhere"]).output().unwrap();
    assert!(String::from_utf8_lossy(&failed.stderr).contains("nowhere"));
}

#[test]
fn psycopg_2_does_transactions() {
    let mock = mock();
    python("psycopg2", "psycopg2_session.py", &[&mock.urls[0]]);
}

#[test]
fn psycopg_3_does_transactions() {
    let mock = mock();
    python("psycopg", "psycopg3_session.py", &[&mock.urls[0]]);
}

#[test]
fn sqlalchemy_maps_objects_to_both() {
    // Each with tables of its own: the two protocols share a database.
    let [postgres, mysql] = [mock(), mock()];
    let url = postgres.urls[0].replace("postgres:", "postgresql+psycopg2:");
    python("sqlalchemy, psycopg2", "sqlalchemy_orm.py", &[&url]);
    let url = mysql.urls[1].replace("mysql:", "mysql+pymysql:");
    python("sqlalchemy, pymysql", "sqlalchemy_orm.py", &[&url]);
}

#[test]
fn the_client_of_mariadb_runs_a_session() {
    if !is_there("mariadb", &["--version"]) {
        return;
    }
    let mock = mock();
    let (host, port) = mock.address(1);
    let client = |sql: &str| {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--protocol=tcp", "--host", &host, "--port", &port, "--user=isonomy"]);
        client.args(["--batch", "--skip-column-names", "isonomy", "-e", sql]);
        client
    };
    assert_eq!(output(&mut client(SESSION)), "ann\t70\nbob\tNULL\nann\t100\nbob\tNULL\n");
    assert_eq!(output(&mut client("SHOW TABLES")), "accounts\n");
    let failed = client("SELECT * FROM nowhere").output().unwrap();
    assert!(String::from_utf8_lossy(&failed.stderr).contains("1146"));
}

#[test]
fn pymysql_does_transactions() {
    let mock = mock();
    let (host, port) = mock.address(1);
    python("pymysql", "pymysql_session.py", &[&host, &port]);
}
