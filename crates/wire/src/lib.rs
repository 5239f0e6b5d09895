//! The mock store for programs of any language: over the protocol of PostgreSQL, over that of MySQL, and over HTTP.
//!
//! ```no_run
//! use isonomy_sql::Engine;
//! use isonomy_store::{Options, Store};
//! use isonomy_wire::{Config, Server};
//!
//! # fn main() -> Result<(), isonomy_wire::StartError> {
//! let engine = Engine::new(Store::new(Options::default()), isonomy_sql::Options::default());
//! let server = Server::start(engine, &Config { postgres: Some(([127, 0, 0, 1], 0).into()), ..Config::default() })?;
//! println!("postgres://isonomy@{}/isonomy", server.addresses().postgres.expect("it was asked for"));
//! # Ok(())
//! # }
//! ```
//!
//! A connection is a session of the store. The engine may block until it is a transaction's turn, so each connection of the SQL protocols
//! has a thread of its own that reads, runs and answers in plain sequence (`postgres.rs`, `mysql.rs`); see docs/decisions/0008-wire.md for why
//! both protocols are written out here. HTTP requests come and go, so their sessions live in a table with a clock (`http.rs`).
//!
//! Whatever clients send, it must not harm others: lengths are bounded before anything is allocated, handshakes have a deadline, dead peers
//! are noticed by TCP keepalive, a connection that ends gives up its transaction, and a panic ends one connection.

mod clients;
mod config;
mod door;
mod guard;
mod http;
mod mysql;
mod password;
mod postgres;
mod random;
mod server;
mod stop;
mod stream;
mod text;

pub use clients::Counts;
pub use config::{Config, Limits};
pub use password::Password;
pub use server::{Addresses, Server, StartError};
