//! What queries answer.

use crate::support::{check, mysql, postgres, run};

const TABLES: &str = "
    CREATE TABLE people (id INT PRIMARY KEY, name TEXT NOT NULL, age INT, city TEXT);
    INSERT INTO people VALUES (1, 'ada', 36, 'london'), (2, 'bob', NULL, 'paris'), (3, 'cyd', 20, 'paris'), (4, 'dan', 36, NULL);
    CREATE TABLE pets (owner INT, n INT, name TEXT, PRIMARY KEY (owner, n));
    INSERT INTO pets VALUES (1, 1, 'rex'), (1, 2, 'tom'), (3, 1, 'kit'), (9, 1, 'stray');
";

#[test]
fn expressions_have_values() {
    check(
        &mut postgres(),
        &[
            ("SELECT 1 + 2 * 3, 7 / 2, -7 % 3, 2 ^ 10", "7 3 -1 1024"),
            ("SELECT 1.5 + 1, 1.10 * 2, 10 / 4.0", "2.5 2.20 2.5000000000000000"),
            ("SELECT 1 / 0", "22012"),
            ("SELECT 2147483647 + 1", "22003"),
            ("SELECT 9223372036854775807 + 1", "22003"),
            ("SELECT -9223372036854775808", "-9223372036854775808"),
            ("SELECT 'a' || 'b' || 1, 'x' || NULL", "ab1 NULL"),
            ("SELECT NULL AND FALSE, NULL AND TRUE, NULL OR TRUE, NOT NULL", "false NULL true NULL"),
            ("SELECT 1 IN (1, NULL), 2 IN (1, NULL), 2 NOT IN (1, NULL), 2 NOT IN (1, 3)", "true NULL NULL true"),
            (
                "SELECT NULL = NULL, NULL IS NULL, 1 IS DISTINCT FROM NULL, NULL IS NOT DISTINCT FROM NULL",
                "NULL true true true",
            ),
            ("SELECT 2 BETWEEN 1 AND 3, 2 NOT BETWEEN 1 AND NULL, 5 BETWEEN 6 AND NULL", "true NULL false"),
            (
                "SELECT CASE WHEN 1 > 2 THEN 'a' WHEN NULL THEN 'b' ELSE 'c' END, CASE 2 WHEN 1 THEN 'x' WHEN 2 THEN 'y' END",
                "c y",
            ),
            ("SELECT COALESCE(NULL, 2, 1/0), NULLIF(1, 1), GREATEST(1, NULL, 3), LEAST(2, 1)", "2 NULL 3 1"),
            (
                "SELECT 'abc' LIKE 'a%', 'abc' LIKE '_b_', 'ABC' ILIKE 'a%', 'a%c' LIKE 'a!%c' ESCAPE '!'",
                "true true true true",
            ),
            (
                "SELECT '42'::int, CAST('1.50' AS NUMERIC(5,1)), 3.7::int, true::text, 'abcdef'::varchar(3)",
                "42 1.5 4 true abc",
            ),
            ("SELECT 'x'::int", "22P02"),
            ("SELECT (1, 2) = (1, 2), (1, 2) < (1, 3), (1, 2) IN ((3, 4), (1, 2))", "true true true"),
            ("SELECT TRUE IS TRUE, NULL::boolean IS UNKNOWN, FALSE IS NOT FALSE", "true true false"),
            (
                "SELECT lower('AbC'), upper('x'), length('äöü'), substring('hello' FROM 2 FOR 3), trim('  a '), replace('aXa', 'X', '-')",
                "abc X 3 ell a a-a",
            ),
            (
                "SELECT position('l' IN 'hello'), left('hello', 2), right('hello', 2), lpad('7', 3, '0'), concat('a', NULL, 1)",
                "3 he lo 007 a1",
            ),
            (
                "SELECT abs(-3), round(2.567, 2), floor(-1.5), ceil(1.2), mod(7, 3), power(2, 3), sign(-2.5)",
                "3 2.57 -2 2 1 8 -1",
            ),
            ("SELECT now(), current_date, current_timestamp = now()", "2024-02-29 12:30:45 2024-02-29 true"),
            (
                "SELECT extract(year FROM now()), date_part('month', DATE '2024-05-06'), date_trunc('hour', now())",
                "2024 5 2024-02-29 12:00:00",
            ),
            (
                "SELECT DATE '2024-01-31' + INTERVAL '1 month', DATE '2024-03-01' - DATE '2024-02-28', DATE '2024-02-28' + 2",
                "2024-02-29 00:00:00 2 2024-03-01",
            ),
            ("SELECT 1 WHERE FALSE", ""),
            ("SELECT 'a' = 1", "22P02"),
            ("SELECT nothing(1)", "42883"),
            ("SELECT x", "42703"),
            ("VALUES (1, 'a'), (2, 'b')", "1 a / 2 b"),
        ],
    );
}

