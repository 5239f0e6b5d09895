//! A client of a database: statements that are prepared once, rows of numbers and texts.

use std::io;

use isonomy_history::Sink;
use isonomy_sql::{Answer, Connection, Datum, Dialect, Engine, Error, Prepared};
use isonomy_store::{Options, StoreLevel};
use rustc_hash::FxHashMap;

use crate::application::Control;
use crate::key_value::open;
use crate::run::RunError;
use crate::script::{Client, Failure, Place};

/// A connection and its prepared statements.
pub(crate) struct Database {
    connection: Connection,
    prepared: FxHashMap<&'static str, Prepared>,
}

impl Place for Engine {
    type Client = Database;

    fn open(options: Options, control: Option<Control>) -> Self {
        Engine::new(open(options, control), isonomy_sql::Options::default())
    }

    fn client(&self) -> Database {
        Database { connection: self.connect(Dialect::PostgreSql), prepared: FxHashMap::default() }
    }

    fn settle(&self) {
        self.store().settle();
    }

    fn write_history(&self, sink: &mut dyn Sink) -> io::Result<()> {
        self.store().write_history(sink)
    }
}

impl Client for Database {
    fn begin(&mut self) -> Result<(), Failure> {
        self.execute("BEGIN")
    }

    fn begin_latest(&mut self, _: StoreLevel) -> Result<(), Failure> {
        self.execute("SET isonomy.choice = 'latest'")?;
        self.execute("BEGIN")
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.execute("COMMIT")
    }

    fn rollback(&mut self) {
        // If it fails, there is no transaction to end.
        let _ = self.connection.execute("ROLLBACK");
    }
}

impl Database {
    /// Runs statements without parameters, whatever they answer.
    pub(crate) fn execute(&mut self, statements: &str) -> Result<(), Failure> {
        let (_, error) = self.connection.execute(statements);
        error.map_or(Ok(()), |error| Err(failure(error, statements)))
    }

    /// Runs a statement, which is prepared at the first time.
    fn answer(&mut self, statement: &'static str, parameters: &[Datum]) -> Result<Answer, Failure> {
        if !self.prepared.contains_key(statement) {
            let prepared = self.connection.prepare(statement, &[]).map_err(|error| failure(error, statement))?;
            self.prepared.insert(statement, prepared);
        }
        let prepared = &self.prepared[statement];
        self.connection.run(prepared, parameters).map_err(|error| failure(error, statement))
    }

    /// The rows of a query.
    pub(crate) fn rows(&mut self, query: &'static str, parameters: &[Datum]) -> Result<Vec<Row>, Failure> {
        match self.answer(query, parameters)? {
            Answer::Rows { rows, .. } => Ok(rows.into_iter().map(Row).collect()),
            Answer::Done { .. } | Answer::Empty => Ok(Vec::new()),
        }
    }

    /// The first row of a query. The application cannot go on without one.
    pub(crate) fn row(&mut self, query: &'static str, parameters: &[Datum]) -> Result<Row, Failure> {
        self.rows(query, parameters)?.into_iter().next().ok_or(Failure::Refused)
    }

    /// The first number of the first row of a query; 0 if there is none.
    pub(crate) fn number(&mut self, query: &'static str, parameters: &[Datum]) -> Result<i64, Failure> {
        let rows = self.rows(query, parameters)?;
        Ok(rows.first().and_then(|row| row.maybe(0)).unwrap_or(0))
    }

    /// Changes rows; how many.
    pub(crate) fn change(&mut self, statement: &'static str, parameters: &[Datum]) -> Result<u64, Failure> {
        match self.answer(statement, parameters)? {
            Answer::Done { affected, .. } => Ok(affected.unwrap_or(0)),
            Answer::Rows { rows, .. } => Ok(rows.len() as u64),
            Answer::Empty => Ok(0),
        }
    }
}

/// A row of an answer.
#[derive(Debug)]
pub(crate) struct Row(Vec<Datum>);

impl Row {
    /// Whatever it is.
    pub(crate) fn datum(&self, column: usize) -> Datum {
        self.0[column].clone()
    }

    /// A number, or `NULL`.
    pub(crate) fn maybe(&self, column: usize) -> Option<i64> {
        match &self.0[column] {
            Datum::Integer(number) => Some(*number),
            Datum::Null => None,
            other => other.to_string().parse().ok(),
        }
    }

    /// A number. A level that is weak enough shows rows before their cells; the application cannot go on then.
    pub(crate) fn number(&self, column: usize) -> Result<i64, Failure> {
        self.maybe(column).ok_or(Failure::Refused)
    }
}

/// Numbers as parameters.
pub(crate) fn numbers<const N: usize>(numbers: [i64; N]) -> [Datum; N] {
    numbers.map(Datum::Integer)
}

/// A text as a parameter.
pub(crate) fn text(text: &str) -> Datum {
    Datum::Text(text.into())
}

fn failure(error: Error, statement: &str) -> Failure {
    match &error.code[..2] {
        "40" => Failure::Conflict,
        // A constraint is violated.
        "23" => Failure::Refused,
        _ => Failure::Broken(RunError::Sql { statement: statement.into(), source: error }),
    }
}
