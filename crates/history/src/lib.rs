//! What the clients of a database observed: sessions, transactions, events.
//!
//! A [`History`] is built once, by a reader of [`formats`] or by a [`HistoryBuilder`], and never changes. One that exists
//! is well formed: every write of a key has its own value, times run forward, ranges hold what they return. What
//! all checkers need of it is in [`Derived`], made once at the end of the build.
//!
//! ```
//! use isonomy_history::HistoryBuilder;
//!
//! let mut history = HistoryBuilder::new();
//! history.transaction("alice").read("x", None::<i64>).write("x", 1).commit();
//! history.transaction("bob").read("x", 1).abort();
//! let history = history.finish()?;
//! assert_eq!((history.sessions().count(), history.transaction_count(), history.event_count()), (2, 2, 3));
//! # Ok::<(), isonomy_history::HistoryError>(())
//! ```
//!
//! This crate opens no files, reads no clock and prints nothing: readers take bytes.

mod builder;
mod derived;
mod error;
mod event;
pub mod formats;
mod history;
mod mini;
mod names;
mod record;
mod slots;
mod values;

pub use builder::{HistoryBuilder, InitialRule, TransactionBuilder};
pub use derived::{Derived, ExternalRead, FaultKind, ReadFault, VersionEdge, Writer};
pub use error::{HistoryError, Place, WriteAt};
pub use event::{Event, EventId, Outcome, Times};
pub use history::{History, Key, SessionId, TransactionName, TxnId, Value};
pub use names::{Datum, Name};
pub use record::{NamedEvent, Record, Sink};
