//! The arguments of each command, and the way from them to an exit code.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand};
use isonomy::{Ablation, Engine, Format};
use isonomy_cluster::Kind;
use isonomy_driver::faults::Fault;
use isonomy_workload::{Anomaly, Distribution, Length, MiniMix, Preset, StoreLevel};

use crate::ci::CiArgs;
use crate::exit::{Exit, complain};
use crate::output::{Terminal, When};
use crate::values::{LevelChoice, duration, engine, level_choice, share, size};
use crate::{
    anomalies, card, certify, check, cluster, convert, crdt, explain, generate, levels, mock, run, serve, stats,
};

const EXIT_CODES: &str = "\
Exit codes: 0 holds, or done; 1 violated; 2 could not run (usage, bad input, no place for the output); 3 undecided.
Of several results the code is that of the worst: 2 over 1 over 3 over 0. A closed pipe is no error.";

/// Which isolation does your database really give you? Checks transaction histories, and proves the answer.
#[derive(Debug, Parser)]
#[command(name = "isonomy", version, after_help = format!("\
Examples:
  isonomy run                           see it find a violation, without a database
  isonomy check history.jsonl           which levels does this history satisfy?
  isonomy check --level causal a b      do these two satisfy causal consistency?
  isonomy explain history.jsonl         why does it violate the weakest level that it violates?

{EXIT_CODES}"))]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Show no progress and no notes; answers and errors remain
    #[arg(long, short, global = true, help_heading = "Options of all commands")]
    quiet: bool,
    /// When to use colours; `auto` is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Options of all commands")]
    color: When,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide which isolation levels histories satisfy
    Check(CheckArgs),
    /// Tell why a history violates a level: the anomaly, a timeline, step by step, the usual cause
    Explain(explain::ExplainArgs),
    /// Check the certificates of earlier verdicts again, with code that shares nothing with the search
    Certify(CertifyArgs),
    /// Write a history in another format
    Convert(ConvertArgs),
    /// Tell what is in histories
    Stats(StatsArgs),
    /// Make histories, of a simulated store or of lightweight transactions
    Generate(GenerateArgs),
    /// Run a workload against a database, record what the clients saw, and check it
    Run(RunArgs),
    /// Play the classic scenarios of isolation on a database: which anomalies show at which isolation?
    Card(card::CardArgs),
    /// Serve a store that returns whatever its isolation level allows, to test applications against
    Mock(mock::MockArgs),
    /// Check histories of replicated data types (CRDTs), make some, and test libraries
    Crdt(crdt::CrdtArgs),
    /// Serve histories, checks, counterexamples and runs to a browser on this machine
    Serve(serve::ServeArgs),
    /// Start throw-away servers to run workloads against
    Cluster(ClusterArgs),
    /// List the isolation levels
    Levels(LevelsArgs),
    /// List the anomalies, or tell about one
    Anomalies(AnomaliesArgs),
}

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Without --level, every level that the history's data allows is checked: a table that ends with the strongest levels that
hold. The exit code is then that of the levels in the table, except that a level which stays undecided because the
history has no times, or because it is not about single objects, counts only if it was asked for with --level.

With --svg or --dot, one counterexample is drawn: that of the weakest level that is violated, which is what also fails the
levels above it; of several such levels, that of the first in the table. If none is violated, no file is written. With
--html it is on a page with the verdicts of all histories, which is written in any case.

