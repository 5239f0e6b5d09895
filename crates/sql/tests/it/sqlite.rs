//! The same questions to SQLite: the same answers.
//!
//! Queries are made from a seed over small tables with many `NULL`s. They keep to what both understand alike: integers and texts, no
//! division, explicit places for `NULL` in orders.

use isonomy_sql::{Connection, Datum};
use rusqlite::types::Value;

use crate::soup::Random;
use crate::support::{postgres, run};

const TABLES: &str = "
    CREATE TABLE r (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, s TEXT);
    CREATE TABLE q (x INTEGER, y INTEGER, a INTEGER, s TEXT, PRIMARY KEY (x, y));
    CREATE TABLE e (a INTEGER, b INTEGER);
";

struct Maker {
    random: Random,
}

impl Maker {
    fn number(&mut self, columns: &[&str], depth: usize) -> String {
        match self.random.below(if depth == 0 { 5 } else { 9 }) {
            0..=2 => self.random.pick(columns).to_owned(),
            3 => self.random.below(5).to_string(),
            4 => "NULL".to_owned(),
            5 => format!("({} + {})", self.number(columns, depth - 1), self.number(columns, depth - 1)),
            6 => format!("(- {})", self.number(columns, depth - 1)),
            7 => format!("COALESCE({}, {})", self.number(columns, depth - 1), self.number(columns, depth - 1)),
            _ => format!(
                "CASE WHEN {} THEN {} ELSE {} END",
                self.condition(columns, depth - 1),
                self.number(columns, depth - 1),
                self.number(columns, depth - 1)
            ),
        }
    }

    fn condition(&mut self, columns: &[&str], depth: usize) -> String {
        let op = self.random.pick(&["=", "<>", "<", "<=", ">", ">="]);
        match self.random.below(if depth == 0 { 4 } else { 11 }) {
            0 | 1 => format!("{} {op} {}", self.number(columns, 0), self.number(columns, 0)),
            2 => format!("{} IS {}NULL", self.number(columns, 0), self.random.pick(&["", "NOT "])),
            3 => format!(
                "{} BETWEEN {} AND {}",
                self.number(columns, 0),
                self.number(columns, 0),
                self.number(columns, 0)
            ),
            4 => format!("({} AND {})", self.condition(columns, depth - 1), self.condition(columns, depth - 1)),
            5 => format!("({} OR {})", self.condition(columns, depth - 1), self.condition(columns, depth - 1)),
            6 => format!("NOT ({})", self.condition(columns, depth - 1)),
            7 => format!(
                "{} {}IN (1, 2, {})",
                self.number(columns, 0),
                self.random.pick(&["", "NOT "]),
                self.number(columns, 0)
            ),
            8 => format!(
                "{} {}IN (SELECT a FROM e WHERE {})",
                self.number(columns, 0),
                self.random.pick(&["", "NOT "]),
                self.condition(&["e.a", "e.b"], 0)
            ),
            9 => format!(
                "EXISTS (SELECT 1 FROM q q9 WHERE q9.x = {} AND {})",
                self.random.pick(columns),
                self.condition(&["q9.y", "q9.a"], 0)
            ),
            _ => format!(
                "{} {op} (SELECT max(q8.a) FROM q q8 WHERE q8.x = {})",
                self.number(columns, 0),
                self.random.pick(columns)
            ),
        }
    }

    fn from(&mut self) -> (String, Vec<&'static str>) {
        let r = vec!["r.id", "r.a", "r.b"];
        let q = vec!["q.x", "q.y", "q.a"];
        let both: Vec<&str> = r.iter().chain(&q).copied().collect();
        let on =
            ["r.a = q.x", "r.id = q.x", "r.id = q.x AND r.a = q.y", "r.a = q.a", "r.b < q.y", "q.x = r.id AND q.y = 1"];
        let on = on[self.random.below(on.len())];
        match self.random.below(9) {
            0 | 1 => ("r".into(), r),
            2 => ("q".into(), q),
            3 => (format!("r JOIN q ON {on}"), both),
            4 => (format!("r LEFT JOIN q ON {on}"), both),
            5 => (format!("r RIGHT JOIN q ON {on}"), both),
            6 => (format!("r FULL JOIN q ON {on}"), both),
            7 => ("r, q".into(), both),
            _ => {
                let mut columns = both;
                columns.extend(["e.a", "e.b"]);
                (format!("r JOIN q ON {on} LEFT JOIN e ON e.a = q.a"), columns)
            }
        }
    }

