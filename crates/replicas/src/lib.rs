//! What do the replicated data types of real libraries answer?
//!
//! A [`Trial`] drives some replicas of one library at random, all in this process: a replica is updated, or asked, or
//! receives what another one has. What the replicas answered is recorded as a history, for `isonomy-crdt` to judge
//! without knowing who had received what. The trial does know, and so a [`Run`] can also be judged directly:
//! [`Run::deviation`] compares each answer with what the type says of the updates that had arrived.
//!
//! ```
//! use isonomy_crdt::DataType;
//! use isonomy_replicas::{Library, Trial};
//!
//! let run = Trial { seed: 7, ..Trial::new(Library::Crdts, DataType::OrSet) }.run()?;
//! assert_eq!(run.deviation(), None);
//! # Ok::<(), isonomy_replicas::Error>(())
//! ```

mod error;
mod known;
mod library;
mod run;
mod system;
mod trial;

pub use error::Error;
pub use known::Deviation;
pub use library::{Library, Offer, UnknownLibrary};
pub use run::{Recorded, Run, Step};
pub use trial::{Delivery, Trial};
