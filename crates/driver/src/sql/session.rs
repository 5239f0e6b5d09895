//! A client of a SQL database.

use std::str::FromStr;

use super::{Connection, Upsert};
use crate::{Error, Key, Row, Session, Value};

/// A client, over a connection of any protocol.
pub(crate) struct SqlSession<C> {
    connection: C,
    upsert: Upsert,
    /// Whether a statement of this transaction failed. PostgreSQL answers the commit of such a transaction as if all were well.
    failed: bool,
}

impl<C: Connection> SqlSession<C> {
    pub(crate) fn new(connection: C, upsert: Upsert) -> Self {
        SqlSession { connection, upsert, failed: false }
    }

    fn run(&mut self, statement: &str) -> Result<super::Answer, Error> {
        let answer = self.connection.run(statement);
        self.failed |= answer.is_err();
        answer
    }

    /// Gives up, of our own accord.
    fn abort<T>(&mut self, why: String) -> Result<T, Error> {
        self.failed = true;
        Err(Error::Aborted(why))
    }

    /// Sets the row of a key.
    fn put(&mut self, key: Key, value: Value, dead: bool) -> Result<(), Error> {
        let insert = format!("INSERT INTO isonomy_kv (k, v, dead) VALUES ({key}, {value}, {dead})");
        let update = format!("UPDATE isonomy_kv SET v = {value}, dead = {dead} WHERE k = {key}");
        match self.upsert {
            Upsert::OnConflict => {
                self.run(&(insert + " ON CONFLICT (k) DO UPDATE SET v = excluded.v, dead = excluded.dead"))?;
            }
            Upsert::OnDuplicateKey => {
                self.run(&(insert + " ON DUPLICATE KEY UPDATE v = VALUES(v), dead = VALUES(dead)"))?;
            }
            Upsert::Apart => {
                if self.run(&update)?.changed == 0 {
                    self.run(&insert)?;
                }
            }
        }
        Ok(())
    }
}

impl<C: Connection> Session for SqlSession<C> {
    fn begin(&mut self) -> Result<(), Error> {
        self.failed = false;
        self.run("BEGIN").map(drop)
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        let answer = self.run(&format!("SELECT v FROM isonomy_kv WHERE k = {key}"))?;
        answer.single().map(number).transpose()
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        self.put(key, value, false)
    }

    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        let insert = format!("INSERT INTO isonomy_list (k, v) VALUES ({key}, '{element}')");
        match self.upsert {
            Upsert::OnConflict => {
                self.run(&(insert + " ON CONFLICT (k) DO UPDATE SET v = isonomy_list.v || ',' || excluded.v"))?;
            }
            Upsert::OnDuplicateKey => {
                self.run(&(insert + " ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', VALUES(v))"))?;
            }
            Upsert::Apart => {
                let update = format!("UPDATE isonomy_list SET v = v || ',{element}' WHERE k = {key}");
                if self.run(&update)?.changed == 0 {
                    self.run(&insert)?;
                }
            }
        }
        Ok(())
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        let answer = self.run(&format!("SELECT v FROM isonomy_list WHERE k = {key}"))?;
        answer.single().into_iter().flat_map(|text| text.split(',')).map(number).collect()
    }

    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        let insert = format!("INSERT INTO isonomy_kv (k, v, dead) VALUES ({key}, {value}, FALSE)");
        let done = match self.upsert {
            Upsert::OnConflict => self
                .run(&(insert + " ON CONFLICT (k) DO UPDATE SET v = excluded.v, dead = FALSE WHERE isonomy_kv.dead"))?,
            // Assignments are made from left to right. A row that stays as it was does not count as changed.
            Upsert::OnDuplicateKey => {
                self.run(&(insert + " ON DUPLICATE KEY UPDATE v = IF(dead, VALUES(v), v), dead = FALSE"))?
            }
            Upsert::Apart => {
                let revive = format!("UPDATE isonomy_kv SET v = {value}, dead = FALSE WHERE k = {key} AND dead");
                let revived = self.run(&revive)?;
                if revived.changed == 0 { self.run(&insert)? } else { revived }
            }
        };
        if done.changed == 0 {
            return self.abort(format!("key {key} is there already"));
        }
        Ok(())
    }

    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        self.put(key, tombstone, true)
    }

    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        // Columns are signed; no key is larger than this.
        let hi = hi.min(i64::MAX as u64);
        let answer = self.run(&format!("SELECT k, v FROM isonomy_kv WHERE k BETWEEN {lo} AND {hi} ORDER BY k"))?;
        let row = |columns: &Vec<String>| match columns.as_slice() {
            [key, value] => Ok((number(key)?, number(value)?)),
            other => Err(Error::Refused(format!("expected two columns, found {}", other.len()))),
        };
        answer.rows.iter().map(row).collect()
    }

    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        let statement = match (expected, self.upsert) {
            (Some(value), _) => {
                format!("UPDATE isonomy_kv SET v = {new}, dead = FALSE WHERE k = {key} AND v = {value}")
            }
            (None, Upsert::OnConflict) => {
                format!("INSERT INTO isonomy_kv (k, v, dead) VALUES ({key}, {new}, FALSE) ON CONFLICT (k) DO NOTHING")
            }
            (None, Upsert::OnDuplicateKey) => {
                format!("INSERT IGNORE INTO isonomy_kv (k, v, dead) VALUES ({key}, {new}, FALSE)")
            }
            (None, Upsert::Apart) => format!(
                "INSERT INTO isonomy_kv (k, v, dead) SELECT {key}, {new}, FALSE \
                 WHERE NOT EXISTS (SELECT 1 FROM isonomy_kv WHERE k = {key})"
            ),
        };
        Ok(self.run(&statement)?.changed > 0)
    }

    fn commit(&mut self) -> Result<(), Error> {
        if self.failed {
            self.rollback()?;
            return Err(Error::Aborted("a statement of the transaction had failed".into()));
        }
        self.connection.commit()
    }

    fn rollback(&mut self) -> Result<(), Error> {
        self.failed = false;
        self.run("ROLLBACK").map(drop)
    }
}

fn number<N: FromStr>(text: impl AsRef<str>) -> Result<N, Error> {
    let text = text.as_ref();
    text.parse().map_err(|_| Error::Refused(format!("expected a number, found `{text}`")))
}
