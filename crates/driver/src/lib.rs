//! Databases under test.
//!
//! A [`Database`] is one system under test, reached by a URL with [`open`]; a [`Session`] is one client of it with a connection of its own.
//! That is all that the rest knows of databases. Drivers translate, and hide nothing: they do not retry, pool or cache.

pub mod card;
mod cell;
#[cfg(feature = "contract")]
pub mod contract;
mod database;
mod error;
mod etcd;
pub mod faults;
mod mock;
mod mysql;
mod postgres;
pub mod proxy;
pub mod recorder;
mod redis;
mod registry;
pub mod run;
mod sql;
mod sqlite;

pub use database::{Ability, Database, Description, Isolation, Key, Row, Session, Value};
pub use error::Error;
pub use etcd::Etcd;
pub use mock::Mock;
pub use mysql::Mysql;
pub use postgres::Postgres;
pub use recorder::Recorder;
pub use redis::Redis;
pub use registry::{Scheme, open, schemes};
pub use run::run;
pub use sqlite::Sqlite;
