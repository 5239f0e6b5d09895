//! The protocol of MySQL, with a client that many programs use.

mod support;

use isonomy_wire::Limits;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder, Params, Row, Value, params};
use support::{Running, newest, start, start_with};

fn try_connect(running: &Running, password: Option<&str>) -> Result<Conn, Error> {
    let address = running.mysql();
    let options = OptsBuilder::new()
        .ip_or_hostname(Some(address.ip().to_string()))
        .tcp_port(address.port())
        .user(Some("tester"))
        .pass(password)
        .db_name(Some("db"));
    Conn::new(options)
}

fn connect(running: &Running) -> Conn {
    try_connect(running, None).expect("the server lets it in")
}

/// The number and the SQLSTATE with which a statement fails.
#[track_caller]
fn fails(conn: &mut Conn, sql: &str) -> (u16, String) {
    match conn.query_drop(sql) {
        Err(Error::MySqlError(error)) => (error.code, error.state),
        other => panic!("{sql}: {other:?}"),
    }
}

const TYPES: &str = "CREATE TABLE t (
    id INT PRIMARY KEY, b BOOLEAN, s SMALLINT, l BIGINT, d DOUBLE, n DECIMAL(10, 2), t VARCHAR(100), y BLOB,
    dt DATE, tm TIME, ts DATETIME(6))";

fn row() -> Vec<Value> {
    vec![
        Value::Int(1),
        Value::Int(1),
        Value::Int(-2),
        Value::Int(i64::MAX),
        Value::Double(0.1),
        Value::Bytes(b"12.50".to_vec()),
        Value::Bytes("é'\\".into()),
        Value::Bytes(vec![0, 1, 255]),
        Value::Date(2024, 2, 29, 0, 0, 0, 0),
        Value::Time(false, 0, 12, 15, 0, 0),
        Value::Date(2024, 2, 29, 12, 15, 0, 250_000),
    ]
}

#[test]
fn values_of_all_types() {
    let running = start();
    let mut conn = connect(&running);
    conn.query_drop(TYPES).unwrap();
    let insert = "INSERT INTO t (id, b, s, l, d, n, t, y, dt, tm, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    conn.exec_drop(insert, Params::Positional(row())).unwrap();
    assert_eq!(conn.affected_rows(), 1);
    let found: Row = conn.exec_first("SELECT * FROM t", ()).unwrap().unwrap();
    assert_eq!(found.unwrap(), row());
    let text: Row = conn.query_first("SELECT * FROM t").unwrap().unwrap();
    let text: Vec<String> = text
        .unwrap()
        .into_iter()
        .map(|value| match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    let expected =
        ["1", "1", "-2", "9223372036854775807", "0.1", "12.50", "é'\\", "\0\u{1}\u{fffd}", "2024-02-29", "12:15:00"];
    assert_eq!(text[..10], expected);
    assert!(text[10].starts_with("2024-02-29 12:15:00.25"), "{}", text[10]);
}

#[test]
fn nulls_are_nulls() {
    let running = start();
    let mut conn = connect(&running);
    conn.query_drop(TYPES).unwrap();
    let mut values = vec![Value::NULL; 11];
    values[0] = Value::Int(1);
    let insert = "INSERT INTO t (id, b, s, l, d, n, t, y, dt, tm, ts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    conn.exec_drop(insert, Params::Positional(values.clone())).unwrap();
    let binary: Row = conn.exec_first("SELECT * FROM t", ()).unwrap().unwrap();
    assert_eq!(binary.unwrap(), values);
    let text: Row = conn.query_first("SELECT * FROM t").unwrap().unwrap();
    assert_eq!(text.unwrap()[1..], values[1..]);
}

#[test]
fn errors_have_numbers_and_leave_the_connection_alive() {
    let running = start();
    let mut conn = connect(&running);
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v TEXT NOT NULL)").unwrap();
    conn.query_drop("INSERT INTO t VALUES (1, 'a')").unwrap();
    assert_eq!(fails(&mut conn, "SELEC 1"), (1064, "42000".into()));
    assert_eq!(fails(&mut conn, "SELECT * FROM nowhere"), (1146, "42S02".into()));
    assert_eq!(fails(&mut conn, "SELECT nothing FROM t"), (1054, "42S22".into()));
    assert_eq!(fails(&mut conn, "INSERT INTO t VALUES (1, 'b')"), (1062, "23000".into()));
    assert_eq!(fails(&mut conn, "INSERT INTO t VALUES (2, NULL)"), (1048, "23000".into()));
    assert!(conn.prep("SELECT * FROM nowhere").is_err());
    assert_eq!(conn.query::<String, _>("SELECT v FROM t").unwrap(), ["a"]);
    conn.ping().unwrap();
}