Examples:
  isonomy check history.jsonl
  isonomy check --level causal --timeout 60s history.ison
  isonomy check --level rc,ra,cc --json runs/*.jsonl
  isonomy check --level si,ser history.txt
  isonomy check --level si --certificate proof.jsonl history.jsonl; isonomy certify history.jsonl proof.jsonl
  isonomy check --svg why.svg history.jsonl
  isonomy check --html why.html runs/*.jsonl
  isonomy check --level si --junit results.xml --sarif results.sarif --github runs/*.jsonl
  zcat history.jsonl.gz | isonomy check --all-anomalies -

{EXIT_CODES}"))]
pub(crate) struct CheckArgs {
    /// Levels to check, or `all`; `isonomy levels` lists them
    #[arg(long, short, value_name = "L[,L…]", value_delimiter = ',', value_parser = level_choice)]
    pub(crate) level: Vec<LevelChoice>,
    /// Format of the histories; by their content if absent
    #[arg(long, short, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Print one JSON object per history and level, a line each
    #[arg(long)]
    pub(crate) json: bool,
    /// Leave a level of a history undecided after this time, such as 500ms, 60s, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// List all anomalous patterns of causal consistency, not only the first
    #[arg(long)]
    pub(crate) all_anomalies: bool,
    /// How many instances of each pattern to tell
    #[arg(long, value_name = "N", default_value_t = 5, requires = "all_anomalies")]
    pub(crate) max: usize,
    /// Write the evidence of each verdict to a file, for `isonomy certify`; for one history
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Draw why the weakest of the levels that are violated is violated; for one history
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// The same drawing as a graph for Graphviz; for one history
    #[arg(long, value_name = "FILE")]
    pub(crate) dot: Option<PathBuf>,
    /// Write a page to open in a browser: the verdicts, and for each history the counterexample of the weakest level that is
    /// violated, to step through
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ci: CiArgs,
    /// Drop session order from all levels
    #[arg(long)]
    pub(crate) no_session_order: bool,
    /// By how much clocks may differ, for levels that speak of real time
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0")]
    pub(crate) clock_drift: Duration,
    /// Refuse histories that need more memory, all those checked at a time together; 80 % of what is free if absent
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) memory: Option<usize>,
    /// How many histories to check at a time; as many as there are cores if absent
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// What decides the levels from prefix up: `polygraph`, or `frontier`, the search of dbcop
    #[arg(long, value_name = "E", value_parser = engine, default_value = "polygraph", help_heading = "For research")]
    pub(crate) engine: Engine,
    /// Files or directories of logs; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    pub(crate) histories: Vec<PathBuf>,
    // The last, for its heading would hold for whatever follows.
    #[command(flatten)]
    pub(crate) ablation: AblationArgs,
}

/// Ingredients to leave out. No verdict depends on them.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "For research")]
pub(crate) struct AblationArgs {
    /// Make all constraints at once, as PolySI and Viper do, instead of guessing an order
    #[arg(long)]
    pub(crate) no_guess: bool,
    /// Do not use reachability to rule out orders of versions
    #[arg(long)]
    pub(crate) no_prune: bool,
    /// With --no-guess: one constraint for each read and other writer, instead of one for each pair of transactions
    #[arg(long)]
    pub(crate) no_coalesce: bool,
    /// With --no-guess: do not conclude that a read-modify-write comes right after the version it read
    #[arg(long)]
    pub(crate) no_rmw_inference: bool,
}

impl From<AblationArgs> for Ablation {
    fn from(args: AblationArgs) -> Self {
        Ablation {
            guess: !args.no_guess,
            prune: !args.no_prune,
            coalesce: !args.no_coalesce,
            rmw_inference: !args.no_rmw_inference,
        }
    }
}

/// Arguments of `certify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  isonomy check --level causal --certificate proof.jsonl history.jsonl
  isonomy certify history.jsonl proof.jsonl

Exit codes: 0 all certified; 1 one is rejected, for its evidence does not show what it claims; 2 unreadable, or of another
history.")]
pub(crate) struct CertifyArgs {
    /// The history; `-` is standard input
    pub(crate) history: PathBuf,
    /// The certificates, as `check --certificate` wrote them
    pub(crate) file: PathBuf,
    /// Format of the history; by its content if absent
    #[arg(long, short, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Print one JSON object per certificate, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Written are jsonl (.jsonl), hist (.hist), binary (.ison) and text (.txt).

Examples:
  isonomy convert history.edn -o history.jsonl
  isonomy convert history.jsonl --to hist
  zcat big.jsonl.gz | isonomy convert - -o big.ison

Exit codes: 0 done; 2 could not run.")]
pub(crate) struct ConvertArgs {
    /// The history; `-` is standard input
    pub(crate) input: PathBuf,
    /// Where to write; standard output if absent
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Format of the input; by its content if absent
    #[arg(long, value_name = "F")]
    pub(crate) from: Option<Format>,
    /// Format of the output; by the name of the file if absent
    #[arg(long, value_name = "F")]
    pub(crate) to: Option<Format>,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  isonomy stats history.jsonl
  isonomy stats --json runs/*.ison

Exit codes: 0 done; 2 a history could not be read.")]
pub(crate) struct StatsArgs {
    /// Files or directories of logs; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    pub(crate) histories: Vec<PathBuf>,
    /// Format of the histories; by their content if absent
    #[arg(long, short, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Print one JSON object per history, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `cluster`.
#[derive(Debug, Args)]
#[command(after_help = cluster::after_help())]
pub(crate) struct ClusterArgs {
    /// Which servers
    #[arg(value_name = "KIND", hide_possible_values = true)]
    pub(crate) kind: Kind,
}

/// Arguments of `levels`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  isonomy levels\n  isonomy levels --json")]
pub(crate) struct LevelsArgs {
    /// Print one JSON object per level, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `anomalies`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  isonomy anomalies\n  isonomy anomalies lost-update\n  isonomy anomalies G1a --json\n  isonomy anomalies --html gallery.html"
)]
pub(crate) struct AnomaliesArgs {
    /// A name, or what others call it
    pub(crate) name: Option<String>,
    /// Print one JSON object per anomaly, a line each
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page of all anomalies to open in a browser, each with a small history that shows it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["name", "json"])]
    pub(crate) html: Option<PathBuf>,
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  isonomy generate history --preset c4 --level causal -o history.ison
  isonomy generate lwt --sessions 2000 --txns 20000 -o lwt.ison")]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) what: Generated,
}

/// What can be generated.
#[derive(Debug, Subcommand)]
pub(crate) enum Generated {
    /// A history of a simulated store, which holds at the store's level by construction
    History(HistoryArgs),
    /// A history of lightweight transactions (inserts and compare-and-sets), which is linearizable by construction
    Lwt(LightweightArgs),
}

/// Arguments of `generate history`.
#[derive(Debug, Args)]
#[command(after_help = generate::after_help())]
pub(crate) struct HistoryArgs {
    /// The workload to start from; what follows changes it
    #[arg(long, short, value_name = "P", default_value = "polysi")]
    pub(crate) preset: Preset,
    /// Number of sessions
    #[arg(long, value_name = "N")]
    pub(crate) sessions: Option<u32>,
    /// Number of transactions, in all sessions together
    #[arg(long, value_name = "N")]
    pub(crate) txns: Option<u64>,
    /// Events per transaction: 15, 1..4, or 15/150:0.1 (a tenth has 150)
    #[arg(long, value_name = "N|A..B")]
    pub(crate) events: Option<Length>,
    /// Number of keys; of an application, its scale: warehouses, customers, accounts, users, telephones or pages
    #[arg(long, value_name = "N")]
    pub(crate) keys: Option<u64>,
    /// Share of reads
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) reads: Option<f64>,
    /// Which mini-transactions, with weights: R1W1=3,R1=1, or all, reference, jepsen, single-access
    #[arg(long, value_name = "MIX")]
    pub(crate) shapes: Option<MiniMix>,
    /// How popular keys are: uniform, zipfian[:E], hotspot[:K/O], hotspot:one/O, exponential[:R]
    #[arg(long, value_name = "D")]
    pub(crate) distribution: Option<Distribution>,
    /// What the store promises
    #[arg(long, short, value_name = "L", default_value = "snapshot-isolation")]
    pub(crate) level: StoreLevel,
    /// Plant an anomaly, once, in transactions of its own
    #[arg(long, value_name = "ANOMALY")]
    pub(crate) plant: Option<Anomaly>,
    /// Record times: `points` (start and finish), or `bounds` (what a client would know)
    #[arg(long, value_name = "DETAIL", num_args = 0..=1, require_equals = true, default_missing_value = "points")]
    pub(crate) times: Option<generate::Detail>,
    /// By how much the clock of a session may be off
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0")]
    pub(crate) clock_skew: Duration,
    /// Record attempts that aborted, too
    #[arg(long)]
    pub(crate) aborted: bool,
    /// Share of attempts that the client takes back; implies --aborted
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub(crate) rollback: f64,
    /// Share of transactions whose outcome the client never learns
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub(crate) indeterminate: f64,
    /// How many transactions are open at a time; one per session if absent
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<u32>,
    /// How many of the last commits a transaction may miss, where the level allows it
    #[arg(long, value_name = "N")]
    pub(crate) lag: Option<u32>,
    /// What all choices follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Format; by the name of the file if absent, else jsonl
    #[arg(long, short, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Where to write; standard output if absent
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `generate lwt`.
#[derive(Debug, Args)]
#[command(after_help = generate::lightweight::AFTER_HELP)]
pub(crate) struct LightweightArgs {
    /// Number of sessions
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) sessions: u32,
    /// Number of transactions, in all sessions together, the inserts among them
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub(crate) txns: u64,
    /// Share of the sessions that run a transaction at the same time; 0 for one after the other
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.5)]
    pub(crate) concurrent: f64,
    /// Number of keys, each with a chain of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) keys: u64,
    /// Leave out one compare-and-set of each batch, on which another builds: the history is then not linearizable
    #[arg(long)]
    pub(crate) missing_link: bool,
    /// Share of operations that fail, and are recorded as reads of what they found
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub(crate) failed: f64,
    /// Share of operations whose outcome the client never learns; half of them take effect
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub(crate) indeterminate: f64,
    /// What all choices follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Format; by the name of the file if absent, else jsonl
    #[arg(long, short, value_name = "F")]
    pub(crate) format: Option<Format>,
    /// Where to write; standard output if absent
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = run::after_help())]
pub(crate) struct RunArgs {
    /// The database; several times for the nodes of one; or `cluster:KIND`. Without it, a demonstration
    #[arg(long, value_name = "URL")]
    pub(crate) db: Vec<String>,
    /// The isolation that the database is asked for, in its own words; what it gives by default if absent
    #[arg(long, value_name = "NAME", requires = "db")]
    pub(crate) isolation: Option<String>,
    /// Levels to check, or `all`; what the documentation of the database promises for this isolation if absent
    #[arg(long, short, value_name = "L[,L]", value_delimiter = ',', value_parser = level_choice)]
    pub(crate) level: Vec<LevelChoice>,
    /// The workload, as for `generate history --preset`; small transactions on few keys if absent
    #[arg(long, short, value_name = "PRESET")]
    pub(crate) workload: Option<Preset>,
    /// Number of sessions, each a client with a connection of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sessions: Option<u32>,
    /// Number of transactions that are to commit, in all sessions together
    #[arg(long, value_name = "N")]
    pub(crate) txns: Option<u64>,
    /// Begin no transaction after this time; without --txns, as many as fit
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) duration: Option<Duration>,
    /// The longest pause between transactions
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0")]
    pub(crate) think: Duration,
    /// The longest pause between the events of a transaction, to let others come between
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) delay: Option<Duration>,
    /// Number of keys
    #[arg(long, value_name = "N")]
    pub(crate) keys: Option<u64>,
    /// What all choices follow from, but those of the database and of the scheduler; each further run takes the next seed
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) seed: u64,
    /// Number of runs; 1 if absent, with --until as many as it takes
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<NonZeroUsize>,
    /// Stop after the first run that violates a level that is checked
    #[arg(long, value_name = "WHAT")]
    pub(crate) until: Option<run::Until>,
    /// Break things on purpose: cut, partition, delay, mute (connections); kill, pause (servers of `cluster:KIND`)
    #[arg(long, value_name = "F[,F]", value_delimiter = ',')]
    pub(crate) faults: Vec<Fault>,
    /// The time between faults, on average
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2s")]
    pub(crate) fault_every: Duration,
    /// How long a fault lasts
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "1s")]
    pub(crate) fault_lasting: Duration,
    /// Leave a level of a history undecided after this time
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// Keep each run in a folder of its own here: history, report, seed, versions, command line
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Keep the last history; the format is by the name of the file, else jsonl
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Print one JSON object per run, and one per verdict as `check` does, a line each
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as a page
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ci: CiArgs,
}

/// Reads the arguments, runs the command, and says how it ended.
pub(crate) fn dispatch() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let terminal = Terminal::new(cli.quiet, cli.color);
    let ended = match &cli.command {
        Command::Check(args) => check::run(args, terminal),
        Command::Explain(args) => explain::run(args, terminal),
        Command::Certify(args) => certify::run(args, terminal),
        Command::Convert(args) => convert::run(args, terminal),
        Command::Stats(args) => stats::run(args, terminal),
        Command::Generate(args) => match &args.what {
            Generated::History(args) => generate::run(args, terminal),
            Generated::Lwt(args) => generate::lightweight::run(args, terminal),
        },
        Command::Run(args) => run::run(args, terminal),
        Command::Card(args) => card::run(args, terminal),
        Command::Mock(args) => mock::run(args, terminal),
        Command::Crdt(args) => crdt::run(args, terminal),
        Command::Serve(args) => serve::run(args, terminal),
        Command::Cluster(args) => cluster::run(args, terminal),
        Command::Levels(args) => levels::run(args, terminal),
        Command::Anomalies(args) => anomalies::run(args, terminal),
    };
    let exit = ended.unwrap_or_else(|failure| {
        failure.report(terminal.err);
        Exit::CouldNotRun
    });
    exit.into()
}

/// Help, the version, or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        let colour = Terminal::new(false, When::Auto).err.is_coloured();
        let text = error.render();
        // Without a command the text is the help, not a message.
        let who = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand { "" } else { "isonomy: " };
        complain(&if colour { format!("{who}{}", text.ansi()) } else { format!("{who}{text}") });
        return Exit::CouldNotRun.into();
    }
    match error.print() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("isonomy: error: standard output: {error}\n"));
            Exit::CouldNotRun.into()
        }
        _ => Exit::Fine.into(),
    }
}
