//! Nothing that is sent makes the engine panic.

use isonomy_sql::{Connection, Dialect, Options};

use crate::support::{ask, engine, run};

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) % bound as u64) as usize
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "t",
    "u",
    "a",
    "b",
    "c",
    "id",
    "*",
    "(",
    ")",
    ",",
    "=",
    "<",
    ">",
    "+",
    "-",
    "/",
    "%",
    "||",
    "AND",
    "OR",
    "NOT",
    "NULL",
    "IS",
    "IN",
    "BETWEEN",
    "LIKE",
    "EXISTS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT JOIN",
    "ON",
    "USING",
    "NATURAL JOIN",
    "UNION",
    "EXCEPT",
    "ALL",
    "DISTINCT",
    "AS",
    "x",
    "count(*)",
    "sum(a)",
    "max(b)",
    "avg(c)",
    "lower(b)",
    "substring(b, 2)",
    "coalesce",
    "1",
    "0",
    "-1",
    "2.5",
    "9223372036854775807",
    "1e400",
    "'a'",
    "'%'",
    "''",
    "'2024-01-01'",
    "$1",
    "?",
    "INSERT INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE FROM",
    "RETURNING",
    "DEFAULT",
    "CREATE TABLE",
    "DROP TABLE",
    "ALTER TABLE",
    "ADD COLUMN",
    "PRIMARY KEY",
    "INT",
    "TEXT",
    "NUMERIC(5,2)",
    "::int",
    "::date",
    "CAST",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "ON CONFLICT",
    "DO NOTHING",
    "DO UPDATE",
    "excluded.a",
    "WITH",
    "INTERVAL '1 day'",
    "now()",
    "DATE",
    "@@version",
    "SHOW",
    "TABLES",
    "t.a",
    "t.*",
    "ANY",
    "ARRAY[1]",
    ";",
    "\u{1F600}",
    "\"quoted\"",
    "`back`",
    "EXPLAIN",
    "PREPARE p AS",
    "EXECUTE p",
    "TRUNCATE",
    "CREATE INDEX i",
    "LATERAL",
    "VALUES (1)",
    "generate_series(1, 3)",
    "repeat('a', 99999999)",
    "lpad('', 99999999)",
];

fn statement(random: &mut Random) -> String {
    let starts = [
        "SELECT",
        "SELECT a FROM t",
        "INSERT INTO t",
        "UPDATE t SET",
        "DELETE FROM t WHERE",
        "SELECT * FROM t JOIN u ON",
        "",
    ];
    let mut text = starts[random.below(starts.len())].to_owned();
    for _ in 0..random.below(14) {
        text.push(' ');
        text.push_str(random.pick(WORDS));
    }
    text
}

fn client(dialect: Dialect) -> Connection {
    let mut client = engine(Options::default()).connect(dialect);
    run(
        &mut client,
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT, c NUMERIC(6,2)); CREATE TABLE u (id INT PRIMARY KEY, a INT);
         INSERT INTO t VALUES (1, 1, 'a', 1.5), (2, NULL, NULL, NULL); INSERT INTO u VALUES (1, 2)",
    );
    client
}

#[test]
fn soup_is_answered() {
    for dialect in [Dialect::PostgreSql, Dialect::MySql] {
        let mut random = Random(1);
        let mut client = client(dialect);
        let mut good = 0;
        for round in 0..4000 {
            if round % 200 == 0 {
                client = self::client(dialect);
            }
            let sql = statement(&mut random);
            let (_, error) = client.execute(&sql);
            good += usize::from(error.is_none());
            if let Ok(prepared) = client.prepare(&sql, &[]) {
                let _ = client.run(&prepared, &[]);
            }
        }
        assert!(good > 50, "soup that is never eaten tells nothing: {good}");
    }
}

#[test]
fn bytes_are_answered() {
    let mut random = Random(2);
    let mut client = client(Dialect::PostgreSql);
    let letters: Vec<char> = "SELECT'\"`$?;()[]{},.*-+/\\%:=<>!@#^&|~ \n\0aé💥0129eE_".chars().collect();
    for _ in 0..5000 {
        let text: String = (0..random.below(30)).map(|_| letters[random.below(letters.len())]).collect();
        let _ = client.execute(&text);
    }
}

#[test]
fn depth_and_length_are_no_danger() {
    let mut client = client(Dialect::PostgreSql);
    let long = format!("SELECT length('{}')", "x".repeat(1 << 20));
    assert_eq!(ask(&mut client, &long), (1 << 20).to_string());
    let text = "x".repeat(450);
    let rows: Vec<String> = (10..2_510).map(|id| format!("({id}, {id}, '{text}', 1.5)")).collect();
    let insert = format!("INSERT INTO t VALUES {}", rows.join(", "));
    assert!(insert.len() > 1 << 20);
    assert_eq!(ask(&mut client, &insert), "2500");
    assert_eq!(ask(&mut client, "SELECT count(*), sum(a) FROM t"), "2502 3148751");
    let ids: Vec<String> = (0..5000).map(|id| id.to_string()).collect();
    assert_eq!(ask(&mut client, &format!("SELECT count(*) FROM t WHERE id IN ({})", ids.join(", "))), "2502");
    let any = " OR a = 2".repeat(1400);
    assert_eq!(ask(&mut client, &format!("SELECT count(*) FROM t WHERE a = 1{any}")), "1");
    for (sql, code) in [
        (format!("SELECT 1{}", " + 1".repeat(1000)), "54001"),
        (format!("SELECT {}1{}", "(".repeat(3000), ")".repeat(3000)), "54001"),
        (format!("SELECT 1{}", " UNION SELECT 1".repeat(500)), "1"),
        (format!("SELECT {}1{}", "abs(".repeat(35), ")".repeat(35)), "1"),
        (format!("SELECT 1{}", "::int".repeat(1000)), "54001"),
        (format!("SELECT 1 FROM t{}", " JOIN u ON TRUE".repeat(200)), "42712"),
    ] {
        assert_eq!(ask(&mut client, &sql), code, "{}", &sql[..60]);
    }
}
