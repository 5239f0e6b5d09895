//! `sqlite` and `sqlite:PATH`: SQLite, built in.
//!
//! In the write-ahead mode a transaction reads the database as it was at its first read, and there is one writer at a time. One that has read
//! and then wants to write is refused if another has written since, so all are serializable. `sqlite` is a file in the temporary directory that
//! is removed at the end; `sqlite:PATH` uses tables of its own in a file, whose names begin with `isonomy_`.
//!
//! Isolation: `deferred`, as SQLite begins transactions if nothing is said, or `immediate`, where each waits at the begin until no other
//! writes. The documentation promises serializable for both.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, params};

use crate::database::{Ability, Database, Description, Isolation, Key, Row, Session, Value};
use crate::error::Error;

/// How long SQLite waits for another writer before it says that it is busy.
const BUSY: Duration = Duration::from_millis(500);

const TABLES: &str = "
    DROP TABLE IF EXISTS isonomy_values;
    DROP TABLE IF EXISTS isonomy_lists;
    CREATE TABLE isonomy_values (key INTEGER PRIMARY KEY, value INTEGER NOT NULL, deleted INTEGER NOT NULL);
    CREATE TABLE isonomy_lists (at INTEGER PRIMARY KEY AUTOINCREMENT, key INTEGER NOT NULL, element INTEGER NOT NULL);
    CREATE INDEX isonomy_lists_by_key ON isonomy_lists (key, at);
";

/// A SQLite database.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// As the user wrote it.
    url: String,
    begin: Begin,
    /// Removed at the end.
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    Deferred,
    Immediate,
}

impl Sqlite {
    pub(crate) fn open(urls: &[&str], isolation: Option<&str>) -> Result<Box<dyn Database>, Error> {
        let [url] = urls else { return Err(Error::Refused("SQLite has one node".into())) };
        let begin = match isolation {
            None | Some("deferred" | "serializable") => Begin::Deferred,
            Some("immediate") => Begin::Immediate,
            Some(other) => {
                return Err(Error::Refused(format!(
                    "SQLite has no isolation `{other}`; known are deferred, immediate"
                )));
            }
        };
        let path = url.split_once(':').map_or("", |(_, path)| path);
        let path = path.strip_prefix("//").unwrap_or(path);
        let (path, folder) = if path.is_empty() {
            let folder =
                temporary().map_err(|error| Error::Unreachable(format!("the temporary directory: {error}")))?;
            (folder.join("isonomy.db"), Some(folder))
        } else {
            (PathBuf::from(path), None)
        };
        Ok(Box::new(Sqlite { path, url: url.to_string(), begin, folder }))
    }

    fn client(&self) -> Result<Connection, Error> {
        let unreachable = |error: &dyn std::fmt::Display| {
            let hint = "SQLite needs no server to be started, but a path to a file that it can write";
            Error::Unreachable(format!("{}: {error}; {hint}", self.url))
        };
        let connection = Connection::open(&self.path).map_err(|error| unreachable(&error))?;
        connection.busy_timeout(BUSY).map_err(translate)?;
        let mode: String = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
            .map_err(|error| unreachable(&error))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(Error::Refused(format!("{}: the file system has no write-ahead log (mode {mode})", self.url)));
        }
        // Safe against a kill of the process. A run is not there to test what a crash of the machine does.
        connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(translate)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(connection)
    }
}

/// A folder that nobody else has.
fn temporary() -> std::io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("isonomy-sqlite-{}-{number}", std::process::id()));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            // Best effort: what is left is in the temporary directory.
            let _ = fs::remove_dir_all(folder);
        }
    }
}

impl Database for Sqlite {
    fn describe(&self) -> Result<Description, Error> {
        let name = match self.begin {
            Begin::Deferred => "serializable (deferred)",
            Begin::Immediate => "serializable (immediate)",
        };
        Ok(Description {
            product: "SQLite".into(),
            version: rusqlite::version().into(),
            isolation: Isolation { name: name.into(), promises: Some("serializable") },
        })
    }

    fn can(&self, ability: Ability) -> bool {
        match ability {
            Ability::Lists | Ability::Ranges | Ability::CompareAndSet => true,
        }
    }

    fn prepare(&self) -> Result<(), Error> {
        self.client()?.execute_batch(TABLES).map_err(|error| match translate(error) {
            Error::Aborted(why) => Error::Refused(format!("{}: somebody else is using it: {why}", self.url)),
            error => error,
        })
    }

