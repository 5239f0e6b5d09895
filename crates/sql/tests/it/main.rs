//! SQL, from text to answer. One program, because linking takes longer than running.

mod changes;
mod clients;
mod prepared;
mod queries;
mod soup;
mod sqlite;
mod support;
mod traces;
mod transactions;
