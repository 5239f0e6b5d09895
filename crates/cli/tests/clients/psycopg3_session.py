"""psycopg 3: the extended protocol, binary values, nested transactions, pipelines. The URL is the only argument."""

import sys

import psycopg

with psycopg.connect(sys.argv[1], autocommit=True) as conn:
    conn.execute("CREATE TABLE words (id integer PRIMARY KEY, word text, weight double precision)")
    with conn.transaction():
        with conn.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO words VALUES (%s, %s, %s)", [(number, "w" * number, number / 4) for number in range(10)]
            )
    rows = conn.execute("SELECT id, word, weight FROM words WHERE id > %s ORDER BY id", (7,)).fetchall()
    assert rows == [(8, "w" * 8, 2.0), (9, "w" * 9, 2.25)], rows
    with conn.cursor(binary=True) as cursor:
        cursor.execute("SELECT id, word, weight FROM words WHERE id = %s", (3,))
        assert cursor.fetchone() == (3, "www", 0.75)
    # What an inner transaction did is taken back, and the outer one goes on.
    with conn.transaction():
        conn.execute("UPDATE words SET weight = 0 WHERE id = 1")
        try:
            with conn.transaction():
                conn.execute("DELETE FROM words")
                raise RuntimeError("take it back")
        except RuntimeError:
            pass
    assert conn.execute("SELECT count(*), min(weight) FROM words").fetchone() == (10, 0.0)
    try:
        conn.execute("SELECT * FROM nowhere")
        raise SystemExit("there is no such table")
    except psycopg.errors.UndefinedTable as error:
        assert error.sqlstate == "42P01"
    # Prepared on the server, for it is run often.
    for number in range(10):
        found = conn.execute("SELECT word FROM words WHERE id = %s", (number,), prepare=True).fetchone()
        assert found == ("w" * number,)
print("fine")
