//! `isonomy generate history`: histories of a simulated store.

use isonomy::{Format, formats};
use isonomy_workload::{
    Anomaly, GenerateError, HistorySpec, Hooks, Length, MiniShape, Preset, Shape, StoreLevel, TimeDetail,
};

use crate::args::HistoryArgs;
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::output::{Terminal, count};
use crate::progress::Progress;

pub(crate) mod lightweight;

/// Which times are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Detail {
    Points,
    Bounds,
}

/// What there is to choose from.
pub(crate) fn after_help() -> String {
    let presets: String =
        Preset::ALL.iter().map(|preset| format!("  {:12} {}\n", preset.name(), preset.description())).collect();
    let mut shapes = String::new();
    for chunk in MiniShape::ALL.chunks(10) {
        let names: Vec<&str> = chunk.iter().map(|shape| shape.name()).collect();
        shapes += &format!("  {}\n", names.join(", "));
    }
    let levels: Vec<&str> = StoreLevel::ALL.iter().map(|level| level.name()).collect();
    let mut anomalies = String::new();
    for chunk in Anomaly::ALL.chunks(5) {
        let names: Vec<&str> = chunk.iter().map(|anomaly| anomaly.name()).collect();
        anomalies += &format!("  {}\n", names.join(", "));
    }
    format!(
        "Presets:\n{presets}\nLevels of the store:\n  {}\n\nAnomalies:\n{anomalies}\n\
Shapes of mini-transactions (R1 reads the first key, W2 writes the second):\n{shapes}\n\
Distributions of keys:
  uniform, zipfian (exponent 0.99), hotspot (0.2/0.8: a fifth of the keys has four fifths of the operations), exponential (0.1)
  MTC's four: uniform, zipfian:2, hotspot:one/0.2 (one key has a fifth of the operations), exponential:0.1

Examples:
  isonomy generate history --preset c4 --level causal -o history.ison
  isonomy generate history --sessions 4 --txns 100 --events 1..4 --keys 10 --seed 7
  isonomy generate history --preset mini --shapes R1W1=3,R1=1 --distribution hotspot:one/0.2
  isonomy generate history --plant lost-update --format hist | isonomy check -

Exit codes: 0 done; 2 could not run.",
        levels.join(", ")
    )
}

pub(crate) fn run(args: &HistoryArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let spec = specification(args)?;
    let target = Target::new(args.output.as_deref());
    let format = args.format.or_else(|| target.format()).unwrap_or(Format::Jsonl);
    target.accepts(format)?;
    let progress = Progress::transactions(terminal.shows_progress(), spec.transactions);
    let summary = target.write(|out| {
        let mut sink = formats::writer(format, out).expect("the format is writable");
        let mut advance = |done| progress.reach(done);
        let hooks = Hooks { progress: Some(&mut advance), ..Hooks::default() };
        spec.generate_with(&mut *sink, hooks).map_err(|error| match error {
            GenerateError::Sink(error) => Problem::Io(error),
            error => Problem::Other(Failure::new(error)),
        })
    });
    progress.end();
    if let Some(summary) = summary? {
        let attempts = if spec.record_aborted { "" } else { " (not recorded)" };
        terminal.note(&format!(
            "{}, {} aborted{attempts}, {} indeterminate; {}; {} store, seed {}",
            count(summary.committed as usize, "committed transaction"),
            summary.aborted,
            summary.indeterminate,
            count(summary.events as usize, "event"),
            spec.level,
            spec.seed,
        ));
        if let Some(anomaly) = spec.plant {
            let places: Vec<String> = summary
                .planted
                .iter()
                .map(|place| format!("transaction {} of session {}", place.position + 1, place.session))
                .collect();
            terminal.note(&format!("planted {anomaly}: {}", places.join(", ")));
        }
    }
    Ok(Exit::Fine)
}

fn specification(args: &HistoryArgs) -> Result<HistorySpec, Failure> {
    let mut spec = args.preset.spec();
    spec.level = args.level;
    spec.seed = args.seed;
    spec.plant = args.plant;
    spec.concurrency = args.concurrency;
    spec.rollback_share = args.rollback;
    spec.record_aborted = args.aborted || args.rollback > 0.0;
    spec.indeterminate_share = args.indeterminate;
    spec.clock_skew = u64::try_from(args.clock_skew.as_nanos()).unwrap_or(u64::MAX);
    spec.times = match args.times {
        None => TimeDetail::None,
        Some(Detail::Points) => TimeDetail::Points,
        Some(Detail::Bounds) => TimeDetail::Bounds,
    };
    spec.sessions = args.sessions.unwrap_or(spec.sessions);
    spec.transactions = args.txns.unwrap_or(spec.transactions);
    spec.lag = args.lag.unwrap_or(spec.lag);
    spec.workload.keys = args.keys.unwrap_or(spec.workload.keys);
    spec.workload.distribution = args.distribution.unwrap_or(spec.workload.distribution);
    if let Some(events) = args.events {
        *length(&mut spec.workload.shape).ok_or_else(|| fixed(args.preset, "--events"))? = events;
    }
    if let Some(reads) = args.reads {
        *read_share(&mut spec.workload.shape).ok_or_else(|| fixed(args.preset, "--reads"))? = reads;
    }
    if let Some(shapes) = args.shapes {
        match &mut spec.workload.shape {
            Shape::Mini(mix) => *mix = shapes,
            _ => return Err(not_mini(args.preset)),
        }
    }
    Ok(spec)
}

fn not_mini(preset: Preset) -> Failure {
    let is_mini = |preset: &Preset| matches!(preset.spec().workload.shape, Shape::Mini(_));
    let names: Vec<&str> = Preset::ALL.iter().filter(|preset| is_mini(preset)).map(|preset| preset.name()).collect();
    Failure::new(format_args!(
        "--shapes does not apply to preset {preset}; presets of mini-transactions are {}",
        names.join(", ")
    ))
}

fn fixed(preset: Preset, flag: &str) -> Failure {
    Failure::new(format_args!("{flag} does not apply to preset {preset}, whose transactions have a shape of their own"))
}

fn length(shape: &mut Shape) -> Option<&mut Length> {
    match shape {
        Shape::General { length, .. }
        | Shape::Mixed { length, .. }
        | Shape::Blind { length, .. }
        | Shape::ListAppend { length, .. }
        | Shape::RwRegister { length, .. }
        | Shape::Ranges { length, .. } => Some(length),
        Shape::Mini(_) | Shape::CasRegister { .. } | Shape::Application(_) => None,
    }
}

fn read_share(shape: &mut Shape) -> Option<&mut f64> {
    match shape {
        Shape::General { read_share, .. }
        | Shape::ListAppend { read_share, .. }
        | Shape::RwRegister { read_share, .. } => Some(read_share),
        Shape::Blind { read_only, .. } => Some(read_only),
        Shape::Mixed { .. }
        | Shape::Mini(_)
        | Shape::Ranges { .. }
        | Shape::CasRegister { .. }
        | Shape::Application(_) => None,
    }
}
