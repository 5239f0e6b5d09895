"""psycopg 2: types, transactions, errors, several connections. The URL is the only argument."""

import datetime
import decimal
import sys

import psycopg2

url = sys.argv[1]
conn = psycopg2.connect(url)
with conn, conn.cursor() as cursor:
    cursor.execute(
        "CREATE TABLE things (id serial PRIMARY KEY, name text NOT NULL, price numeric, data bytea, made timestamp, ok boolean)"
    )
    cursor.execute(
        "INSERT INTO things (name, price, data, made, ok) VALUES (%s, %s, %s, %s, %s) RETURNING id",
        ("it's", decimal.Decimal("12.50"), b"\x00\xff", datetime.datetime(2024, 2, 29, 12, 15), None),
    )
    assert cursor.fetchone() == (1,)
with conn, conn.cursor() as cursor:
    cursor.execute("SELECT name, price, data, made, ok FROM things WHERE id = %s", (1,))
    name, price, data, made, ok = cursor.fetchone()
    assert (name, price, bytes(data)) == ("it's", decimal.Decimal("12.50"), b"\x00\xff")
    assert made == datetime.datetime(2024, 2, 29, 12, 15) and ok is None

# An error fails the transaction, and a rollback ends it.
cursor = conn.cursor()
try:
    cursor.execute("INSERT INTO things (id, name) VALUES (1, 'again')")
    raise SystemExit("a key was inserted twice")
except psycopg2.errors.UniqueViolation:
    pass
try:
    cursor.execute("SELECT 1")
    raise SystemExit("a failed transaction went on")
except psycopg2.errors.InFailedSqlTransaction:
    conn.rollback()

conn.set_session(isolation_level="SERIALIZABLE")
with conn, conn.cursor() as cursor:
    cursor.execute("UPDATE things SET name = 'new' WHERE id = 1")
    assert cursor.rowcount == 1
other = psycopg2.connect(url)
other.autocommit = True
cursor = other.cursor()
cursor.execute("SELECT count(*) FROM things")
assert cursor.fetchone() == (1,)
other.close()
conn.close()
print("fine")
