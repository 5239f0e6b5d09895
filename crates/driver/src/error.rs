//! What can go wrong with a database.

/// Why something was not done. What a recorder must know is whether it may have been done all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database gave the transaction up: a conflict, a deadlock, a time-out of its own. It has no effect.
    #[error("aborted: {0}")]
    Aborted(String),
    /// The connection is gone, or no answer came. If this comes of a commit, nobody knows whether it took effect.
    #[error("connection lost: {0}")]
    Lost(String),
    /// Nobody can be reached there. The message names the URL and how to start a server.
    #[error("{0}")]
    Unreachable(String),
    /// This database has no such thing.
    #[error("{0}")]
    Unsupported(String),
    /// The database understood and refused, and will refuse again: no such level, no permission, a broken statement.
    #[error("{0}")]
    Refused(String),
}
