//! SQL on a store of keys and values: tables are sets of rows and cells.
//!
//! The store may answer a read with anything that an isolation level allows; SQL on top of it behaves as a database of that level may.
//! Statements become reads and writes as in chapter 4.3 of *Specification and Testing of Distributed Systems' Consistency* (MonkeyDB):
//! whether a row exists is a key, `accounts/7`, and each cell is one, `accounts/7.balance`. A statement looks at all rows that were ever
//! inserted, reads whether they exist, then what its conditions need, and of the rows that qualify what its answer needs.
//!
//! ```
//! use isonomy_sql::{Answer, Datum, Dialect, Engine, Options};
//! use isonomy_store::{Options as StoreOptions, Store};
//!
//! let engine = Engine::new(Store::new(StoreOptions::default()), Options::default());
//! let mut client = engine.connect(Dialect::PostgreSql);
//! let (_, error) = client.execute("CREATE TABLE accounts (id INT PRIMARY KEY, balance INT); INSERT INTO accounts VALUES (7, 100)");
//! assert_eq!(error, None);
//! let (answers, _) = client.execute("SELECT balance FROM accounts WHERE id = 7");
//! assert!(matches!(&answers[0], Answer::Rows { rows, .. } if rows[0][0] == Datum::Integer(100)));
//! ```
//!
//! From text to answer: `parse` makes syntax trees, `plan` resolves names and chooses access paths, `run` reads and writes; `catalog` knows
//! the tables, `connection` keeps transactions and settings.

mod answer;
mod arithmetic;
mod cast;
mod catalog;
mod connection;
mod datum;
mod define;
mod engine;
mod error;
mod function;
mod keys;
mod like;
mod order;
mod parse;
mod plan;
mod run;
mod settings;
mod system;
mod time;
mod types;

pub use answer::{Answer, Column, Tag};
pub use connection::{Connection, Prepared, Status};
pub use datum::{Datum, Type};
pub use engine::{Dialect, Engine, Options};
pub use error::Error;
