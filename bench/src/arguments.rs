//! The arguments.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::inputs::Input;
use crate::replicated::Case;
use crate::sets::{Level, Set, Size, Study};

/// Where peers are described unless told otherwise.
pub(crate) const PEERS: &str = "bench/peers.conf";

/// Runs `isonomy` beside other checkers: CPU time, peak memory, and whether the verdicts agree.
#[derive(Debug, Parser)]
#[command(
    name = "isonomy-bench",
    version,
    args_override_self = true,
    after_help = "\
The table goes to standard output, row by row. Run it from the root of the repository.

Exit codes: 0 all verdicts agree; 1 some disagree, or isonomy gave none; 2 could not run."
)]
pub(crate) struct Arguments {
    /// Also the large histories: up to ten million transactions, gigabytes of files, tens of minutes with peers
    #[arg(long)]
    pub(crate) full: bool,
    /// Only a few tiny histories, to see that all is in place
    #[arg(long, conflicts_with = "full")]
    pub(crate) smoke: bool,
    /// Only histories whose name contains this; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) only: Vec<String>,
    /// What to find out
    #[arg(long, value_name = "STUDY", default_value = "comparison")]
    pub(crate) study: Study,
    /// Levels to check, of those at which each history is of interest; `si` and `ser` for short
    #[arg(long, alias = "level", value_name = "L[,L…]", value_delimiter = ',', default_values_t = Level::ALL)]
    pub(crate) levels: Vec<Level>,
    /// How often to run each tool; the table has the medians
    #[arg(long, value_name = "N", default_value = "3")]
    pub(crate) repeats: NonZeroU32,
    /// CPU seconds that a run may take; in wall time it may take twice as long, for others may use the machine
    #[arg(long, value_name = "SECONDS", default_value = "180")]
    timeout: NonZeroU32,
    /// Describes the peers; bench/peers.conf if absent. Those that are not installed are left out
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,
    /// Run no peers
    #[arg(long, conflicts_with = "peers")]
    pub(crate) no_peers: bool,
    /// The program to measure; the `isonomy` beside this program if absent
    #[arg(long, value_name = "FILE")]
    pub(crate) isonomy: Option<PathBuf>,
    /// Where histories are kept between runs
    #[arg(long, value_name = "DIRECTORY", default_value = "target/bench-data")]
    pub(crate) data: PathBuf,
    /// Make the histories again, after a change of the generator
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Keep the table, a note on the machine, and the numbers of each run, under bench/results/<date>/
    #[arg(long)]
    pub(crate) keep: bool,
    /// Where --keep puts them
    #[arg(long, value_name = "DIRECTORY", default_value = "bench/results", hide = true)]
    pub(crate) results: PathBuf,
    /// The name of the files of --keep; that of the study if absent
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A remark for the kept results, such as the versions of the peers
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// List the histories and do nothing else
    #[arg(long)]
    pub(crate) list: bool,
    /// Make this history and do nothing else; see `data.rs` for the reason
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) generate: Option<String>,
    /// Check this simulated history and do nothing else
    #[arg(long, value_name = "NAME", hide = true)]
    pub(crate) simulate: Option<String>,
    /// The seed of --simulate
    #[arg(long, default_value = "0", hide = true, requires = "simulate")]
    pub(crate) seed: u64,
    /// Write it as peers want it, after it was made
    #[arg(long = "as", value_name = "INPUT", hide = true, requires = "generate", value_parser = input)]
    pub(crate) input: Option<Input>,
}

impl Arguments {
    /// The histories that are asked for.
    pub(crate) fn sets(&self) -> Vec<Set> {
        let mut sets = Set::all();
        sets.retain(|set| set.study == self.study && set.levels.iter().any(|level| self.levels.contains(level)));
        sets.retain(|set| self.wants(set.size, &set.name));
        sets
    }

    /// The histories of replicated data types that are asked for.
    pub(crate) fn cases(&self) -> Vec<Case> {
        let mut cases = if self.study == Study::Crdt { Case::all() } else { Vec::new() };
        cases.retain(|case| self.wants(case.size, &case.name));
        cases
    }

    fn wants(&self, size: Size, name: &str) -> bool {
        let wanted = match size {
            Size::Smoke => self.smoke,
            Size::Default => !self.smoke,
            Size::Full => self.full,
        };
        wanted && (self.only.is_empty() || self.only.iter().any(|text| name.contains(text.as_str())))
    }

    /// The name of the files that are kept.
    pub(crate) fn name(&self) -> String {
        let study = || self.study.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        self.name.clone().unwrap_or_else(study)
    }

    /// The levels at which to check a history.
    pub(crate) fn levels_of(&self, set: &Set) -> Vec<Level> {
        set.levels.iter().copied().filter(|level| self.levels.contains(level)).collect()
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout.get().into())
    }
}

fn input(name: &str) -> Result<Input, String> {
    Input::ALL.into_iter().find(|input| input.name() == name).ok_or_else(|| format!("there is no input `{name}`"))
}
