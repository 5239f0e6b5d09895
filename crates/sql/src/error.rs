//! What can go wrong with a statement.

/// A statement failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The SQLSTATE of PostgreSQL: `40001`, `23505`, `42P01`.
    pub code: &'static str,
    /// The error number of MySQL: 1213, 1062, 1146.
    pub mysql: u16,
    /// A sentence.
    pub message: String,
    /// What may help.
    pub hint: Option<String>,
}