#[test]
fn rows_are_chosen_sorted_and_cut() {
    let mut client = postgres();
    run(&mut client, TABLES);
    check(
        &mut client,
        &[
            ("SELECT * FROM people WHERE id = 2", "2 bob NULL paris"),
            ("SELECT name FROM people ORDER BY age, name", "cyd / ada / dan / bob"),
            ("SELECT name FROM people ORDER BY age DESC NULLS LAST, 1 DESC", "dan / ada / cyd / bob"),
            ("SELECT name n FROM people ORDER BY n DESC LIMIT 2", "dan / cyd"),
            ("SELECT id FROM people ORDER BY id LIMIT 2 OFFSET 1", "2 / 3"),
            ("SELECT id FROM people ORDER BY id OFFSET 1 FETCH FIRST 1 ROWS ONLY", "2"),
            ("SELECT id FROM people LIMIT 0", ""),
            ("SELECT DISTINCT age FROM people ORDER BY age", "20 / 36 / NULL"),
            (
                "SELECT DISTINCT ON (city) city, name FROM people ORDER BY city, name DESC",
                "london ada / paris cyd / NULL dan",
            ),
            ("SELECT id FROM people WHERE age > 30 OR city = 'paris' ORDER BY id", "1 / 2 / 3 / 4"),
            ("SELECT id FROM people WHERE NOT (age > 30)", "3"),
            ("SELECT id FROM people WHERE id IN (4, 2, 2, 77)", "2 / 4"),
            ("SELECT id FROM people WHERE id > 1 AND id <= 3", "2 / 3"),
            ("SELECT id FROM people WHERE id BETWEEN 2 AND 3", "2 / 3"),
            ("SELECT id FROM people WHERE id = 2.0", "2"),
            ("SELECT id FROM people WHERE id = 2.5", ""),
            ("SELECT p.name, people.x FROM people p", "42P01"),
            ("SELECT p.nothing FROM people p", "42703"),
            ("SELECT * FROM nobody", "42P01"),
            ("SELECT id FROM people ORDER BY 2", "42P10"),
        ],
    );
}

