//! A store of keys and values whose reads may return anything that an isolation level allows.
//!
//! Where a checker judges what clients saw, this makes it: an application that runs on it meets the anomalies of its level in a few runs, on one
//! machine, without a cluster. Every choice follows from a seed, is recorded, and can be repeated.
//!
//! ```
//! use isonomy_store::{Options, Store, StoreLevel};
//!
//! // Two clients withdraw from an account at the same time.
//! let overdrawn = (0..100).any(|seed| {
//!     let store = Store::new(Options { level: StoreLevel::Causal, seed, ..Options::default() });
//!     let mut clients = [store.session(), store.session()];
//!     for client in &mut clients {
//!         client.begin().unwrap();
//!         let paid: i64 = client.read("paid").unwrap().unwrap_or(0);
//!         if paid == 0 {
//!             client.write("paid", Some(100)).unwrap();
//!             client.write(&format!("receipt/{}", client.number().unwrap()), Some(100)).unwrap();
//!         }
//!         client.commit().unwrap();
//!     }
//!     store.counts().stale > 0
//! });
//! assert!(overdrawn, "causal consistency lets both of them see what was there before");
//! ```
//!
//! The semantics is that of R. Biswas, *Automated Formal Testing of Storage Systems and Applications* (2021), chapter 4: transactions run one at a time, a
//! read may return any write with which the history still satisfies the level. What the levels from snapshot isolation up need beyond that is
//! in `strong.rs`.

mod allowed;
mod choose;
mod clock;
mod committed;
mod draw;
mod keys;
mod open;
mod options;
mod order;
mod replay;
mod state;
mod store;
mod strong;
mod tell;
mod turns;
mod weak;

pub use isonomy_workload::{StoreLevel, UnknownStoreLevel};
pub use open::Savepoint;
pub use options::{Choice, Options};
pub use replay::{Ended, Newest, ReadChoice, Script};
pub use state::{Chooser, Counts, Listener};
pub use store::{Session, Store, StoreError};
