//! Why a trial could not be run.

use isonomy_crdt::{DataType, HistoryError};

use crate::library::Library;

/// Why a trial could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library has nothing that could be this type.
    #[error("{library} offers no {data_type}; it offers {offers}")]
    NotOffered {
        /// The library.
        library: Library,
        /// The type that was asked for.
        data_type: DataType,
        /// The types that it offers.
        offers: Box<str>,
    },
    /// The numbers of the trial make no sense.
    #[error("{0}")]
    Shape(&'static str),
    /// The library refused an operation that it should accept.
    #[error("{library} refused an operation")]
    Library {
        /// The library.
        library: Library,
        /// What it said.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What the library answered is not an answer of this type.
    #[error("the answers make no history")]
    History(#[from] HistoryError),
}
