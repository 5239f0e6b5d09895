//! `isonomy mock`: a database for programs under test, which gives its isolation level and rarely more.

mod bench;
mod exec;
mod record;
mod serve;
mod store;

use clap::{Args, Subcommand};

use crate::exit::{Exit, Failure};
use crate::output::Terminal;
use bench::BenchArgs;
use exec::ExecArgs;
use serve::ServeArgs;
use store::StoreArgs;

const AFTER_HELP: &str = "\
The server speaks the protocols of PostgreSQL and MySQL, and HTTP with JSON; each connection is a session. Reads return
whatever the level allows, not only what is newest: a program that is wrong under this level shows it within a few runs.
All choices follow from the seed. A session may ask for another level with SET TRANSACTION ISOLATION LEVEL.

Transactions run one at a time: one that begins waits until the others have ended, at most for --patience.

Levels: read-committed, read-atomic, causal, prefix, snapshot-isolation, serializable, and more; see `isonomy levels`.

Examples:
  isonomy mock                                                  postgres://isonomy@127.0.0.1:5433/isonomy
  isonomy mock --level read-committed --mysql 127.0.0.1:3307
  isonomy mock --pg 127.0.0.1:0 --http 127.0.0.1:8080 --seed 7 --record runs/seven
  isonomy mock --level snapshot-isolation --concurrent --weirdness 0.8
  psql postgres://isonomy@127.0.0.1:5433/isonomy

Ctrl-C ends the server: connections are closed, the record is completed. docs/mock.md tells more.

Exit codes: 0 done; 2 could not run.";

/// Arguments of `mock`. What it does besides serving is in subcommands, which share the arguments of the store.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(crate) struct MockArgs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    store: StoreArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a command again and again, each time on a fresh store, and find the reads that break it
    #[command(after_help = exec::AFTER_HELP)]
    Exec(ExecArgs),
    /// Run applications on the store, and count how soon what they assert is broken
    Bench(BenchArgs),
}

pub(crate) fn run(args: &MockArgs, terminal: Terminal) -> Result<Exit, Failure> {
    match &args.command {
        Some(Command::Exec(args)) => exec::run(args, terminal),
        Some(Command::Bench(args)) => bench::run(args, terminal),
        None => serve::run(&args.serve, &args.store, terminal),
    }
}