    fn query(&mut self) -> String {
        let (from, columns) = self.from();
        let condition = self.condition(&columns, 2);
        match self.random.below(8) {
            0 | 1 => {
                let key = self.random.pick(&columns);
                let extra = match self.random.below(3) {
                    0 => String::new(),
                    1 => format!(" HAVING count(*) > {}", self.random.below(3)),
                    _ => format!(" HAVING {}", self.condition(&[key, "min(r_or_q)"], 0).replace("r_or_q", columns[1])),
                };
                let of = self.random.pick(&columns);
                format!(
                    "SELECT {key}, count(*), count({of}), count(DISTINCT {of}), sum({of}), min({of}), max({of}) FROM {from} WHERE \
                     {condition} GROUP BY {key}{extra}"
                )
            }
            2 => {
                let of = self.random.pick(&columns);
                format!("SELECT count(*), sum({of}), max({of}) FROM {from} WHERE {condition}")
            }
            3 => format!(
                "SELECT DISTINCT {}, {} FROM {from} WHERE {condition}",
                self.number(&columns, 1),
                self.random.pick(&columns)
            ),
            4 => {
                let op = self.random.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
                format!(
                    "SELECT {} FROM {from} WHERE {condition} {op} SELECT {} FROM e WHERE {}",
                    self.random.pick(&columns),
                    self.number(&["e.a", "e.b"], 1),
                    self.condition(&["e.a", "e.b"], 1)
                )
            }
            5 => format!(
                "SELECT d.m, d.n FROM (SELECT {} AS m, count(*) AS n FROM {from} WHERE {condition} GROUP BY 1) d WHERE {}",
                self.number(&columns, 1),
                self.condition(&["d.m", "d.n"], 1)
            ),
            _ => {
                let all: Vec<String> = (0..=self.random.below(3)).map(|_| self.number(&columns, 2)).collect();
                format!("SELECT {} FROM {from} WHERE {condition}", all.join(", "))
            }
        }
    }
}

fn ours(client: &mut Connection, sql: &str) -> Result<Vec<Vec<String>>, String> {
    let (answers, error) = client.execute(sql);
    match (error, answers.into_iter().next()) {
        (Some(error), _) => Err(format!("{} {}", error.code, error.message)),
        (None, Some(isonomy_sql::Answer::Rows { rows, .. })) => {
            Ok(rows.iter().map(|row| row.iter().map(Datum::to_string).collect()).collect())
        }
        (None, _) => Ok(vec![]),
    }
}

fn theirs(sqlite: &rusqlite::Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = sqlite.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let width = statement.column_count();
    let text = |value: Value| match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Real(value) => value.to_string(),
        Value::Text(value) => value,
        Value::Blob(_) => "blob".to_owned(),
    };
    let rows = statement.query_map([], |row| (0..width).map(|column| row.get(column).map(text)).collect());
    rows.and_then(Iterator::collect).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn filled(seed: u64) -> (Connection, rusqlite::Connection) {
    let mut random = Random(seed);
    let mut client = postgres();
    let sqlite = rusqlite::Connection::open_in_memory().unwrap();
    let mut setup = TABLES.to_owned();
    let value =
        |random: &mut Random| if random.below(4) == 0 { "NULL".to_owned() } else { random.below(4).to_string() };
    for id in 0..6 {
        let (a, b) = (value(&mut random), value(&mut random));
        setup += &format!("INSERT INTO r VALUES ({id}, {a}, {b}, 't{}');", random.below(3));
    }
    for x in 0..4 {
        for y in 0..random.below(3) {
            setup += &format!("INSERT INTO q VALUES ({x}, {y}, {}, NULL);", value(&mut random));
        }
    }
    for _ in 0..5 {
        let (a, b) = (value(&mut random), value(&mut random));
        setup += &format!("INSERT INTO e VALUES ({a}, {b});");
    }
    run(&mut client, &setup);
    sqlite.execute_batch(&setup).unwrap();
    (client, sqlite)
}

