//! Connections: statements in, answers out.

use isonomy_store::Store;

use crate::answer::{Answer, Column};
use crate::datum::{Datum, Type};
use crate::error::Error;

/// Whose SQL a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// PostgreSQL's.
    PostgreSql,
    /// MySQL's and MariaDB's.
    MySql,
}

/// How SQL is compiled to reads and writes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether a statement reads a cell anew each time it needs it, as the thesis prints it. Otherwise it reads each cell once.
    pub reread: bool,
    /// Whether keys and unique constraints are checked against what was committed last, as a database with one server does.
    pub strict_keys: bool,
}

/// A database: its tables, and the store that holds their rows. Cheap to clone; all clones are the same database.
#[derive(Clone, Debug)]
pub struct Engine {
    store: Store<Datum>,
}

/// Whether a transaction is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Statements commit by themselves.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open in which a statement failed: nothing but its end is accepted (PostgreSQL).
    Failed,
}

/// A statement that can be run with several parameters.
#[derive(Clone, Debug)]
pub struct Prepared {
    sql: String,
}

/// One client: its transaction and its settings.
#[derive(Debug)]
pub struct Connection {
    _engine: Engine,
}

impl Engine {
    /// An empty database.
    pub fn new(store: Store<Datum>, options: Options) -> Self {
        let _ = options;
        Engine { store }
    }

    /// The store.
    pub fn store(&self) -> &Store<Datum> {
        &self.store
    }

    /// A new client.
    pub fn connect(&self, dialect: Dialect) -> Connection {
        let _ = dialect;
        Connection { _engine: self.clone() }
    }
}

impl Prepared {
    /// The types of its parameters, as far as they are known; unknown ones are text.
    pub fn parameters(&self) -> &[Type] {
        &[]
    }

    /// The columns of its answer, if it has rows.
    pub fn columns(&self) -> Option<&[Column]> {
        let _ = &self.sql;
        None
    }
}

impl Connection {
    /// Runs statements that are separated by semicolons, until one fails. What was answered before comes with the error.
    pub fn execute(&mut self, sql: &str) -> (Vec<Answer>, Option<Error>) {
        let _ = sql;
        (Vec::new(), None)
    }

    /// Prepares one statement. Parameters are `$1` or `?`; their types may be given.
    pub fn prepare(&mut self, sql: &str, types: &[Option<Type>]) -> Result<Prepared, Error> {
        let _ = types;
        Ok(Prepared { sql: sql.into() })
    }

    /// Runs a prepared statement.
    pub fn run(&mut self, prepared: &Prepared, parameters: &[Datum]) -> Result<Answer, Error> {
        let _ = (prepared, parameters);
        Ok(Answer::Empty)
    }

    /// Whether a transaction is open.
    pub fn status(&self) -> Status {
        Status::Idle
    }
}
