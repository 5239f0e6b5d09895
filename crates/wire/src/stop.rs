//! Why a request has no answer.

use std::io;

use isonomy_sql::Error;

/// Why a request has no answer.
pub(crate) enum Stop {
    /// The client is told.
    Failed(Error),
    /// The client is gone.
    Lost(io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Lost(error)
    }
}
