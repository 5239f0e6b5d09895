//! SQL on a store of keys and values: tables are sets of rows and cells.

#![allow(missing_docs)]

mod answer;
mod connection;
mod datum;
mod error;

pub use answer::{Answer, Column, Tag};
pub use connection::{Connection, Dialect, Engine, Options, Prepared, Status};
pub use datum::{Datum, Type};
pub use error::Error;
