//! What clients send when they connect, and what our own driver sends.

use crate::support::{check, mysql, postgres, run};

#[test]
fn postgresql_clients_are_content() {
    let mut client = postgres();
    run(&mut client, "CREATE TABLE accounts (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL)");
    check(
        &mut client,
        &[
            ("SHOW server_version", "16.0"),
            ("SHOW standard_conforming_strings", "on"),
            ("select current_schema()", "public"),
            ("SELECT current_database(), current_user", "isonomy isonomy"),
            ("SET client_encoding TO 'UTF8'", "SET"),
            ("SET DateStyle = ISO, MDY; SHOW datestyle", "ISO, MDY"),
            ("SET my.setting = 'x'; SHOW my.setting", "x"),
            ("SELECT current_setting('my.setting')", "x"),
            ("SET TIME ZONE 'UTC'", "SET"),
            ("SHOW no_such_thing", "42704"),
            // SQLAlchemy.
            ("select pg_catalog.version() LIKE 'PostgreSQL 16%'", "true"),
            ("SELECT CAST('test plain returns' AS VARCHAR(60)) AS anon_1", "test plain returns"),
            ("show transaction isolation level", "causal"),
            (
                "SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON \
                 pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = 'accounts' \
                 AND pg_catalog.pg_class.relkind = ANY (ARRAY['r', 'p', 'f', 'v', 'm']) AND \
                 pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'",
                "accounts",
            ),
            (
                "select relname from pg_class c join pg_namespace n on n.oid=c.relnamespace where \
                 pg_catalog.pg_table_is_visible(c.oid) and relname='nothing'",
                "",
            ),
            ("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'", "accounts"),
            (
                "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'accounts' \
                 ORDER BY ordinal_position",
                "id integer NO / name text NO",
            ),
            (
                "SELECT a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c ON a.attrelid = c.oid \
                 WHERE c.relname = 'accounts' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
                "id integer / name text",
            ),
            ("SELECT t.typname FROM pg_catalog.pg_type t WHERE t.oid = 23", "int4"),
            ("DISCARD ALL", "DISCARD ALL"),
            ("", ""),
            ("CREATE SCHEMA IF NOT EXISTS app", "CREATE SCHEMA"),
            ("SELECT id FROM public.accounts", ""),
        ],
    );
}

#[test]
fn mysql_clients_are_content() {
    let mut client = mysql();
    run(
        &mut client,
        "CREATE TABLE accounts (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL UNIQUE) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
    );
    check(
        &mut client,
        &[
            ("SELECT @@version_comment LIMIT 1", "Isonomy"),
            ("SELECT @@max_allowed_packet", "67108864"),
            ("SELECT @@session.autocommit, @@transaction_isolation", "1 CAUSAL"),
            ("SET NAMES utf8mb4", "SET"),
            ("SHOW VARIABLES LIKE 'max_allowed%'", "max_allowed_packet 67108864"),
            (
                "SHOW VARIABLES WHERE Variable_name IN ('version', 'tx_isolation', 'transaction_isolation', 'wsrep_on')",
                "transaction_isolation CAUSAL / version 8.0.36",
            ),
            ("SHOW TABLES", "accounts"),
            ("SHOW FULL TABLES", "accounts BASE TABLE"),
            ("DESCRIBE accounts", "id int NO PRI NULL auto_increment / name text NO UNI NULL "),
            ("SHOW COLUMNS FROM accounts", "id int NO PRI NULL auto_increment / name text NO UNI NULL "),
            ("SELECT DATABASE()", "isonomy"),
            ("USE shop", "USE"),
            ("SELECT DATABASE()", "shop"),
            ("SHOW WARNINGS", ""),
            ("SHOW DATABASES", "information_schema / shop"),
            ("SELECT @@no_such_thing", "42704"),
            ("SET SESSION sql_mode = 'ANSI', @@session.time_zone = '+00:00'; SELECT @@sql_mode", "ANSI"),
            ("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", "accounts"),
            ("/*!40101 SET NAMES utf8 */", "SET"),
        ],
    );
}

