//! The protocol of PostgreSQL, with a client that many programs use, and message by message.

mod support;

use std::error::Error;

use isonomy_wire::Limits;
use support::raw::{Raw, kinds};
use support::{Pg, newest, start, start_with};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// A value in its binary format, of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Binary(Vec<u8>);

impl<'a> FromSql<'a> for Binary {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Binary(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ToSql for Binary {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.0);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

const TYPES: &str = "CREATE TABLE t (
    id integer PRIMARY KEY, b boolean, s smallint, l bigint, d double precision, n numeric, t text, y bytea,
    dt date, tm time, ts timestamp, tz timestamp with time zone)";

#[test]
fn values_of_all_types_in_binary() {
    let running = start();
    let pg = Pg::connect(&running);
    pg.run(TYPES);
    let insert = pg.wait(pg.client.prepare(
        "INSERT INTO t (id, b, s, l, d, n, t, y, dt, tm, ts, tz) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    ));
    let insert = insert.unwrap();
    let expected =
        [Type::INT4, Type::BOOL, Type::INT2, Type::INT8, Type::FLOAT8, Type::NUMERIC, Type::TEXT, Type::BYTEA];
    assert_eq!(insert.params()[..8], expected);
    assert_eq!(insert.params()[8..], [Type::DATE, Type::TIME, Type::TIMESTAMP, Type::TIMESTAMPTZ]);
    // 12.50; the 29th of February 2024; a quarter past noon; both together.
    let numeric = Binary(vec![0, 2, 0, 0, 0, 0, 0, 2, 0, 12, 0x13, 0x88]);
    let (day, noon) = (8825_i32, (12 * 60 + 15) * 60_000_000_i64);
    let moment = i64::from(day) * 86_400_000_000 + noon + 250_000;
    let binary = |bytes: &[u8]| Binary(bytes.to_vec());
    let (date, time, timestamp) =
        (binary(&day.to_be_bytes()), binary(&noon.to_be_bytes()), binary(&moment.to_be_bytes()));
    let bytes = [0_u8, 1, 255].as_slice();
    let parameters: [&(dyn ToSql + Sync); 12] =
        [&1_i32, &true, &-2_i16, &i64::MAX, &0.1_f64, &numeric, &"é'\\", &bytes, &date, &time, &timestamp, &timestamp];
    assert_eq!(pg.wait(pg.client.execute(&insert, &parameters)).unwrap(), 1);
    let row = pg.wait(pg.client.query_one("SELECT * FROM t", &[])).unwrap();
    assert_eq!((row.get::<_, i32>("id"), row.get::<_, bool>("b"), row.get::<_, i16>("s")), (1, true, -2));
    assert_eq!((row.get::<_, i64>("l"), row.get::<_, f64>("d")), (i64::MAX, 0.1));
    assert_eq!((row.get::<_, &str>("t"), row.get::<_, &[u8]>("y")), ("é'\\", bytes));
    assert_eq!(row.get::<_, Binary>("n"), numeric);
    assert_eq!(row.get::<_, Binary>("dt"), date);
    assert_eq!(row.get::<_, Binary>("tm"), time);
    assert_eq!(row.get::<_, Binary>("ts"), timestamp);
    assert_eq!(row.get::<_, Binary>("tz"), timestamp);
    // The same as text.
    let text: Vec<String> = pg.rows("SELECT * FROM t").remove(0).into_iter().map(Option::unwrap).collect();
    let expected = [
        "1",
        "t",
        "-2",
        "9223372036854775807",
        "0.1",
        "12.50",
        "é'\\",
        "\\x0001ff",
        "2024-02-29",
        "12:15:00",
        "2024-02-29 12:15:00.25",
        "2024-02-29 12:15:00.25+00",
    ];
    assert_eq!(text, expected);
}

#[test]
fn nulls_are_nulls() {
    let running = start();
    let pg = Pg::connect(&running);
    pg.run(TYPES);
    let insert = "INSERT INTO t (id, b, l, n, t, ts) VALUES ($1, $2, $3, $4, $5, $6)";
    let insert = pg.wait(pg.client.prepare(insert)).unwrap();
    let none: (Option<bool>, Option<i64>, Option<Binary>, Option<&str>) = (None, None, None, None);
    let parameters: [&(dyn ToSql + Sync); 6] = [&1_i32, &none.0, &none.1, &none.2, &none.3, &none.2];
    assert_eq!(pg.wait(pg.client.execute(&insert, &parameters)).unwrap(), 1);
    let row = pg.wait(pg.client.query_one("SELECT b, l, n, t, ts, d FROM t", &[])).unwrap();
    assert_eq!(row.get::<_, Option<bool>>(0), None);
    assert_eq!(row.get::<_, Option<i64>>(1), None);
    assert_eq!(row.get::<_, Option<&str>>(3), None);
    assert!([2, 4, 5].iter().all(|&column: &usize| row.get::<_, Option<Binary>>(column).is_none()));
    assert_eq!(pg.rows("SELECT b, t FROM t"), [[None, None]]);
}

#[test]
fn errors_have_codes_and_leave_the_connection_alive() {
    let running = start();
    let pg = Pg::connect(&running);
    pg.run("CREATE TABLE t (id integer PRIMARY KEY, v text NOT NULL); INSERT INTO t VALUES (1, 'a')");
    assert_eq!(pg.fails("SELEC 1"), "42601");
    assert_eq!(pg.fails("SELECT * FROM nowhere"), "42P01");
    assert_eq!(pg.fails("SELECT nothing FROM t"), "42703");
    assert_eq!(pg.fails("INSERT INTO t VALUES (1, 'b')"), "23505");
    assert_eq!(pg.fails("INSERT INTO t VALUES (2, NULL)"), "23502");
    let prepared = pg.wait(pg.client.prepare("SELECT * FROM nowhere"));
    assert_eq!(prepared.unwrap_err().code().unwrap().code(), "42P01");
    let copied = pg.fails("COPY t FROM STDIN");
    assert_eq!(copied, "0A000");
    assert_eq!(pg.rows("SELECT v FROM t"), [[Some("a".into())]]);
}

#[test]
fn transactions_are_told_by_status() {
    let running = start();
    let mut raw = Raw::start(running.postgres());
    raw.query("CREATE TABLE t (id integer PRIMARY KEY)");
    let mut status = |sql: &str| {
        let messages = raw.query(sql);
        (kinds(&messages), char::from(messages.last().unwrap().1[0]))
    };
    assert_eq!(status("BEGIN"), ("CZ".into(), 'T'));
    assert_eq!(status("INSERT INTO t VALUES (1)"), ("CZ".into(), 'T'));
    assert_eq!(status("SELECT * FROM nowhere"), ("EZ".into(), 'E'));
    assert_eq!(status("SELECT 1"), ("EZ".into(), 'E'));
    assert_eq!(status("ROLLBACK"), ("CZ".into(), 'I'));
    assert_eq!(status("SELECT * FROM t"), ("TCZ".into(), 'I'));
    assert_eq!(status(""), ("IZ".into(), 'I'));
    assert_eq!(status("SELECT 1; SELECT * FROM nowhere; SELECT 3"), ("TDCEZ".into(), 'I'));
}

#[test]
fn command_tags() {
    let running = start();
    let mut raw = Raw::start(running.postgres());
    for (sql, tag) in [
        ("CREATE TABLE t (id integer PRIMARY KEY, v integer)", "CREATE TABLE"),
        ("INSERT INTO t VALUES (1, 1), (2, 2)", "INSERT 0 2"),
        ("UPDATE t SET v = 3", "UPDATE 2"),
        ("SELECT * FROM t", "SELECT 2"),
        ("DELETE FROM t WHERE id = 1", "DELETE 1"),
        ("BEGIN", "BEGIN"),
        ("COMMIT", "COMMIT"),
        ("BEGIN", "BEGIN"),
        ("ROLLBACK", "ROLLBACK"),
        ("DROP TABLE t", "DROP TABLE"),
    ] {
        let messages = raw.query(sql);
        let complete =
            messages.iter().find(|message| message.0 == 'C').unwrap_or_else(|| panic!("{sql}: {messages:?}"));
        assert_eq!(String::from_utf8_lossy(&complete.1).trim_end_matches('\0'), tag);
    }
}

fn parse(name: &str, sql: &str) -> Vec<u8> {
    [name.as_bytes(), &[0], sql.as_bytes(), &[0, 0, 0]].concat()
}

fn bind(portal: &str, statement: &str, parameters: &[&str]) -> Vec<u8> {
    let mut body = [portal.as_bytes(), &[0], statement.as_bytes(), &[0, 0, 0]].concat();
    body.extend(u16::try_from(parameters.len()).unwrap().to_be_bytes());
    for parameter in parameters {
        body.extend(u32::try_from(parameter.len()).unwrap().to_be_bytes());
        body.extend(parameter.as_bytes());
    }
    body.extend([0, 0]);
    body
}

fn execute(portal: &str, most: u32) -> Vec<u8> {
    [portal.as_bytes(), &[0], &most.to_be_bytes()].concat()
}

/// Many requests are sent before the first answer is read.
#[test]
fn pipelines() {
    let running = start();
    let mut raw = Raw::start(running.postgres());
    raw.query("CREATE TABLE t (id integer PRIMARY KEY)");
    raw.send(b'P', &parse("add", "INSERT INTO t VALUES ($1)"));
    for number in 0..100 {
        raw.send(b'B', &bind("", "add", &[&number.to_string()]));
        raw.send(b'E', &execute("", 0));
    }
    raw.send(b'S', &[]);
    assert_eq!(kinds(&raw.until_ready()), format!("1{}Z", "2C".repeat(100)));
    // After an error all is skipped until the next sync.
    raw.send(b'B', &bind("", "add", &["1"]));
    raw.send(b'E', &execute("", 0));
    raw.send(b'B', &bind("", "add", &["200"]));
    raw.send(b'E', &execute("", 0));
    raw.send(b'S', &[]);
    raw.send(b'B', &bind("", "add", &["300"]));
    raw.send(b'E', &execute("", 0));
    raw.send(b'S', &[]);
    assert_eq!(kinds(&raw.until_ready()), "2EZ");
    assert_eq!(kinds(&raw.until_ready()), "2CZ");
    let rows = raw.query("SELECT id FROM t WHERE id > 99");
    assert_eq!(kinds(&rows), "TDCZ");
}

#[test]
fn portals_are_read_in_parts() {
    let running = start();
    let mut raw = Raw::start(running.postgres());
    raw.query("CREATE TABLE t (id integer PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3), (4), (5); BEGIN");
    raw.send(b'P', &parse("s", "SELECT id FROM t ORDER BY id"));
    raw.send(b'B', &bind("p", "s", &[]));
    raw.send(b'D', b"Pp\0");
    raw.send(b'E', &execute("p", 2));
    raw.send(b'S', &[]);
    assert_eq!(kinds(&raw.until_ready()), "12TDDsZ");
    raw.send(b'E', &execute("p", 2));
    raw.send(b'E', &execute("p", 2));
    raw.send(b'C', b"Pp\0");
    raw.send(b'E', &execute("p", 2));
    raw.send(b'S', &[]);
    assert_eq!(kinds(&raw.until_ready()), "DDsDC3EZ");
    // In a flush answers come before the sync.
    raw.query("ROLLBACK");
    raw.send(b'D', b"Ss\0");
    raw.send(b'H', &[]);
    assert_eq!([raw.receive().unwrap().0, raw.receive().unwrap().0], ['t', 'T']);
    raw.send(b'S', &[]);
    assert_eq!(kinds(&raw.until_ready()), "Z");
}

#[test]
fn statements_are_prepared_once_and_closed() {
    let running = start();
    let mut raw = Raw::start(running.postgres());
    let codes = |raw: &mut Raw| {
        raw.send(b'S', &[]);
        let error = raw.until_ready().into_iter().find(|message| message.0 == 'E').expect("it is an error");
        let text = String::from_utf8_lossy(&error.1).into_owned();
        text.split('\0').find_map(|field| field.strip_prefix('C')).unwrap().to_owned()
    };
    raw.send(b'P', &parse("s", "SELECT 1"));
    raw.send(b'P', &parse("s", "SELECT 1"));
    assert_eq!(codes(&mut raw), "42P05");
    raw.send(b'C', b"Ss\0");
    raw.send(b'B', &bind("", "s", &[]));
    assert_eq!(codes(&mut raw), "26000");
    raw.send(b'E', &execute("none", 0));
    assert_eq!(codes(&mut raw), "34000");
    raw.send(b'P', &parse("", "SELECT $1"));
    raw.send(b'B', &bind("", "", &[]));
    assert_eq!(codes(&mut raw), "08P01");
    raw.send(b'D', b"Xs\0");
    assert_eq!(codes(&mut raw), "08P01");
    raw.send(b'?', b"");
    assert_eq!(codes(&mut raw), "08P01");
}

#[test]
fn passwords() {
    let running = start_with(newest(), Limits::default(), Some("sésame open"));
    let url = |password: &str| format!("postgres://tester{password}@{}/db", running.postgres());
    let right = Pg::try_connect(&url(":s%C3%A9same%20open")).expect("it is the password");
    assert_eq!(right.rows("SELECT 1"), [[Some("1".into())]]);
    let wrong = Pg::try_connect(&url(":sesame")).err().expect("it is not the password");
    assert_eq!(wrong.code().unwrap().code(), "28P01");
    assert!(Pg::try_connect(&url("")).is_err());
}

#[test]
fn clients_are_told_what_they_want_to_know() {
    let running = start();
    let url = format!(
        "host=127.0.0.1 port={} user=tester options='-c default_transaction_isolation=serializable'",
        running.postgres().port()
    );
    let pg = Pg::try_connect(&url).unwrap();
    let level = pg.rows("SHOW transaction_isolation");
    assert_eq!(level, [[Some("serializable".into())]]);
    let version = pg.rows("SHOW server_version").remove(0).remove(0).unwrap();
    assert!(version.starts_with("16."), "{version}");
}

#[test]
fn requests_to_cancel_do_no_harm() {
    let running = start();
    let pg = Pg::connect(&running);
    let token = pg.client.cancel_token();
    pg.wait(token.cancel_query(tokio_postgres::NoTls)).unwrap();
    assert_eq!(pg.rows("SELECT 1"), [[Some("1".into())]]);
}
