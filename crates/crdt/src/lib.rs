//! Is a history of a replicated data type one that the type allows?

mod check;
mod counterexample;
mod data_type;
mod history;
mod problem;
mod search;
mod siblings;
mod verdict;

pub use check::check;
pub use data_type::{DataType, Methods, UnknownType};
pub use history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation, OpId, Operation, ReplicaId};
pub use isonomy_solver::Budget;
pub use search::Effort;
pub use verdict::{Bound, Counterexample, Step, Verdict, Witness};
