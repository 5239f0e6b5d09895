//! What the server's codes mean for a transaction.

use std::error::Error as _;

use crate::Error;

/// Codes that end a transaction without effect.
const ABORTED: [&str; 10] = [
    "40001", // A conflict with another transaction.
    "40P01", // A deadlock.
    "40000", // No reason given.
    "40002", // A constraint,
    "23505", // a duplicate key.
    "25P02", // An earlier statement of the transaction had failed.
    "55P03", // A lock could not be had,
    "57014", // or the statement was cancelled, mostly because it took too long.
    "HYT00", // H2: a lock took too long,
    "90131", // or another transaction was quicker.
];

/// Something broke inside the server. A transaction that meets it comes to nothing, but a commit may have done its work.
const BROKEN: &str = "XX000";

/// Codes after which the connection is gone, or which say that the result is not known. So does all of class 08.
const LOST: [&str; 6] = [
    "57P01", // The server is shutting down,
    "57P02", // has crashed,
    "57P03", // is starting.
    "57P05", // We were idle for too long,
    "25P03", // so inside a transaction.
    "40003", // The server does not know the result (CockroachDB).
];

/// Judges an error of a statement inside a transaction.
pub(super) fn classify(error: &tokio_postgres::Error) -> Error {
    let message = in_words(error);
    match error.as_db_error().map(|error| error.code().code()) {
        Some(code) if ABORTED.contains(&code) || code == BROKEN => Error::Aborted(message),
        Some(code) if LOST.contains(&code) || code.starts_with("08") => Error::Lost(message),
        Some(_) => Error::Refused(message),
        None if error.is_closed() || is_io(error) => Error::Lost(message),
        None => Error::Refused(message),
    }
}

/// Judges an error of a commit: whoever is not told that it was undone does not know.
pub(super) fn at_commit(error: &tokio_postgres::Error) -> Error {
    let code = error.as_db_error().map(|error| error.code().code());
    match classify(error) {
        Error::Aborted(message) if code != Some(BROKEN) => Error::Aborted(message),
        Error::Aborted(message) | Error::Refused(message) => {
            Error::Lost(format!("the answer to a commit was: {message}"))
        }
        other => other,
    }
}

/// The error with its causes, since the client's own message says only where it happened.
pub(super) fn in_words(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!("{} ({})", error.message(), error.code().code());
    }
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    error.source().is_some_and(|cause| cause.is::<std::io::Error>())
}
