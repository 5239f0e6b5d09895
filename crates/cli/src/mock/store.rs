//! How the store behaves: arguments that all uses of it share.

use std::time::Duration;

use clap::{Args, ValueEnum};
use isonomy_sql::Engine;
use isonomy_store::{Choice, Options, Store};
use isonomy_workload::StoreLevel;

use crate::values::{duration, share};

/// Arguments of the store.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The store")]
pub(crate) struct StoreArgs {
    /// What transactions are given that do not ask for something else
    #[arg(long, short, value_name = "L", default_value = "causal")]
    level: StoreLevel,
    /// What all choices follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Which of the allowed values reads return
    #[arg(long, value_name = "C", default_value = "uniform")]
    choice: Chosen,
    /// From 0, always the newest of the allowed values, to 1, always the oldest; instead of --choice
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "choice")]
    weirdness: Option<f64>,
    /// Sessions need not see what they did themselves before
    #[arg(long)]
    no_session_order: bool,
    /// New sessions need not see what was committed before they began
    #[arg(long)]
    stale_connections: bool,
    /// Let transactions of different sessions overlap, instead of running one at a time
    #[arg(long)]
    concurrent: bool,
    /// How long a transaction waits for others to end
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    patience: Duration,
    /// Transactions wait for a random time up to this before they begin, so that their order varies
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0")]
    delay: Duration,
    /// Check keys and unique constraints against what was committed last, as a database with one server does
    #[arg(long)]
    strict_keys: bool,
    /// Statements read a cell anew each time they need it, instead of once
    #[arg(long)]
    reread: bool,
}

/// The choices that have a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Chosen {
    /// Each allowed write is as likely as any other
    Uniform,
    /// One of the latest allowed writes of each session
    Latest,
    /// The one that committed last
    Newest,
}

impl StoreArgs {
    /// How the store behaves.
    pub(crate) fn options(&self) -> Options {
        let named = match self.choice {
            Chosen::Uniform => Choice::Uniform,
            Chosen::Latest => Choice::Latest,
            Chosen::Newest => Choice::Newest,
        };
        Options {
            level: self.level,
            choice: self.weirdness.map_or(named, Choice::Weirdness),
            seed: self.seed,
            session_order: !self.no_session_order,
            fresh_sessions: !self.stale_connections,
            concurrent: self.concurrent,
            patience: self.patience,
            delay: self.delay,
        }
    }

    /// An empty database on such a store.
    pub(crate) fn engine(&self) -> Engine {
        Engine::new(Store::new(self.options()), self.sql_options())
    }

    /// How SQL becomes reads and writes.
    pub(super) fn sql_options(&self) -> isonomy_sql::Options {
        isonomy_sql::Options { reread: self.reread, strict_keys: self.strict_keys }
    }
}
