//! `isonomy crdt generate`: histories of simulated replicas, and of formulas.

use std::path::{Path, PathBuf};

use clap::Args;
use isonomy_crdt::reduction::{self, Formula};
use isonomy_crdt::{Bug, DataType, Format, History, Simulation, write};

use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::output::{Terminal, count};
use crate::values::share;

/// With more variables, nobody waits for all assignments to be tried.
const FEW_VARIABLES: usize = 20;

const AFTER_HELP: &str = "\
Replicas answer from what they hold, and send their updates to each other, which arrive in causal order; so the history holds,
unless a bug is planted. Whether the bug shows depends on the seed.

Bugs:
  lost-update          one replica silently drops some updates of others
  non-causal-delivery  updates arrive in any order
  wrong-tie-break      one replica decides conflicts the other way; not for counters
  tombstone-loss       one replica forgets some removals; not for registers and counters

With --one-in-three the history is a random formula of clauses of three literals, of which exactly one is to be true: it holds
if and only if the formula is satisfiable. Checking such histories is as hard as it gets.

Examples:
  isonomy crdt generate
  isonomy crdt generate --type rga --replicas 5 --operations 1000 -o list.jsonl
  isonomy crdt generate --type mv-register --bug wrong-tie-break --seed 3 | isonomy crdt check -
  isonomy crdt generate --type counter --one-in-three 20,14 | isonomy crdt check --timeout 10s -

Exit codes: 0 done; 2 could not run.";

/// Arguments of `crdt generate`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct GenerateArgs {
    /// The type; `isonomy crdt types` lists them
    #[arg(long, short, value_name = "T", default_value = "or-set")]
    r#type: DataType,
    /// Number of replicas
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 3)]
    replicas: u32,
    /// Number of operations, on all replicas together
    #[arg(long, value_name = "N", default_value_t = 100)]
    operations: u32,
    /// Number of objects; an array is alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), default_value_t = 8)]
    objects: u32,
    /// Share of queries among the operations; 0.05 for arrays and 0.6 for others if absent
    #[arg(long, value_name = "SHARE", value_parser = share)]
    query_share: Option<f64>,
    /// How likely a replica hears of each other one before each of its operations
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.5)]
    delivery: f64,
    /// Write few values to registers, again and again, instead of a new one each time
    #[arg(long)]
    repeated_values: bool,
    /// What is wrong with the replicas
    #[arg(long, value_name = "BUG")]
    bug: Option<Bug>,
    /// A formula with so many variables and clauses, instead of replicas
    #[arg(
        long,
        value_name = "VARIABLES,CLAUSES",
        value_parser = variables_and_clauses,
        conflicts_with_all = ["replicas", "operations", "objects", "query_share", "delivery", "repeated_values", "bug"],
    )]
    one_in_three: Option<(usize, usize)>,
    /// What all choices follow from
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Format, jsonl or notation; by the name of the file if absent, else notation
    #[arg(long, short, value_name = "F")]
    format: Option<Format>,
    /// Where to write; standard output if absent
    #[arg(long, short, value_name = "FILE", visible_alias = "out")]
    output: Option<PathBuf>,
}

fn variables_and_clauses(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once(',').and_then(|(variables, clauses)| {
        let number = |text: &str| text.trim().parse::<u32>().ok().map(|number| number as usize);
        Some((number(variables).filter(|&variables| variables >= 3)?, number(clauses)?))
    });
    parsed.ok_or_else(|| "expected a number of variables, from 3 on, and one of clauses, such as 20,14".into())
}

pub(crate) fn run(args: &GenerateArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let (history, note) = match args.one_in_three {
        Some((variables, clauses)) => formula(args, variables, clauses)?,
        None => simulated(args)?,
    };
    let format = args.format.or_else(|| by_name(args.output.as_deref()?)).unwrap_or(Format::Notation);
    let written = Target::new(args.output.as_deref()).write(|out| write(&history, format, out).map_err(Problem::Io))?;
    if written.is_some() {
        terminal.note(&note);
    }
    Ok(Exit::Fine)
}

fn by_name(path: &Path) -> Option<Format> {
    (path.extension()? == "jsonl").then_some(Format::Jsonl)
}

fn simulated(args: &GenerateArgs) -> Result<(History, String), Failure> {
    let usual = Simulation::new(args.r#type, args.operations as usize, args.seed);
    if let Some(bug) = args.bug.filter(|bug| !bug.applies_to(args.r#type)) {
        let bugs: Vec<&str> = Bug::ALL.into_iter().filter(|bug| bug.applies_to(args.r#type)).map(Bug::name).collect();
        return Err(Failure::new(format_args!(
            "type {} cannot have bug {bug}; it can have {}",
            args.r#type,
            bugs.join(", ")
        )));
    }
    let history = Simulation {
        replicas: args.replicas as usize,
        objects: args.objects as usize,
        query_share: args.query_share.unwrap_or(usual.query_share),
        delivery: args.delivery,
        bug: args.bug,
        unique_values: !args.repeated_values,
        ..usual
    }
    .run();
    let size = [count(history.replicas().len(), "replica"), count(history.len(), "operation")].join(", ");
    let bug = args.bug.map(|bug| format!(", bug {bug}")).unwrap_or_default();
    let note = format!("{}: {size}{bug}, seed {}", args.r#type, args.seed);
    Ok((history, note))
}

fn formula(args: &GenerateArgs, variables: usize, clauses: usize) -> Result<(History, String), Failure> {
    let formula = Formula::random(variables, clauses, true, args.seed);
    let history = reduction::history(&formula, args.r#type).ok_or_else(|| {
        Failure::new(format_args!("type {} has no such histories: it is not hard to check", args.r#type))
            .hint("name another with --type")
    })?;
    let satisfiable = match variables {
        ..=FEW_VARIABLES if formula.satisfiable() => "is satisfiable, so the history holds",
        ..=FEW_VARIABLES => "is not satisfiable, so the history is violated",
        _ => "is too large to try all assignments",
    };
    let size = [count(variables, "variable"), count(clauses, "clause")].join(", ");
    let note = format!(
        "{}: {}; a formula with {size}, seed {}, {satisfiable}",
        args.r#type,
        count(history.len(), "operation"),
        args.seed
    );
    Ok((history, note))
}
