//! What changes do.

use crate::support::{check, mysql, postgres, run};

#[test]
fn rows_are_inserted() {
    let mut client = postgres();
    run(
        &mut client,
        "CREATE TABLE t (id SERIAL PRIMARY KEY, a INT DEFAULT 5 CHECK (a > 0), b VARCHAR(3) NOT NULL, c NUMERIC(6,2) UNIQUE)",
    );
    check(
        &mut client,
        &[
            ("INSERT INTO t (b) VALUES ('x')", "1"),
            ("INSERT INTO t VALUES (DEFAULT, 7, 'y', 1.005) RETURNING id, a, c", "2 7 1.01"),
            ("INSERT INTO t (b, c) VALUES ('z', 1.01)", "23505"),
            ("INSERT INTO t (b, c) VALUES ('z', NULL), ('w', NULL)", "2"),
            ("INSERT INTO t (id, b) VALUES (1, 'q')", "23505"),
            ("INSERT INTO t (b) VALUES (NULL)", "23502"),
            ("INSERT INTO t (b) VALUES ('long')", "22001"),
            ("INSERT INTO t (a, b) VALUES (0, 'x')", "23514"),
            ("INSERT INTO t (a, b) VALUES (NULL, 'x')", "1"),
            ("INSERT INTO t (a, b) VALUES (1)", "42601"),
            ("INSERT INTO t (nothing) VALUES (1)", "42703"),
            ("INSERT INTO t (b, c) VALUES ('x', 99999)", "22003"),
            ("INSERT INTO t (a, b) VALUES ('12', 'x')", "1"),
            ("INSERT INTO t (a, b) VALUES ('1x', 'x')", "22P02"),
            ("INSERT INTO t (a, b) SELECT a + 100, b FROM t WHERE id = 2", "1"),
            ("SELECT count(*), max(a) FROM t", "7 107"),
            ("INSERT INTO t DEFAULT VALUES", "23502"),
        ],
    );
}

#[test]
fn conflicts_are_resolved() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (k INT PRIMARY KEY, v INT, u TEXT UNIQUE); INSERT INTO t VALUES (1, 10, 'a')");
    check(
        &mut client,
        &[
            ("INSERT INTO t VALUES (1, 20, 'b') ON CONFLICT DO NOTHING", "0"),
            ("INSERT INTO t VALUES (1, 20, 'b') ON CONFLICT (k) DO UPDATE SET v = excluded.v + t.v RETURNING v", "30"),
            ("INSERT INTO t VALUES (1, 0, 'b') ON CONFLICT (k) DO UPDATE SET v = 0 WHERE t.v > 100", "0"),
            ("INSERT INTO t VALUES (2, 0, 'a') ON CONFLICT (u) DO UPDATE SET v = 7", "1"),
            ("INSERT INTO t VALUES (2, 0, 'a') ON CONFLICT (k) DO NOTHING", "23505"),
            ("INSERT INTO t VALUES (3, 1, 'x'), (3, 2, 'y') ON CONFLICT (k) DO UPDATE SET v = excluded.v", "21000"),
            ("INSERT INTO t VALUES (3, 1, 'x') ON CONFLICT (v) DO NOTHING", "42P10"),
            ("SELECT * FROM t ORDER BY k", "1 7 a"),
        ],
    );
    let mut client = mysql();
    run(
        &mut client,
        "CREATE TABLE t (k INT PRIMARY KEY, v INT, u VARCHAR(9) UNIQUE); INSERT INTO t VALUES (1, 10, 'a')",
    );
    check(
        &mut client,
        &[
            ("INSERT INTO t VALUES (1, 20, 'b') ON DUPLICATE KEY UPDATE v = VALUES(v), k = k", "2"),
            ("INSERT INTO t VALUES (1, 20, 'b') ON DUPLICATE KEY UPDATE v = VALUES(v)", "0"),
            ("INSERT INTO t VALUES (2, 5, 'a') ON DUPLICATE KEY UPDATE v = v + 1", "2"),
            ("INSERT IGNORE INTO t VALUES (1, 0, 'z'), (2, 0, 'z')", "1"),
            ("REPLACE INTO t VALUES (1, 1, 'z')", "3"),
            ("SELECT * FROM t ORDER BY k", "1 1 z"),
            ("INSERT INTO t SET k = 5, v = 6", "1"),
        ],
    );
}

#[test]
fn rows_are_updated_and_deleted() {
    let mut client = postgres();
    run(
        &mut client,
        "CREATE TABLE t (k INT PRIMARY KEY, v INT CHECK (v < 100), u TEXT UNIQUE);
         INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL);
         CREATE TABLE f (k INT PRIMARY KEY, w INT); INSERT INTO f VALUES (1, 5), (3, 6)",
    );
    check(
        &mut client,
        &[
            ("UPDATE t SET v = v + 1 WHERE k = 1", "1"),
            ("UPDATE t SET v = v * 10 WHERE v > 20", "23514"),
            ("UPDATE t SET v = k, k = k + 10 WHERE k < 3 RETURNING k, v", "11 1 / 12 2"),
            ("UPDATE t SET k = k + 1", "3"),
            ("SELECT k, v, u FROM t ORDER BY k", "4 30 NULL / 12 1 a / 13 2 b"),
            ("UPDATE t SET k = 4 WHERE k = 12", "23505"),
            ("UPDATE t SET u = 'b' WHERE k = 12", "23505"),
            ("UPDATE t SET u = CASE u WHEN 'a' THEN 'b' ELSE 'a' END WHERE u IS NOT NULL", "2"),
            ("UPDATE t SET (v, u) = (9, 'c') WHERE k = 4", "1"),
            ("UPDATE t SET k = k - 10 WHERE k > 10", "2"),
            ("UPDATE t SET v = f.w FROM f WHERE f.k = t.k RETURNING t.k, v, w", "3 6 6"),
            ("UPDATE t SET v = (SELECT max(w) FROM f) WHERE k = 2", "1"),
            ("UPDATE t SET v = NULL, nothing = 1", "42703"),
            ("UPDATE t SET k = NULL", "23502"),
            ("DELETE FROM t WHERE k = 4 RETURNING *", "4 9 c"),
            ("DELETE FROM t USING f WHERE f.k = t.k", "1"),
            ("SELECT k, v, u FROM t", "2 6 b"),
            ("DELETE FROM t", "1"),
            ("INSERT INTO t VALUES (2, 1, 'b')", "1"),
            ("UPDATE t SET v = v WHERE FALSE", "0"),
        ],
    );
}