#[test]
fn transactions_and_their_status() {
    let running = start();
    let mut conn = connect(&running);
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)").unwrap();
    let mut transaction = conn.start_transaction(mysql::TxOpts::default()).unwrap();
    transaction.query_drop("INSERT INTO t (v) VALUES (10)").unwrap();
    assert_eq!((transaction.affected_rows(), transaction.last_insert_id()), (1, Some(1)));
    transaction.rollback().unwrap();
    assert_eq!(conn.query::<i64, _>("SELECT count(*) FROM t").unwrap(), [0]);
    let mut transaction = conn.start_transaction(mysql::TxOpts::default()).unwrap();
    transaction.exec_drop("INSERT INTO t (v) VALUES (:v)", params! { "v" => 30 }).unwrap();
    transaction.commit().unwrap();
    assert_eq!(connect(&running).query::<i64, _>("SELECT v FROM t").unwrap(), [30]);
}

#[test]
fn several_statements_at_once() {
    let running = start();
    let mut conn = connect(&running);
    let mut result = conn.query_iter("SELECT 1; SELECT 2, 3; SELECT 4 WHERE 1 = 0").unwrap();
    let mut sizes = Vec::new();
    while let Some(set) = result.iter() {
        let rows: Vec<Row> = set.map(Result::unwrap).collect();
        sizes.push((rows.len(), rows.first().map_or(0, Row::len)));
    }
    drop(result);
    assert_eq!(sizes, [(1, 1), (1, 2), (0, 0)]);
    // The second fails, and the first was answered.
    let mut result = conn.query_iter("SELECT 1; SELECT * FROM nowhere").unwrap();
    assert_eq!(result.by_ref().count(), 1);
    drop(result);
    assert_eq!(conn.query::<i64, _>("SELECT 5").unwrap(), [5]);
}

#[test]
fn statements_are_prepared_run_often_and_closed() {
    let running = start();
    let mut conn = connect(&running);
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)").unwrap();
    let insert = conn.prep("INSERT INTO t VALUES (?, ?)").unwrap();
    assert_eq!((insert.num_params(), insert.num_columns()), (2, 0));
    let rows: Vec<(i64, String)> = (0..50).map(|id| (id, "x".repeat(id as usize))).collect();
    conn.exec_batch(&insert, rows.clone()).unwrap();
    let select = conn.prep("SELECT id, v FROM t WHERE id >= ? ORDER BY id").unwrap();
    assert_eq!((select.num_params(), select.num_columns()), (1, 2));
    let found: Vec<(i64, String)> = conn.exec(&select, (40,)).unwrap();
    assert_eq!(found, rows[40..]);
    conn.close(select).unwrap();
    // After a reset all is as new.
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("DELETE FROM t").unwrap();
    conn.reset().unwrap();
    assert_eq!(conn.query::<i64, _>("SELECT count(*) FROM t").unwrap(), [50]);
}

/// Packets have at most 16 MB; what is larger comes in several. Long parameters are sent ahead.
#[test]
fn large_values() {
    let running = start_with(newest(), Limits { statement: 40 << 20, ..Limits::default() }, None);
    let mut conn = connect(&running);
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)").unwrap();
    for (id, length) in [(1, 1 << 20), (2, (1 << 24) - 1), (3, 20 << 20)] {
        let value = "x".repeat(length);
        conn.exec_drop("INSERT INTO t VALUES (?, ?)", (id, &value)).unwrap();
        let found: String = conn.exec_first("SELECT v FROM t WHERE id = ?", (id,)).unwrap().unwrap();
        assert!(found == value, "{id}");
    }
    let value = "y".repeat(1 << 24);
    let text: String = conn.query_first(format!("SELECT '{value}'")).unwrap().unwrap();
    assert!(text == value);
    assert_eq!(fails(&mut conn, &format!("SELECT '{}'", "z".repeat(50 << 20))).0, 1153);
    conn.ping().unwrap();
}

#[test]
fn passwords() {
    let running = start_with(newest(), Limits::default(), Some("sésame"));
    let mut right = try_connect(&running, Some("sésame")).expect("it is the password");
    right.ping().unwrap();
    for wrong in [None, Some("sesame")] {
        match try_connect(&running, wrong) {
            Err(Error::MySqlError(error)) => assert_eq!((error.code, &error.state[..]), (1045, "28000")),
            other => panic!("{other:?}"),
        }
    }
    running.wait_for_clients(1);
}
