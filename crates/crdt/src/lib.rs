//! Is a history of a replicated data type one that the type allows?

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
pub use check::check;
pub use data_type::{DataType, Methods, UnknownType};
pub use explain::{Arrow, ArrowKind, Explanation, Sentence, explain, name};
pub use formats::{Format, ReadError, UnknownFormat, read, write};
pub use history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation, OpId, Operation, ReplicaId};
pub use isonomy_solver::Budget;
pub use search::Effort;
pub use simulate::{Bug, Simulation, UnknownBug};
pub use verdict::{Bound, Counterexample, Step, Verdict, Witness};
