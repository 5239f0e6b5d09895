//! What the SQL databases have in common: tables, statements, nodes.
//!
//! Three tables. `isonomy_kv` has a row for each key that was ever written; a deleted key keeps its row, marked dead, whose value says
//! which delete it was. `isonomy_list` has lists as text, elements separated by commas. `isonomy_run` has one row, whose number says which
//! [`prepare`] made the tables, so that nodes that lag behind can be told.
//!
//! Statements are sent as text with the numbers in it: that is the part of each protocol which all servers understand alike, and a
//! statement is one message. There is nothing to escape in numbers.

mod nodes;
mod session;
mod words;

pub(crate) use nodes::{Node, Nodes};
pub(crate) use session::SqlSession;
pub(crate) use words::level_words;

use std::time::Duration;

use crate::Error;

/// How long to wait for somebody to pick up.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);

/// How long to wait for an answer before the connection counts as lost. It is longer than the time for which InnoDB lets a statement wait
/// for a lock (50 s) before it gives the answer that this was too long.
pub(crate) const ANSWER: Duration = Duration::from_secs(60);

/// What comes of a statement.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Rows of columns, as text.
    pub(crate) rows: Vec<Vec<String>>,
    /// How many rows were changed.
    pub(crate) changed: u64,
}

impl Answer {
    /// The first column of the first row.
    pub(crate) fn single(&self) -> Option<&str> {
        self.rows.first()?.first().map(String::as_str)
    }
}

/// A connection to a server.
pub(crate) trait Connection: Send {
    /// Runs a statement.
    fn run(&mut self, statement: &str) -> Result<Answer, Error>;

    /// Ends a transaction. Only what surely had no effect is [`Error::Aborted`]; whatever else goes wrong is [`Error::Lost`].
    fn commit(&mut self) -> Result<(), Error>;
}

/// How a row is written that may be there already or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upsert {
    /// `INSERT … ON CONFLICT`: PostgreSQL and all that follow it.
    OnConflict,
    /// `INSERT … ON DUPLICATE KEY`: MySQL and all that follow it.
    OnDuplicateKey,
    /// `UPDATE`, and `INSERT` if there was nothing to update: for those that understand neither. If another client inserts between the two,
    /// that is a duplicate key, and the transaction is aborted.
    Apart,
}

/// Makes the tables anew, and marks them with `run`.
pub(crate) fn make_tables(connection: &mut dyn Connection, upsert: Upsert, run: u64) -> Result<(), Error> {
    let list = match upsert {
        // MySQL's TEXT ends after 64 KiB, and its VARCHAR wants a length.
        Upsert::OnDuplicateKey => "LONGTEXT",
        Upsert::OnConflict | Upsert::Apart => "VARCHAR",
    };
    for table in ["isonomy_run", "isonomy_kv", "isonomy_list"] {
        connection.run(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    let kv = "CREATE TABLE isonomy_kv (k BIGINT PRIMARY KEY, v BIGINT NOT NULL, dead BOOLEAN NOT NULL)";
    connection.run(kv)?;
    connection.run(&format!("CREATE TABLE isonomy_list (k BIGINT PRIMARY KEY, v {list} NOT NULL)"))?;
    connection.run("CREATE TABLE isonomy_run (run BIGINT PRIMARY KEY)")?;
    connection.run(&format!("INSERT INTO isonomy_run (run) VALUES ({run})"))?;
    Ok(())
}

/// Whether a node has the tables of this run.
pub(crate) fn has_tables(connection: &mut dyn Connection, run: u64) -> bool {
    let found = connection.run("SELECT run FROM isonomy_run");
    found.is_ok_and(|answer| answer.single().and_then(|text| text.parse().ok()) == Some(run))
}
