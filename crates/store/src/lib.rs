//! A store of keys and values whose reads may return anything that an isolation level allows.

#![allow(missing_docs)]

mod options;
mod store;

pub use isonomy_workload::{StoreLevel, UnknownStoreLevel};
pub use options::{Choice, Options};
pub use store::{Savepoint, Session, Store, StoreError};
