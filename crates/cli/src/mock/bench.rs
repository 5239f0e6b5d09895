//! `isonomy mock bench`: applications on the mock store, and how soon weak isolation breaks what they assert.

mod report;

use clap::Args;
use isonomy_applications::{Application, Coverage, CoverageSpec, Measurement, Setup, all, cover, find};
use isonomy_store::StoreLevel;

use crate::exit::{Exit, Failure};
use crate::output::{Output, Terminal};
use crate::progress::Progress;
use report::{AssertionReport, CoverageReport};

#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(crate) struct BenchArgs {
    /// The applications, or `all`
    #[arg(long, value_name = "A[,A…]", value_delimiter = ',', value_parser = application, default_value = "all")]
    app: Vec<Chosen>,
    /// The levels that the store gives, one after the other
    #[arg(
        long,
        short,
        value_name = "L[,L…]",
        value_delimiter = ',',
        default_value = "read-committed,causal,serializable"
    )]
    level: Vec<StoreLevel>,
    /// Numbers of sessions, one after the other
    #[arg(long, value_name = "N[,N…]", value_delimiter = ',', default_value = "3", value_parser = clap::value_parser!(u32).range(1..=10))]
    sessions: Vec<u32>,
    /// How many operations a session has; as many as the application usually has if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    operations: Option<u32>,
    /// How many runs there are of each application at each level with each number of sessions; with --coverage, of each harness
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: u64,
    /// All choices follow from it; each further run takes the next seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count what clients can see, and how much of it they see, instead of assertions; only for applications on keys and values
    #[arg(long)]
    coverage: bool,
    /// With --coverage: how many harnesses there are, each of 2 or 3 sessions with 2 to 4 random operations
    #[arg(long, value_name = "N", default_value_t = 50, requires = "coverage")]
    harnesses: u64,
    /// With --coverage: how many runs of a harness are explored at most to find all that clients can see
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "coverage")]
    limit: u64,
    /// Print one JSON object per assertion, level and number of sessions, a line each
    #[arg(long)]
    json: bool,
}

/// One item of `--app`.
#[derive(Clone, Debug)]
enum Chosen {
    All,
    One(&'static dyn Application),
}

fn after_help() -> String {
    let applications: String =
        all().iter().map(|application| format!("  {:15} {}\n", application.name(), application.about())).collect();
    format!(
        "Each run has other operations, another order of transactions and other choices of the store. After it the application's assertions are
checked. All of them hold if transactions are serializable. `runs to failure` is how many runs it takes on average until one is broken.

Applications:
{applications}
Examples:
  isonomy mock bench
  isonomy mock bench --app stack,twitter --level causal --runs 10000
  isonomy mock bench --app tpcc --level rc,cc --sessions 2,3
  isonomy mock bench --app shopping-cart --coverage --level causal,serializable --runs 2000

Exit codes: 0 done; 1 an assertion was broken at a level at which none can be; 2 could not run."
    )
}

fn application(name: &str) -> Result<Chosen, String> {
    if name == "all" {
        return Ok(Chosen::All);
    }
    find(name).map(Chosen::One).ok_or_else(|| {
        let known: Vec<&str> = all().iter().map(|application| application.name()).collect();
        format!("no such application; known are {}, all", known.join(", "))
    })
}

/// The applications that were asked for.
fn chosen(args: &BenchArgs) -> Vec<&'static dyn Application> {
    let mut applications: Vec<&'static dyn Application> = Vec::new();
    for choice in &args.app {
        match choice {
            Chosen::All => applications.extend(all()),
            Chosen::One(application) => applications.push(*application),
        }
    }
    applications
}

pub(crate) fn run(args: &BenchArgs, terminal: Terminal) -> Result<Exit, Failure> {
    if args.coverage { coverage(args, terminal) } else { assertions(args, terminal) }
}

fn assertions(args: &BenchArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let applications = chosen(args);
    let setups = applications.len() * args.level.len() * args.sessions.len();
    let progress = Progress::applications(terminal.shows_progress(), setups as u64 * args.runs, "runs");
    let mut out = Output::new();
    let mut exit = Exit::Fine;
    for application in applications {
        let mut reports = Vec::new();
        for &level in &args.level {
            for &sessions in &args.sessions {
                let setup = Setup { level, sessions: sessions as usize, ..Setup::of(application) };
                let setup = Setup { operations: args.operations.map_or(setup.operations, |n| n as usize), ..setup };
                progress.doing(format!("{} at {level}", application.name()));
                let measurement = measure(application, &setup, args, &progress)?;
                reports.extend(AssertionReport::all(application, &setup, &measurement, args.seed));
            }
        }
        if reports.iter().any(|report| report.broken > 0 && is_serializable(report.level)) {
            exit = Exit::Violated;
        }
        let text = if args.json { report::lines(&reports) } else { report::table(application, &reports, terminal.out) };
        progress.suspended(|| out.print(&text))?;
    }
    progress.end();
    Ok(exit)
}

fn measure(
    application: &dyn Application,
    setup: &Setup,
    args: &BenchArgs,
    progress: &Progress,
) -> Result<Measurement, Failure> {
    let mut measurement = Measurement::new(application);
    for run in 0..args.runs {
        measurement.run(application, setup, args.seed.wrapping_add(run)).map_err(Failure::new)?;
        progress.advance(1);
    }
    Ok(measurement)
}

/// Whether no assertion can be broken.
fn is_serializable(level: &str) -> bool {
    [StoreLevel::Serializable, StoreLevel::StrictSerializable].iter().any(|serializable| serializable.name() == level)
}

fn coverage(args: &BenchArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let applications: Vec<_> = chosen(args).into_iter().filter(|application| application.is_small()).collect();
    if applications.is_empty() {
        return Err(Failure::new("none of these applications is small enough to explore all that can happen")
            .hint("those on keys and values are: stack, courseware, shopping-cart, twitter"));
    }
    let total = applications.len() as u64 * args.level.len() as u64 * args.harnesses;
    let progress = Progress::applications(terminal.shows_progress(), total, "harnesses");
    let mut out = Output::new();
    let mut reports = Vec::new();
    for application in applications {
        let mut levels = Vec::new();
        for &level in &args.level {
            let spec = CoverageSpec { level, runs: args.runs, limit: args.limit, ..CoverageSpec::default() };
            progress.doing(format!("{} at {level}", application.name()));
            let mut harnesses = Vec::new();
            for harness in 0..args.harnesses {
                harnesses.push(cover(application, &spec, args.seed.wrapping_add(harness)).map_err(Failure::new)?);
                progress.advance(1);
            }
            levels.push((spec, harnesses));
        }
        // Averages over different harnesses say nothing about levels.
        let is_complete = |harness: usize| levels.iter().all(|(_, harnesses)| harnesses[harness].complete);
        let complete: Vec<bool> = (0..args.harnesses as usize).map(is_complete).collect();
        let report = |(spec, harnesses): &(CoverageSpec, Vec<Coverage>)| {
            CoverageReport::new(application, spec, harnesses, &complete, args.seed)
        };
        let of_levels: Vec<CoverageReport> = levels.iter().map(report).collect();
        if args.json {
            progress.suspended(|| out.print(&report::lines(&of_levels)))?;
        }
        reports.extend(of_levels);
    }
    progress.end();
    if !args.json {
        out.print(&report::coverage_table(&reports, terminal.out))?;
    }
    Ok(Exit::Fine)
}
