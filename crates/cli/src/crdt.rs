//! `isonomy crdt`: histories of replicated data types.
//!
//! [`check`](check) decides them, [`certify`](certify) checks the evidence again, [`generate`](generate) makes some, and
//! [`trials`](trials) takes them from the libraries that people use.

mod certify;
mod check;
mod generate;
mod json;
mod judge;
mod load;
mod text;
mod trials;
mod types;

use clap::{Args, Subcommand};

use crate::exit::{Exit, Failure};
use crate::output::Terminal;

const AFTER_HELP: &str = "\
A history is what each replica was asked, in its order, and what it answered. It says nothing of messages: the question is
whether there is a way for operations to have seen each other that explains all answers.

Examples:
  isonomy crdt types                                     which types there are, and their operations
  isonomy crdt check set.crdt                            does its type allow this history?
  isonomy crdt generate --type rga --bug lost-update | isonomy crdt check -
  isonomy crdt run --library crdts                       do the types of a library keep what they promise?

A history in notation, a replica a line:
  type: or-set
  a: add(x) contains(x)=true
  b: remove(x) contains(x)=false

docs/crdt.md has the formats and the exact meaning of each type.";

/// Arguments of `crdt`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CrdtArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide whether histories are such that their type allows them
    Check(check::CheckArgs),
    /// Check the certificate of an earlier verdict again, with code that shares nothing with the search
    Certify(certify::CertifyArgs),
    /// Make a history: of simulated replicas, with or without a bug, or of a formula
    Generate(generate::GenerateArgs),
    /// Run random tests of replicated data types of libraries, and check what their replicas answered
    Run(trials::RunArgs),
    /// List the types and their operations
    Types(types::TypesArgs),
}

pub(crate) fn run(args: &CrdtArgs, terminal: Terminal) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check::run(args, terminal),
        Command::Certify(args) => certify::run(args, terminal),
        Command::Generate(args) => generate::run(args, terminal),
        Command::Run(args) => trials::run(args, terminal),
        Command::Types(args) => types::run(args, terminal),
    }
}