/// What the driver of this project sends, for each way to write rows.
#[test]
fn the_driver_is_content() {
    let tables = |list: &str| {
        format!(
            "DROP TABLE IF EXISTS isonomy_run; DROP TABLE IF EXISTS isonomy_kv; DROP TABLE IF EXISTS isonomy_list;
             CREATE TABLE isonomy_kv (k BIGINT PRIMARY KEY, v BIGINT NOT NULL, dead BOOLEAN NOT NULL);
             CREATE TABLE isonomy_list (k BIGINT PRIMARY KEY, v {list} NOT NULL);
             CREATE TABLE isonomy_run (run BIGINT PRIMARY KEY); INSERT INTO isonomy_run (run) VALUES (17)"
        )
    };
    let mut client = postgres();
    run(&mut client, &tables("VARCHAR"));
    check(
        &mut client,
        &[
            ("SELECT run FROM isonomy_run", "17"),
            (
                "INSERT INTO isonomy_kv (k, v, dead) SELECT k, v, dead FROM isonomy_kv WHERE k < 0 AND k > 0 ON CONFLICT (k) DO \
                 UPDATE SET v = excluded.v",
                "0",
            ),
            ("BEGIN", "BEGIN"),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 5, false) ON CONFLICT (k) DO UPDATE SET v = excluded.v, dead = excluded.dead",
                "1",
            ),
            ("SELECT v FROM isonomy_kv WHERE k = 1", "5"),
            (
                "INSERT INTO isonomy_list (k, v) VALUES (1, '1') ON CONFLICT (k) DO UPDATE SET v = isonomy_list.v || ',' || excluded.v",
                "1",
            ),
            (
                "INSERT INTO isonomy_list (k, v) VALUES (1, '2') ON CONFLICT (k) DO UPDATE SET v = isonomy_list.v || ',' || excluded.v",
                "1",
            ),
            ("SELECT v FROM isonomy_list WHERE k = 1", "1,2"),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 6, FALSE) ON CONFLICT (k) DO UPDATE SET v = excluded.v, dead = FALSE WHERE isonomy_kv.dead",
                "0",
            ),
            ("UPDATE isonomy_kv SET v = 7, dead = FALSE WHERE k = 1 AND v = 5", "1"),
            ("UPDATE isonomy_kv SET v = 8, dead = FALSE WHERE k = 1 AND v = 5", "0"),
            ("INSERT INTO isonomy_kv (k, v, dead) VALUES (2, 9, FALSE) ON CONFLICT (k) DO NOTHING", "1"),
            ("SELECT k, v FROM isonomy_kv WHERE k BETWEEN 0 AND 9223372036854775807 ORDER BY k", "1 7 / 2 9"),
            ("COMMIT", "COMMIT"),
        ],
    );
    let mut client = mysql();
    run(&mut client, &tables("LONGTEXT"));
    check(
        &mut client,
        &[
            ("BEGIN", "BEGIN"),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 5, false) ON DUPLICATE KEY UPDATE v = VALUES(v), dead = VALUES(dead)",
                "1",
            ),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 6, true) ON DUPLICATE KEY UPDATE v = VALUES(v), dead = VALUES(dead)",
                "2",
            ),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 7, FALSE) ON DUPLICATE KEY UPDATE v = IF(dead, VALUES(v), v), dead = FALSE",
                "2",
            ),
            (
                "INSERT INTO isonomy_kv (k, v, dead) VALUES (1, 8, FALSE) ON DUPLICATE KEY UPDATE v = IF(dead, VALUES(v), v), dead = FALSE",
                "0",
            ),
            ("SELECT v FROM isonomy_kv WHERE k = 1", "7"),
            (
                "INSERT INTO isonomy_list (k, v) VALUES (1, '1') ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', VALUES(v))",
                "1",
            ),
            (
                "INSERT INTO isonomy_list (k, v) VALUES (1, '2') ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', VALUES(v))",
                "2",
            ),
            ("SELECT v FROM isonomy_list WHERE k = 1", "1,2"),
            ("INSERT IGNORE INTO isonomy_kv (k, v, dead) VALUES (1, 9, FALSE)", "0"),
            ("COMMIT", "COMMIT"),
        ],
    );
}
