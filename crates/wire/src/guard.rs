//! A connection to the engine that survives its panics.
//!
//! A panic is a bug, and the client is told so. What the engine kept for this client may be half done, so it is thrown away, and the client
//! goes on with a connection that is as new.

use std::panic::{AssertUnwindSafe, catch_unwind};

use isonomy_sql::{Answer, Connection, Dialect, Engine, Error, Prepared, Status, Type};

/// A client of the engine.
pub(crate) struct Guard {
    engine: Engine,
    dialect: Dialect,
    /// Absent if not even a new one could be had.
    connection: Option<Connection>,
}

impl Guard {
    pub(crate) fn new(engine: Engine, dialect: Dialect) -> Self {
        let mut guard = Guard { engine, dialect, connection: None };
        guard.reset();
        guard
    }

    /// Starts anew: the open transaction is given up.
    pub(crate) fn reset(&mut self) {
        let old = self.connection.take();
        let renewed = catch_unwind(AssertUnwindSafe(|| {
            drop(old);
            self.engine.connect(self.dialect)
        }));
        self.connection = renewed.ok();
    }

    /// Runs something that may panic.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
        let Some(connection) = &mut self.connection else { return Err(internal()) };
        let done = catch_unwind(AssertUnwindSafe(|| work(connection)));
        done.unwrap_or_else(|_| {
            self.reset();
            Err(internal())
        })
    }

    /// Runs statements until one fails.
    pub(crate) fn execute(&mut self, sql: &str) -> (Vec<Answer>, Option<Error>) {
        self.attempt(|connection| Ok(connection.execute(sql))).unwrap_or_else(|error| (Vec::new(), Some(error)))
    }

    pub(crate) fn prepare(&mut self, sql: &str, types: &[Option<Type>]) -> Result<Prepared, Error> {
        self.attempt(|connection| connection.prepare(sql, types))
    }

    pub(crate) fn run(&mut self, prepared: &Prepared, parameters: &[isonomy_sql::Datum]) -> Result<Answer, Error> {
        self.attempt(|connection| connection.run(prepared, parameters))
    }

    pub(crate) fn status(&self) -> Status {
        self.connection.as_ref().map_or(Status::Idle, Connection::status)
    }
}

fn internal() -> Error {
    Error {
        code: "XX000",
        mysql: 1105,
        message: "internal error: this is a bug of isonomy".into(),
        hint: Some("the transaction was given up; the server's standard error tells more".into()),
    }
}
