//! Is a history of a replicated data type one that the type allows?

mod data_type;
#[doc(hidden)]
pub mod enumerate;
mod formats;
mod history;
pub mod oracle;
pub mod reduction;
mod simulate;

pub use data_type::{DataType, Methods, UnknownType};
pub use formats::{Format, ReadError, UnknownFormat, read, write};
pub use history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation, OpId, Operation, ReplicaId};
pub use simulate::{Bug, Simulation, UnknownBug};
