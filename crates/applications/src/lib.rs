//! Small applications with assertions that weak isolation breaks, run on the mock store.
//!
//! An [`Application`] has a few operations, each of one or more transactions, and assertions that hold if its transactions are
//! serializable. [`Setup`] says by how many sessions and at which level it is run: everything else follows from seeds, and no
//! threads are involved, since a scheduler picks which session runs its next transaction. [`Measurement`] counts in how many runs each
//! assertion breaks and how many runs it takes; [`cover`] compares what clients can see at all with what they saw.
//!
//! The applications are those of Biswas, *Automated Formal Testing of Storage Systems and Applications*, 2021, chapter 4 (MonkeyDB):
//! four on keys and values (section 4.5.1) and four on SQL (section 4.6). `docs/applications.md` tells each of them, and what was measured.
//!
//! ```
//! use isonomy_applications::{Setup, find};
//! use isonomy_store::StoreLevel;
//!
//! let stack = find("stack").expect("there is one");
//! let setup = Setup { level: StoreLevel::Serializable, ..Setup::of(stack) };
//! let outcome = setup.run(stack)?;
//! assert!(outcome.broken.iter().all(|broken| !broken));
//! # Ok::<(), isonomy_applications::RunError>(())
//! ```

mod application;
mod coverage;
mod explore;
mod key_value;
mod measure;
mod relational;
mod run;
mod script;
mod stage;

pub use application::{Application, Assertion, Control, all, find};
pub use coverage::{Coverage, CoverageSpec, cover};
pub use explore::{Explored, explore};
pub use measure::{Measurement, Tally};
pub use run::{Outcome, RunError, Setup};
pub use stage::{Observed, Stage};
