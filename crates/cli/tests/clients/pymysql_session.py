"""PyMySQL: types, transactions, errors. Host and port are the arguments."""

import datetime
import decimal
import sys

import pymysql

place = {"host": sys.argv[1], "port": int(sys.argv[2]), "user": "isonomy", "database": "isonomy"}
conn = pymysql.connect(**place)
with conn.cursor() as cursor:
    cursor.execute(
        "CREATE TABLE things (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50), price DECIMAL(10, 2), made DATETIME)"
    )
    cursor.execute(
        "INSERT INTO things (name, price, made) VALUES (%s, %s, %s)",
        ("it's", decimal.Decimal("12.50"), datetime.datetime(2024, 2, 29, 12, 15)),
    )
    assert (cursor.rowcount, cursor.lastrowid) == (1, 1)
conn.commit()
with conn.cursor(pymysql.cursors.DictCursor) as cursor:
    cursor.execute("SELECT * FROM things")
    row = cursor.fetchone()
    assert row["name"] == "it's" and row["price"] == decimal.Decimal("12.50"), row
    assert row["made"] == datetime.datetime(2024, 2, 29, 12, 15), row
    cursor.execute("DELETE FROM things")
conn.rollback()
with conn.cursor() as cursor:
    cursor.execute("SELECT count(*) FROM things")
    assert cursor.fetchone() == (1,)
    try:
        cursor.execute("INSERT INTO things (id, name) VALUES (1, 'again')")
        raise SystemExit("a key was inserted twice")
    except pymysql.err.IntegrityError as error:
        assert error.args[0] == 1062
conn.commit()
conn.ping()
conn.close()
print("fine")