    fn connect(&self, _session: u32) -> Result<Box<dyn Session>, Error> {
        Ok(Box::new(SqliteSession { connection: self.client()?, begin: self.begin }))
    }
}

struct SqliteSession {
    connection: Connection,
    begin: Begin,
}

/// What an error means for the transaction.
fn translate(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Aborted(error.to_string()),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Error::Lost(error.to_string()),
        _ => Error::Refused(format!("SQLite: {error}")),
    }
}

/// SQLite's integers have a sign; workloads use small keys.
fn number(key: Key) -> i64 {
    key as i64
}

impl SqliteSession {
    /// Runs a statement. Returns how many rows it changed.
    fn execute(&mut self, statement: &str, parameters: impl Params) -> Result<usize, Error> {
        let mut statement = self.connection.prepare_cached(statement).map_err(translate)?;
        statement.execute(parameters).map_err(translate)
    }

    fn put(&mut self, key: Key, value: Value, deleted: bool) -> Result<(), Error> {
        let statement = "INSERT INTO isonomy_values VALUES (?1, ?2, ?3)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, deleted = excluded.deleted";
        self.execute(statement, params![number(key), value, deleted]).map(|_| ())
    }
}

impl Session for SqliteSession {
    fn begin(&mut self) -> Result<(), Error> {
        let statement = match self.begin {
            Begin::Deferred => "BEGIN DEFERRED",
            Begin::Immediate => "BEGIN IMMEDIATE",
        };
        self.execute(statement, []).map(|_| ())
    }

    fn read(&mut self, key: Key) -> Result<Option<Value>, Error> {
        let mut statement =
            self.connection.prepare_cached("SELECT value FROM isonomy_values WHERE key = ?1").map_err(translate)?;
        statement.query_row([number(key)], |row| row.get(0)).optional().map_err(translate)
    }

    fn write(&mut self, key: Key, value: Value) -> Result<(), Error> {
        self.put(key, value, false)
    }

    fn append(&mut self, key: Key, element: Value) -> Result<(), Error> {
        let statement = "INSERT INTO isonomy_lists (key, element) VALUES (?1, ?2)";
        self.execute(statement, [number(key), element]).map(|_| ())
    }

    fn read_list(&mut self, key: Key) -> Result<Vec<Value>, Error> {
        let statement = "SELECT element FROM isonomy_lists WHERE key = ?1 ORDER BY at";
        let mut statement = self.connection.prepare_cached(statement).map_err(translate)?;
        let elements = statement.query_map([number(key)], |row| row.get(0)).map_err(translate)?;
        elements.collect::<Result<_, _>>().map_err(translate)
    }

    fn insert(&mut self, key: Key, value: Value) -> Result<(), Error> {
        let statement = "INSERT INTO isonomy_values VALUES (?1, ?2, 0)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value, deleted = 0 WHERE deleted";
        match self.execute(statement, [number(key), value])? {
            0 => Err(Error::Aborted("the key is there already".into())),
            _ => Ok(()),
        }
    }

    fn delete(&mut self, key: Key, tombstone: Value) -> Result<(), Error> {
        self.put(key, tombstone, true)
    }

    fn range(&mut self, lo: Key, hi: Key) -> Result<Vec<Row>, Error> {
        let statement = "SELECT key, value FROM isonomy_values WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
        let mut statement = self.connection.prepare_cached(statement).map_err(translate)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)? as Key, row.get(1)?));
        let rows = statement.query_map([number(lo), number(hi)], row).map_err(translate)?;
        rows.collect::<Result<_, _>>().map_err(translate)
    }

    fn compare_and_set(&mut self, key: Key, expected: Option<Value>, new: Value) -> Result<bool, Error> {
        let changed = match expected {
            None => {
                let statement = "INSERT INTO isonomy_values VALUES (?1, ?2, 0) ON CONFLICT (key) DO NOTHING";
                self.execute(statement, [number(key), new])?
            }
            Some(expected) => {
                let statement = "UPDATE isonomy_values SET value = ?2, deleted = 0 WHERE key = ?1 AND value = ?3";
                self.execute(statement, [number(key), new, expected])?
            }
        };
        Ok(changed > 0)
    }

    fn commit(&mut self) -> Result<(), Error> {
        // If it is busy, the transaction stays open, and the rollback that follows ends it.
        self.execute("COMMIT", []).map(|_| ())
    }

    fn rollback(&mut self) -> Result<(), Error> {
        // Some errors have ended the transaction already.
        if self.connection.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK", []).map(|_| ()) }
    }
}
