//! SQL, from text to answer. One program, because linking takes longer than running.

mod changes;
mod queries;
mod support;
mod traces;
mod transactions;
