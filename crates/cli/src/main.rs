//! The command `isonomy`: which isolation does your database really give you?
//!
//! This crate alone knows arguments, terminals and exit codes. One file per command; [`exit`] says how a command ends,
//! [`output`] and [`files`] where its answers go, [`load`] where histories come from.

use std::process::ExitCode;

mod anomalies;
mod args;
mod card;
mod certify;
mod check;
mod ci;
mod cluster;
mod convert;
mod crdt;
mod exit;
mod explain;
mod files;
mod generate;
mod levels;
mod load;
mod markup;
mod mock;
mod output;
mod parent;
mod progress;
mod run;
mod serve;
mod stats;
mod system;
mod values;

fn main() -> ExitCode {
    parent::watch();
    args::dispatch()
}