#[test]
fn queries_answer_as_sqlite_does() {
    let mut compared = 0;
    for seed in 0..30 {
        let (mut client, sqlite) = filled(seed);
        let mut maker = Maker { random: Random(seed ^ 0xabcd) };
        for _ in 0..100 {
            let sql = maker.query();
            let mut expected = theirs(&sqlite, &sql);
            let mut found = match ours(&mut client, &sql) {
                Ok(found) => found,
                // A NULL of no type becomes a text in PostgreSQL, and texts are not compared with numbers.
                Err(error) if error.starts_with("42883") => continue,
                Err(error) => panic!("{sql}\n{error}"),
            };
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{sql}");
            compared += 1;
        }
    }
    assert!(compared > 2900, "{compared} of 3000 were compared");
}

#[test]
fn orders_are_those_of_sqlite() {
    for seed in 0..20 {
        let (mut client, sqlite) = filled(seed);
        let mut maker = Maker { random: Random(seed) };
        for _ in 0..40 {
            let columns = ["r.a", "r.b", "r.s"];
            let mut keys = Vec::new();
            for _ in 0..=maker.random.below(2) {
                let way = maker.random.pick(&["ASC", "DESC"]);
                let nulls = maker.random.pick(&["FIRST", "LAST"]);
                keys.push(format!("{} {way} NULLS {nulls}", maker.random.pick(&columns)));
            }
            let condition = maker.condition(&["r.a", "r.b", "r.id"], 1);
            let limit = maker.random.below(4);
            let sql = format!(
                "SELECT id, a, s FROM r WHERE {condition} ORDER BY {}, id LIMIT {limit} OFFSET {}",
                keys.join(", "),
                limit / 2
            );
            assert_eq!(ours(&mut client, &sql), Ok(theirs(&sqlite, &sql)), "{sql}");
        }
    }
}

#[test]
fn changes_leave_what_sqlite_leaves() {
    for seed in 0..20 {
        let (mut client, sqlite) = filled(seed);
        let mut maker = Maker { random: Random(seed + 100) };
        for _ in 0..20 {
            let sql = match maker.random.below(4) {
                0 => format!(
                    "UPDATE r SET a = {} WHERE {}",
                    maker.number(&["r.a", "r.b"], 2),
                    maker.condition(&["r.a", "r.id"], 2)
                ),
                1 => format!("DELETE FROM r WHERE {} AND id > 3", maker.condition(&["r.a", "r.id", "r.b"], 1)),
                2 => format!(
                    "INSERT INTO r VALUES ({}, 1, {}, 'new') ON CONFLICT (id) DO UPDATE SET a = excluded.b + r.a, s = 'old'",
                    maker.random.below(12),
                    maker.random.below(5)
                ),
                _ => {
                    format!("INSERT INTO e SELECT a, b FROM r WHERE {} AND id < 2", maker.condition(&["r.a", "r.b"], 1))
                }
            };
            let changed = sqlite.execute(&sql, []).unwrap();
            assert_eq!(crate::support::ask(&mut client, &sql), changed.to_string(), "{sql}");
            for check in ["SELECT * FROM r", "SELECT * FROM e"] {
                let (mut found, mut expected) = (ours(&mut client, check).unwrap(), theirs(&sqlite, check));
                found.sort();
                expected.sort();
                assert_eq!(found, expected, "{sql}");
            }
        }
    }
}
