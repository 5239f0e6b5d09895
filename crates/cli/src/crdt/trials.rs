//! `isonomy crdt run`: do the replicated data types of libraries answer as their types say?
//!
//! Each trial drives a few replicas of a library at random. Its history is judged twice: without knowing who had received what, as
//! any history is; and by what had been delivered, which the trial knows. The second sees more, and is no less certain.

mod report;
mod subject;

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use isonomy_crdt::DataType;
use isonomy_replicas::{Delivery, Library, Offer, Trial};

use super::judge::Limits;
use crate::exit::{Exit, Failure};
use crate::output::{Output, Terminal};
use crate::progress::Progress;
use crate::values::duration;
use subject::Subject;

fn after_help() -> String {
    let mut libraries = String::new();
    for library in Library::ALL {
        let types: Vec<&str> = library.offers().iter().map(|offer| offer.data_type.name()).collect();
        libraries += &format!("  {:10} {}\n", library.name(), types.join(", "));
    }
    format!(
        "Replicas of one library in this process are updated, asked and synchronised at random. Their answers are checked as a history,
without knowing who had received what; the evidence is checked again; and the answers are compared with what the type says of the
updates that had in fact arrived. That finds deviations which a history alone cannot show.

Libraries, and the types that they offer:
{libraries}
Examples:
  isonomy crdt run
  isonomy crdt run --library automerge --runs 200
  isonomy crdt run --library crdts --type rga --delivery operations --out found
  isonomy crdt run --library yrs --type lww-register --repeated-values --replicas 4 --operations 60

Exit codes: 0 all as the types say; 1 some run is not; 2 could not run; 3 some run is undecided."
    )
}

/// Arguments of `crdt run`.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct RunArgs {
    /// The library; all if absent
    #[arg(long, value_name = "L")]
    library: Option<Library>,
    /// The type, or `all` that the library offers
    #[arg(long, short, value_name = "T", default_value = "all")]
    r#type: TypeChoice,
    /// Number of runs of each type
    #[arg(long, value_name = "N", default_value_t = 20)]
    runs: u64,
    /// Number of operations of a run, besides those that ask for everything in the end
    #[arg(long, value_name = "N", default_value_t = 30)]
    operations: u32,
    /// Number of replicas
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), default_value_t = 3)]
    replicas: u32,
    /// Number of objects: elements, flags, registers or counters; a list is alone
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), default_value_t = 2)]
    objects: u32,
    /// What all choices follow from; each further run takes the next seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// What replicas send to each other: their `states`, or the `operations` that the other lacks
    #[arg(long, value_name = "WHAT", value_enum, default_value = "operations")]
    delivery: Sent,
    /// Write few values, again and again, instead of a new one each time
    #[arg(long)]
    repeated_values: bool,
    /// Leave a history undecided after this time
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    timeout: Duration,
    /// Keep the histories of runs that are not as their type says, in this folder
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Print one JSON object per library and type, a line each
    #[arg(long)]
    json: bool,
}

/// `--delivery`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sent {
    States,
    Operations,
}

impl Sent {
    fn name(self) -> &'static str {
        match self {
            Sent::States => "states",
            Sent::Operations => "operations",
        }
    }
}

/// `--type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeChoice {
    All,
    One(DataType),
}

impl FromStr for TypeChoice {
    type Err = isonomy_crdt::UnknownType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "all" { Ok(TypeChoice::All) } else { text.parse().map(TypeChoice::One) }
    }
}

impl RunArgs {
    fn limits(&self) -> Limits {
        Limits { timeout: Some(self.timeout), budget: None }
    }

    fn trial(&self, library: Library, data_type: DataType, seed: u64) -> Trial {
        Trial {
            delivery: match self.delivery {
                Sent::States => Delivery::States,
                Sent::Operations => Delivery::Operations,
            },
            replicas: self.replicas,
            operations: self.operations,
            objects: self.objects,
            unique_values: !self.repeated_values,
            seed,
            ..Trial::new(library, data_type)
        }
    }

    /// The command that does one run again.
    fn again(&self, trial: &Trial) -> String {
        let mut command = format!(
            "isonomy crdt run --library {} --type {} --runs 1 --seed {} --replicas {} --operations {} --objects {} --delivery {}",
            trial.library,
            trial.data_type,
            trial.seed,
            trial.replicas,
            trial.operations,
            trial.objects,
            self.delivery.name(),
        );
        if self.repeated_values {
            command += " --repeated-values";
        }
        command
    }
}

pub(crate) fn run(args: &RunArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let asked = asked(args)?;
    if let Some(folder) = &args.out {
        create(folder)?;
    }
    let progress = Progress::applications(terminal.shows_progress(), args.runs * asked.len() as u64, "runs");
    let mut subjects = Vec::new();
    let mut out = Output::new();
    for (library, offer) in asked {
        let subject = Subject::examine(args, library, offer, &progress);
        if subject.is_err() {
            progress.end();
        }
        let subject = subject?;
        if args.json {
            progress.suspended(|| out.print(&report::json(args, &subject)))?;
        }
        subjects.push(subject);
    }
    progress.end();
    if !args.json {
        out.print(&report::text(args, &subjects, terminal))?;
    }
    Ok(subjects.iter().fold(Exit::Fine, |exit, subject| exit.and(subject.exit())))
}

/// What is to be tried.
fn asked(args: &RunArgs) -> Result<Vec<(Library, Offer)>, Failure> {
    let libraries = args.library.map_or(Library::ALL.to_vec(), |library| vec![library]);
    let of = |library: Library| library.offers().iter().map(move |&offer| (library, offer));
    let wanted = |data_type: DataType| match args.r#type {
        TypeChoice::All => true,
        TypeChoice::One(one) => one == data_type,
    };
    let asked: Vec<_> = libraries.into_iter().flat_map(of).filter(|(_, offer)| wanted(offer.data_type)).collect();
    match (args.library, args.r#type) {
        (Some(library), TypeChoice::One(data_type)) if asked.is_empty() => {
            let offers: Vec<&str> = library.offers().iter().map(|offer| offer.data_type.name()).collect();
            Err(Failure::new(format_args!("{library} offers no {data_type}; it offers {}", offers.join(", "))))
        }
        _ => Ok(asked),
    }
}

fn create(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::new(format_args!("{}: {error}", folder.display())))
}