#[test]
fn a_statement_does_not_meet_its_own_work() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (k INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1), (2, 2)");
    check(
        &mut client,
        &[
            ("INSERT INTO t SELECT k + 2, v FROM t", "2"),
            ("UPDATE t SET k = k + 1", "4"),
            ("SELECT k FROM t", "2 / 3 / 4 / 5"),
            ("UPDATE t SET v = v + 1 WHERE v < 10", "4"),
            ("SELECT sum(v) FROM t", "10"),
        ],
    );
}

#[test]
fn changes_may_begin_with_names() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (k INT PRIMARY KEY, v INT); INSERT INTO t VALUES (1, 1), (2, 2)");
    check(
        &mut client,
        &[
            ("WITH s AS (SELECT k + 10 AS k, v FROM t) INSERT INTO t SELECT * FROM s", "2"),
            ("WITH m AS (SELECT max(v) AS v FROM t) UPDATE t SET v = m.v FROM m WHERE k < 10", "2"),
            ("WITH d AS (SELECT k FROM t WHERE k > 10) DELETE FROM t WHERE k IN (SELECT k FROM d)", "2"),
            ("SELECT * FROM t", "1 2 / 2 2"),
            ("WITH d AS (DELETE FROM t RETURNING k) SELECT * FROM d", "0A000"),
        ],
    );
}

#[test]
fn keys_are_strict_if_that_is_wanted() {
    let engine = crate::support::weird_engine(isonomy_sql::Options { strict_keys: true, ..Default::default() });
    let mut one = engine.connect(isonomy_sql::Dialect::PostgreSql);
    run(&mut one, "CREATE TABLE t (k INT PRIMARY KEY, u INT UNIQUE)");
    for k in 0..20 {
        let mut two = engine.connect(isonomy_sql::Dialect::PostgreSql);
        run(&mut one, &format!("INSERT INTO t VALUES ({k}, {k})"));
        check(
            &mut two,
            &[
                (&format!("INSERT INTO t VALUES ({k}, 100)"), "23505"),
                (&format!("INSERT INTO t VALUES (100, {k})"), "23505"),
                (&format!("INSERT INTO t VALUES ({k}, 100) ON CONFLICT DO NOTHING"), "0"),
            ],
        );
        // What a transaction removed itself is not in its way.
        run(&mut one, &format!("BEGIN; DELETE FROM t WHERE k = {k}; INSERT INTO t VALUES ({k}, {k}); COMMIT"));
    }
}

#[test]
fn tables_change() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE t (a INT PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x')");
    check(
        &mut client,
        &[
            ("CREATE TABLE t (a INT)", "42P07"),
            ("CREATE TABLE IF NOT EXISTS t (a INT)", "CREATE TABLE"),
            ("ALTER TABLE t ADD COLUMN c INT DEFAULT 7", "ALTER TABLE"),
            ("SELECT * FROM t", "1 x 7"),
            ("ALTER TABLE t DROP COLUMN c", "ALTER TABLE"),
            ("ALTER TABLE t ADD COLUMN c INT", "ALTER TABLE"),
            ("SELECT * FROM t", "1 x NULL"),
            ("ALTER TABLE t RENAME COLUMN b TO bb", "ALTER TABLE"),
            ("SELECT bb FROM t", "x"),
            ("ALTER TABLE t RENAME TO s", "ALTER TABLE"),
            ("SELECT a FROM s", "1"),
            ("TRUNCATE s", "TRUNCATE TABLE"),
            ("SELECT count(*) FROM s", "0"),
            ("INSERT INTO s VALUES (1, 'again')", "1"),
            ("DROP TABLE s", "DROP TABLE"),
            ("DROP TABLE s", "42P01"),
            ("DROP TABLE IF EXISTS s", "DROP TABLE"),
            ("CREATE TABLE s (a INT PRIMARY KEY)", "CREATE TABLE"),
            ("SELECT count(*) FROM s", "0"),
            ("INSERT INTO s VALUES (1)", "1"),
            ("CREATE TABLE n (v INT)", "CREATE TABLE"),
            ("INSERT INTO n VALUES (1), (1), (2)", "3"),
            ("CREATE UNIQUE INDEX n_v ON n (v)", "23505"),
            ("DELETE FROM n WHERE v = 2", "1"),
            ("CREATE INDEX ON n (v)", "CREATE INDEX"),
            ("CREATE SEQUENCE q INCREMENT BY 2 START 5", "CREATE SEQUENCE"),
            ("SELECT nextval('q'), nextval('q'), currval('q')", "5 7 7"),
            ("CREATE TABLE c AS SELECT v, v * 2 AS w FROM n", "2"),
            ("SELECT * FROM c", "1 2 / 1 2"),
            ("CREATE TABLE k (a INT, b INT[])", "0A000"),
            ("CREATE TABLE k (a INT, CHECK (nothing > 1))", "42703"),
        ],
    );
}
