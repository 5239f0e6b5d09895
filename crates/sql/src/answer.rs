//! What a statement answers.

use crate::datum::{Datum, Type};

/// A column of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Which statement it was, as PostgreSQL's command tags say: `INSERT`, `CREATE TABLE`, `BEGIN`.
pub type Tag = &'static str;

/// What a statement answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Rows: of a query, or of `RETURNING`.
    Rows {
        /// `SELECT`, `INSERT`, `SHOW`.
        tag: Tag,
        /// What each row has.
        columns: Vec<Column>,
        /// The rows.
        rows: Vec<Vec<Datum>>,
    },
    /// No rows.
    Done {
        /// What was done.
        tag: Tag,
        /// How many rows it changed, where that can be said.
        affected: Option<u64>,
        /// The number that was given to an `AUTO_INCREMENT` column; of several rows, to the first.
        last_insert_id: u64,
    },
    /// There was no statement.
    Empty,
}