#[test]
fn groups() {
    let mut client = postgres();
    run(&mut client, TABLES);
    check(
        &mut client,
        &[
            (
                "SELECT count(*), count(age), count(DISTINCT age), sum(age), min(age), max(name) FROM people",
                "4 3 2 92 20 dan",
            ),
            ("SELECT avg(age) FROM people", "30.6666666666666667"),
            (
                "SELECT city, count(*) FROM people GROUP BY city ORDER BY count(*) DESC, city",
                "paris 2 / london 1 / NULL 1",
            ),
            ("SELECT city FROM people GROUP BY city HAVING count(*) > 1", "paris"),
            ("SELECT upper(city) u, sum(id) FROM people GROUP BY u ORDER BY 2", "LONDON 1 / NULL 4 / PARIS 5"),
            ("SELECT age % 2, count(*) + 1 FROM people GROUP BY age % 2 ORDER BY 1", "0 4 / NULL 2"),
            ("SELECT name, count(*) FROM people", "42803"),
            ("SELECT id, name, count(*) FROM people GROUP BY id ORDER BY id LIMIT 1", "1 ada 1"),
            ("SELECT sum(age) FROM people WHERE FALSE", "NULL"),
            ("SELECT count(*) FROM people WHERE id = 77", "0"),
            ("SELECT string_agg(name, '-') FROM people WHERE id < 3", "ada-bob"),
            ("SELECT bool_and(age > 10), bool_or(age > 30) FROM people", "true true"),
            ("SELECT count(*) FILTER (WHERE city = 'paris') FROM people", "2"),
            ("SELECT sum(count(*)) FROM people", "42803"),
            ("SELECT 1 FROM people WHERE count(*) > 1", "42803"),
        ],
    );
}

#[test]
fn joins() {
    let mut client = postgres();
    run(&mut client, TABLES);
    check(
        &mut client,
        &[
            (
                "SELECT p.name, q.name FROM people p JOIN pets q ON q.owner = p.id ORDER BY 1, 2",
                "ada rex / ada tom / cyd kit",
            ),
            (
                "SELECT p.name, q.name FROM people p LEFT JOIN pets q ON q.owner = p.id AND q.n = 1 ORDER BY 1",
                "ada rex / bob NULL / cyd kit / dan NULL",
            ),
            (
                "SELECT p.name, q.name FROM people p RIGHT JOIN pets q ON q.owner = p.id ORDER BY q.name",
                "cyd kit / ada rex / NULL stray / ada tom",
            ),
            (
                "SELECT p.name, q.name FROM people p FULL JOIN pets q ON q.owner = p.id ORDER BY p.name, q.name",
                "ada rex / ada tom / bob NULL / cyd kit / dan NULL / NULL stray",
            ),
            ("SELECT count(*) FROM people, pets", "16"),
            ("SELECT count(*) FROM people CROSS JOIN pets WHERE id = owner", "3"),
            ("SELECT a.id, b.id FROM people a JOIN people b ON a.age = b.age AND a.id < b.id", "1 4"),
            ("SELECT * FROM (VALUES (1, 'x')) a(id, v) JOIN (VALUES (1, 'y')) b(id, w) USING (id)", "1 x y"),
            ("SELECT * FROM (VALUES (1, 'x')) a(id, v) NATURAL JOIN (VALUES (1, 'y')) b(id, w)", "1 x y"),
            ("SELECT id FROM people p LEFT JOIN pets q ON p.id = q.owner WHERE q.owner IS NULL ORDER BY id", "2 / 4"),
            ("SELECT name FROM people, pets", "42702"),
            ("SELECT 1 FROM people, people", "42712"),
            (
                "SELECT p.id, x.c FROM people p, LATERAL (SELECT count(*) c FROM pets WHERE owner = p.id) x ORDER BY 1",
                "1 2 / 2 0 / 3 1 / 4 0",
            ),
        ],
    );
}

