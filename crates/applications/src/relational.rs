//! Applications on SQL.

mod client;
mod smallbank;
mod tpcc;
mod voter;
mod wikipedia;

pub(crate) use smallbank::SmallBank;
pub(crate) use tpcc::TpcC;
pub(crate) use voter::Voter;
pub(crate) use wikipedia::Wikipedia;
