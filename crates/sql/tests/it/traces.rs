//! Which keys statements read and write.

use isonomy_sql::{Connection, Dialect, Options};

use crate::support::{engine, run};

fn client(options: Options) -> Connection {
    let mut client = engine(options).connect(Dialect::PostgreSql);
    run(
        &mut client,
        "CREATE TABLE accounts (id INT PRIMARY KEY, name TEXT UNIQUE, balance INT);
         INSERT INTO accounts VALUES (7, 'alice', 100), (8, 'bob', 50), (9, 'cy', NULL);
         CREATE TABLE lines (a INT, b INT, c INT, amount INT, PRIMARY KEY (a, b, c));
         INSERT INTO lines VALUES (1, 1, 1, 10), (1, 2, 1, 20), (1, 2, 2, 30), (2, 1, 1, 40);
         CREATE TABLE log (what TEXT); INSERT INTO log VALUES ('a/b')",
    );
    client.start_trace();
    client
}

/// What a statement reads and writes, without values that were read.
fn trace(client: &mut Connection, sql: &str) -> String {
    client.take_trace();
    let _ = client.execute(sql);
    let short = |line: String| match line.split_once(" = ") {
        Some((read, _)) if read.starts_with("read ") => read.replacen("read ", "r ", 1),
        _ => line.replacen("write ", "w ", 1),
    };
    client.take_trace().into_iter().map(short).collect::<Vec<_>>().join(", ")
}

#[test]
fn statements_read_what_they_need() {
    let mut client = client(Options::default());
    for (sql, expected) in [
        ("SELECT balance FROM accounts WHERE id = 7", "r accounts/7, r accounts/7.balance"),
        ("SELECT id FROM accounts WHERE id = 7", "r accounts/7"),
        ("SELECT balance FROM accounts WHERE id = 99", "r accounts/99"),
        ("SELECT count(*) FROM accounts", "r accounts/7, r accounts/8, r accounts/9"),
        (
            "SELECT name FROM accounts WHERE balance > 60",
            "r accounts/7, r accounts/7.balance, r accounts/7.name, r accounts/8, r accounts/8.balance, r accounts/9, \
             r accounts/9.balance",
        ),
        ("SELECT balance + balance FROM accounts WHERE id = 7 AND balance > 0", "r accounts/7, r accounts/7.balance"),
        ("SELECT id FROM accounts WHERE id IN (9, 7)", "r accounts/7, r accounts/9"),
        ("SELECT id FROM accounts WHERE id = 9 OR 7 = id", "r accounts/7, r accounts/9"),
        ("SELECT id FROM accounts WHERE id > 8", "r accounts/9"),
        ("SELECT id FROM accounts LIMIT 1", "r accounts/7"),
        ("SELECT EXISTS (SELECT 1 FROM accounts)", "r accounts/7"),
        ("SELECT 1 FROM accounts WHERE FALSE", ""),
        (
            "SELECT name FROM accounts ORDER BY id DESC LIMIT 1",
            "r accounts/7, r accounts/8, r accounts/9, r accounts/9.name",
        ),
        ("SELECT amount FROM lines WHERE a = 1 AND b = 2 AND c = 2", "r lines/1,2,2, r lines/1,2,2.amount"),
        ("SELECT 1 FROM lines WHERE a = 1 AND b = 2", "r lines/1,2,1, r lines/1,2,2"),
        ("SELECT 1 FROM lines WHERE a = 1 AND b < 2", "r lines/1,1,1"),
        (
            "SELECT amount FROM accounts JOIN lines ON a = id - 6 AND b = 1 AND c = 1 WHERE id = 8",
            "r accounts/8, r lines/2,1,1, r lines/2,1,1.amount",
        ),
        (
            "SELECT 1 FROM accounts, lines WHERE accounts.id = lines.amount AND a = 2 AND b = 1 AND c = 1",
            "r lines/2,1,1, r lines/2,1,1.amount, r accounts/40",
        ),
        ("SELECT 1", ""),
        ("BEGIN; COMMIT", ""),
    ] {
        assert_eq!(trace(&mut client, sql), expected, "{sql}");
    }
}

#[test]
fn statements_write_what_they_say() {
    let mut client = client(Options::default());
    for (sql, expected) in [
        (
            "INSERT INTO accounts VALUES (10, 'dee', 5)",
            "r accounts/10, r accounts#name/dee, w accounts/10 = true, w accounts/10.name = dee, w accounts/10.balance = 5, \
             w accounts#name/dee = 10",
        ),
        ("UPDATE accounts SET balance = 90 WHERE id = 7", "r accounts/7, w accounts/7.balance = 90"),
        (
            "UPDATE accounts SET balance = balance - 10 WHERE id = 7",
            "r accounts/7, r accounts/7.balance, w accounts/7.balance = 80",
        ),
        (
            "UPDATE accounts SET name = 'al' WHERE id = 7",
            "r accounts/7, r accounts/7.name, w accounts#name/alice = nothing, w accounts/7.name = al, r accounts#name/al, \
             w accounts#name/al = 7",
        ),
        (
            "DELETE FROM accounts WHERE id = 8",
            "r accounts/8, r accounts/8.name, w accounts#name/bob = nothing, w accounts/8 = nothing",
        ),
        ("DELETE FROM lines WHERE a = 2", "r lines/2,1,1, w lines/2,1,1 = nothing"),
        ("INSERT INTO log VALUES ('x')", "r log/2, w log/2 = true, w log/2.what = x"),
        ("INSERT INTO accounts VALUES (7, 'x', 1)", "r accounts/7"),
        (
            "UPDATE lines SET c = 3 WHERE a = 1 AND b = 1",
            "r lines/1,1,1, r lines/1,1,1.amount, w lines/1,1,1 = nothing, r lines/1,1,3, w lines/1,1,3 = true, \
             w lines/1,1,3.amount = 10",
        ),
    ] {
        assert_eq!(trace(&mut client, sql), expected, "{sql}");
    }
}

#[test]
fn cells_are_read_anew_if_that_is_wanted() {
    let mut client = client(Options { reread: true, ..Options::default() });
    assert_eq!(
        trace(&mut client, "SELECT balance FROM accounts WHERE id = 7 AND balance > 0"),
        "r accounts/7, r accounts/7.balance, r accounts/7.balance"
    );
}
