//! `isonomy mock` with the clients that people use: psql, psycopg, SQLAlchemy, the client of MariaDB, PyMySQL, and JDBC
//! of both.
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

/// The JDBC drivers of Debian, driven by the shell that H2 has for all of them.
#[test]
fn jdbc_connects_to_both() {
    let jars = ["h2.jar", "postgresql.jar", "mariadb-java-client.jar"].map(|jar| format!("/usr/share/java/{jar}"));
    if !is_there("java", &["-version"]) || !jars.iter().all(|jar| is_there("test", &["-e", jar])) {
        return;
    }
    let [postgres, mysql] = [mock(), mock()];
    let ((host, port), (mysql_host, mysql_port)) = (postgres.address(0), mysql.address(1));
    for (driver, url) in [
        ("org.postgresql.Driver", format!("jdbc:postgresql://{host}:{port}/isonomy?sslmode=disable")),
        ("org.mariadb.jdbc.Driver", format!("jdbc:mariadb://{mysql_host}:{mysql_port}/isonomy")),
    ] {
        let sql = "CREATE TABLE t (id INT PRIMARY KEY, n NUMERIC(8, 2), made TIMESTAMP); \
                   INSERT INTO t VALUES (1, 12.5, '2024-02-29 12:15:00'); SELECT * FROM t";
        let mut shell = Command::new("java");
        shell.args(["-cp", &jars.join(":"), "org.h2.tools.Shell", "-driver", driver, "-url", &url]);
        let told = output(shell.args(["-user", "isonomy", "-password", "", "-sql", sql]));
        assert!(told.contains("1  | 12.50 | 2024-02-29 12:15:00"), "{told}");
    }
}
