//! Is a history of a replicated data type one that the type allows?
//!
//! A history is what each replica was asked, in its order, and what it answered. It is allowed if every operation can have seen some
//! operations, those that these saw included, such that all answers follow from what was seen; `docs/crdt.md` has the meaning of each
//! type. [`check`] decides, [`certify`] checks the evidence again, and [`explain`] tells why not.
//!
//! ```
//! use isonomy_crdt::{Budget, Effort, Verdict, certify, check, explain, read};
//!
//! let text = "type: or-set\na: add(x) add(y)\nb: contains(y)=true contains(x)=false";
//! let history = read(text.as_bytes(), None, None)?;
//! let verdict = check(&history, &mut Budget::unlimited(), &mut Effort::default());
//! assert!(certify(&history, &verdict).is_ok());
//! let Verdict::Violated(counterexample) = &verdict else { panic!("nobody removed x") };
//! assert_eq!(explain(&history, counterexample).sentences.len(), 2);
//! # Ok::<(), isonomy_crdt::ReadError>(())
//! ```
//!
//! The crate opens no files, reads no clock and prints nothing. The same calls give the same answers.

mod certify;
mod check;
mod counterexample;
mod data_type;
#[doc(hidden)]
pub mod enumerate;
mod explain;
mod formats;
mod history;
pub mod oracle;
pub mod prefix;
mod problem;
pub mod reduction;
pub mod report;
mod search;
mod siblings;
mod simulate;
mod verdict;

pub use certify::{Fault, certify};
pub use check::{check, is_too_large};
pub use data_type::{DataType, Methods, UnknownType};
pub use explain::{Arrow, ArrowKind, Explanation, Sentence, explain, name};
pub use formats::{Format, ReadError, UnknownFormat, read, write};
pub use history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation, OpId, Operation, ReplicaId};
pub use isonomy_solver::Budget;
pub use search::Effort;
pub use simulate::{Bug, Simulation, UnknownBug};
pub use verdict::{Bound, Counterexample, Step, Verdict, Witness};
