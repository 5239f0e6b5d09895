//! Prepared statements: parameters, their types, and the columns of answers.

use isonomy_sql::{Answer, Connection, Datum, Type};

use crate::support::{check, mysql, postgres, run, shown};

fn types(client: &mut Connection, sql: &str) -> String {
    match client.prepare(sql, &[]) {
        Ok(prepared) => {
            let names = |types: Vec<Type>| types.into_iter().map(Type::name).collect::<Vec<_>>().join(", ");
            let columns = prepared.columns().unwrap_or_default().iter().map(|column| column.ty).collect();
            format!("({}) -> ({})", names(prepared.parameters().to_vec()), names(columns))
        }
        Err(error) => error.code.to_owned(),
    }
}

#[test]
fn types_are_found() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT, price NUMERIC(8,2), at TIMESTAMP, ok BOOLEAN)");
    for (sql, expected) in [
        ("SELECT * FROM t WHERE id = $1", "(bigint) -> (bigint, text, numeric, timestamp without time zone, boolean)"),
        ("SELECT id FROM t WHERE name LIKE $1 AND price BETWEEN $2 AND $3", "(text, numeric, numeric) -> (bigint)"),
        (
            "INSERT INTO t VALUES ($1, $2, $3, $4, $5)",
            "(bigint, text, numeric, timestamp without time zone, boolean) -> ()",
        ),
        ("INSERT INTO t (ok, id) SELECT $1, $2", "(boolean, bigint) -> ()"),
        ("UPDATE t SET price = price + $1 WHERE id = $2 RETURNING price", "(numeric, bigint) -> (numeric)"),
        (
            "SELECT count(*), sum(id), avg(price), max(at) FROM t",
            "() -> (bigint, numeric, numeric, timestamp without time zone)",
        ),
        ("SELECT $1::int + 1, $2", "(integer, text) -> (integer, text)"),
        ("SELECT id FROM t WHERE id IN ($1, $2) LIMIT $3", "(bigint, bigint, bigint) -> (bigint)"),
        ("SELECT CASE WHEN ok THEN $1 ELSE price END, COALESCE(name, $2) FROM t", "(numeric, text) -> (numeric, text)"),
        ("SELECT $0", "42P02"),
        ("BEGIN", "() -> ()"),
        ("SHOW server_version", "() -> (text)"),
        ("SELECT 1; SELECT 2", "42601"),
    ] {
        assert_eq!(types(&mut client, sql), expected, "{sql}");
    }
}

#[test]
fn statements_run_many_times() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, name TEXT)");
    let insert = client.prepare("INSERT INTO t VALUES ($1, $2)", &[]).unwrap();
    for id in 0..10 {
        let done = client.run(&insert, &[Datum::Integer(id), Datum::from_text(format!("n{id}"))]).unwrap();
        assert_eq!(done, Answer::Done { tag: "INSERT", affected: Some(1), last_insert_id: 0 });
    }
    let find = client.prepare("SELECT name FROM t WHERE id = $1", &[]).unwrap();
    assert_eq!(shown(&client.run(&find, &[Datum::Integer(3)]).unwrap()), "n3");
    // Numbers may come as text, as they do in the text protocol.
    assert_eq!(shown(&client.run(&find, &[Datum::from_text("4")]).unwrap()), "n4");
    assert_eq!(client.run(&find, &[Datum::from_text("x")]).unwrap_err().code, "22P02");
    assert_eq!(client.run(&find, &[]).unwrap_err().code, "42601");
    assert_eq!(shown(&client.run(&find, &[Datum::Null]).unwrap()), "");
    // The plan is made anew when the table is another one.
    run(&mut client, "DROP TABLE t; CREATE TABLE t (name TEXT, id INT PRIMARY KEY); INSERT INTO t VALUES ('new', 3)");
    assert_eq!(shown(&client.run(&find, &[Datum::Integer(3)]).unwrap()), "new");
    let mut client = mysql();
    run(&mut client, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    let insert = client.prepare("INSERT INTO t VALUES (?, ?)", &[]).unwrap();
    assert_eq!(insert.parameters(), [Type::Integer, Type::Integer]);
    client.run(&insert, &[Datum::Integer(1), Datum::Integer(2)]).unwrap();
    assert_eq!(client.run(&insert, &[Datum::Integer(1), Datum::Integer(2)]).unwrap_err().mysql, 1062);
}

#[test]
fn statements_have_names_in_sql() {
    let mut client = postgres();
    check(
        &mut client,
        &[
            ("PREPARE p (int, text) AS SELECT $1 + 1, $2", "PREPARE"),
            ("EXECUTE p(41, 'x')", "42 x"),
            ("DEALLOCATE p", "DEALLOCATE"),
            ("EXECUTE p(1, 'x')", "26000"),
        ],
    );
}
