//! Is a history of a replicated data type one that the type allows?

mod data_type;
mod history;

pub use data_type::{DataType, Methods, UnknownType};
pub use history::{History, HistoryBuilder, HistoryError, Label, LabelId, NamedOperation, OpId, Operation, ReplicaId};