#[test]
fn subqueries_and_sets() {
    let mut client = postgres();
    run(&mut client, TABLES);
    check(
        &mut client,
        &[
            ("SELECT name FROM people WHERE id IN (SELECT owner FROM pets) ORDER BY 1", "ada / cyd"),
            ("SELECT name FROM people WHERE id NOT IN (SELECT owner FROM pets) ORDER BY 1", "bob / dan"),
            ("SELECT name FROM people p WHERE EXISTS (SELECT 1 FROM pets WHERE owner = p.id AND n = 2)", "ada"),
            (
                "SELECT name, (SELECT count(*) FROM pets WHERE owner = p.id) FROM people p ORDER BY 1",
                "ada 2 / bob 0 / cyd 1 / dan 0",
            ),
            ("SELECT name FROM people WHERE age = (SELECT max(age) FROM people) ORDER BY id", "ada / dan"),
            ("SELECT (SELECT id FROM people)", "21000"),
            (
                "SELECT name FROM people WHERE age >= ALL (SELECT age FROM people WHERE age IS NOT NULL) ORDER BY id",
                "ada / dan",
            ),
            ("SELECT name FROM people WHERE age < ANY (SELECT age FROM people)", "cyd"),
            ("SELECT x.city, x.n FROM (SELECT city, count(*) n FROM people GROUP BY city) x WHERE x.n > 1", "paris 2"),
            (
                "WITH old AS (SELECT * FROM people WHERE age > 30), n AS (SELECT count(*) c FROM old) SELECT name, c FROM old, n ORDER BY 1",
                "ada 2 / dan 2",
            ),
            ("SELECT 1 UNION SELECT 2 UNION SELECT 1 ORDER BY 1", "1 / 2"),
            ("SELECT 1 UNION ALL SELECT 1", "1 / 1"),
            ("SELECT owner FROM pets INTERSECT SELECT id FROM people ORDER BY owner", "1 / 3"),
            ("SELECT id FROM people EXCEPT SELECT owner FROM pets ORDER BY id", "2 / 4"),
            ("(SELECT id FROM people ORDER BY id LIMIT 1) UNION ALL (SELECT 9) ORDER BY 1 DESC", "9 / 1"),
            ("SELECT (owner, n) IN (SELECT 1, 2) FROM pets WHERE owner = 1 ORDER BY n", "false / true"),
            ("SELECT 1 UNION SELECT 1, 2", "42601"),
            ("SELECT g FROM generate_series(1, 3) g", "1 / 2 / 3"),
        ],
    );
}

#[test]
fn mysql_has_its_own_ways() {
    let mut client = mysql();
    run(&mut client, "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(10), ok BOOLEAN)");
    check(
        &mut client,
        &[
            ("INSERT INTO t (name, ok) VALUES ('a', TRUE), ('b', 0), (NULL, NULL)", "3"),
            ("SELECT LAST_INSERT_ID()", "1"),
            ("SELECT id FROM t WHERE ok", "1"),
            ("SELECT 1 / 2, 7 DIV 2, 1 / 0, '3' + 4, 2 = '2'", "0.5000 3 NULL 7 true"),
            ("SELECT IF(1 > 2, 'a', 'b'), IFNULL(NULL, 3), CONCAT('a', NULL), 'a' || 0", "b 3 NULL false"),
            ("SELECT `name` FROM `t` ORDER BY name", "NULL / a / b"),
            ("SELECT GROUP_CONCAT(name SEPARATOR '+') FROM t", "a+b"),
            ("SELECT name, COUNT(*) FROM t", "a 3"),
            ("SELECT ok, COUNT(*) c FROM t GROUP BY ok HAVING c > 0 AND ok", "true 1"),
            ("SELECT name FROM t WHERE id = '2'", "b"),
            ("SELECT 5 <=> NULL, NULL <=> NULL", "false true"),
            ("SELECT id FROM t LIMIT 1, 1", "2"),
            ("SELECT DATE_ADD('2024-01-31', INTERVAL 1 DAY)", "2024-02-01 00:00:00"),
            ("SELECT \"text\"", "text"),
        ],
    );
}

#[test]
fn regular_expressions_match() {
    check(
        &mut postgres(),
        &[
            (
                "SELECT 'pg_toast_7' !~ '^pg_toast', 'Alice' ~* '^a.*e$', 'Alice' ~ '^a', NULL ~ 'a'",
                "false true false NULL",
            ),
            ("SELECT 'a' OPERATOR(pg_catalog.~) '^(a)$'", "true"),
            ("SELECT 'a' ~ '('", "2201B"),
        ],
    );
    check(&mut mysql(), &[("SELECT 'stock' REGEXP '^s.*k$', 'stock' NOT RLIKE 'x'", "true true")]);
}
