//! What the server's codes mean for a transaction.

use mysql::Error as ClientError;

use crate::Error;

/// Codes that end a transaction without effect.
const ABORTED: [u16; 11] = [
    1213, // Deadlock; on Galera also a transaction that lost against one of another node, at its commit or before.
    1205, // A lock took too long. The server undoes the statement only; the rollback undoes the rest.
    1020, // The row has changed since the snapshot (innodb_snapshot_isolation).
    1062, // A duplicate key.
    1317, // The statement was interrupted,
    1969, // took too long (MariaDB),
    3024, // took too long (MySQL).
    9007, // TiDB: a write conflict,
    8002, // one on a locking read,
    8022, // a commit that failed and may be retried,
    8028, // tables that were altered meanwhile.
];

/// The node is not part of a cluster now and refuses statements, so the transaction will come to nothing. But a commit that is answered
/// so may have reached the others.
const NOT_READY: u16 = 1047;

/// Codes after which the connection is of no use: the server shuts down, or has killed it.
const LOST: [u16; 3] = [1053, 1927, 1152];

/// Judges an error of a statement inside a transaction.
pub(super) fn classify(error: &ClientError) -> Error {
    match error {
        ClientError::MySqlError(server) => {
            let message = format!("{} ({})", server.message, server.code);
            match server.code {
                code if ABORTED.contains(&code) || code == NOT_READY => Error::Aborted(message),
                code if LOST.contains(&code) => Error::Lost(message),
                _ => Error::Refused(message),
            }
        }
        ClientError::IoError(_) | ClientError::CodecError(_) => Error::Lost(error.to_string()),
        ClientError::DriverError(_) if error.is_connectivity_error() => Error::Lost(error.to_string()),
        _ => Error::Refused(error.to_string()),
    }
}

/// Judges an error of a commit: whoever is not told that it was undone does not know.
pub(super) fn at_commit(error: &ClientError) -> Error {
    match (classify(error), error) {
        (_, ClientError::MySqlError(server)) if server.code == NOT_READY => Error::Lost(server.message.clone()),
        (Error::Refused(message), _) => Error::Lost(format!("the answer to a commit was: {message}")),
        (other, _) => other,
    }
}
