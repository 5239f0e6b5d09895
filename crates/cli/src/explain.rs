//! `isonomy explain`: why does a history violate a level?
//!
//! What is shown is one value, [`Explanation`](isonomy::Explanation): as text with a timeline of the sessions, as JSON, and drawn.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use isonomy::patterns::all_anomalies;
use isonomy::{
    Ablation, Counterexample, Drawing, Engine, Format, History, IsolationLevel, Standing, Terms, Verdict, explain,
};

use crate::check::judge::{Judged, Settings, judge};
use crate::check::{in_halves, patterns};
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::load::{self, Loaded, Loader};
use crate::output::{Output, Terminal};
use crate::progress::Progress;
use crate::{levels, values};

mod json;
pub(crate) mod text;
mod timeline;

const AFTER_HELP: &str = "\
Without --level the weakest level that is violated is explained: what breaks it breaks those that imply it, too. With --level
that one is, and what is told of other levels is told of those that it implies.

Examples:
  isonomy explain history.jsonl
  isonomy explain --level serializable history.txt
  isonomy explain --all history.edn
  isonomy explain --svg why.svg --dot why.dot history.jsonl
  isonomy explain --json history.jsonl | jq -r '.counterexample.told[]'

Exit codes: 0 nothing is violated; 1 violated, and here is why; 2 could not run; 3 undecided.";

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExplainArgs {
    /// The level to explain; the weakest that is violated if absent
    #[arg(long, short, value_name = "L", value_parser = values::level)]
    level: Option<IsolationLevel>,
    /// Format of the history; by its content if absent
    #[arg(long, short, value_name = "F")]
    format: Option<Format>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Draw it, too
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// The same drawing as a graph for Graphviz
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Tell all anomalous patterns of causal consistency, too, in groups
    #[arg(long)]
    all: bool,
    /// How many instances of each pattern to tell
    #[arg(long, value_name = "N", default_value_t = 5, requires = "all")]
    max: usize,
    /// Leave a level undecided after this time, such as 500ms, 60s, 2m
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    timeout: Option<Duration>,
    /// Drop session order from all levels
    #[arg(long)]
    no_session_order: bool,
    /// By how much clocks may differ, for levels that speak of real time
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "0")]
    clock_drift: Duration,
    /// A file or a directory of logs; `-` is standard input
    history: PathBuf,
}

pub(crate) fn run(args: &ExplainArgs, terminal: Terminal) -> Result<Exit, Failure> {
    for (option, path) in [("--svg", &args.svg), ("--dot", &args.dot)] {
        if path.as_deref().is_some_and(load::is_stdin) {
            return Err(Failure::new(format_args!("{option} needs a file: the answer is on standard output")));
        }
    }
    let progress = Progress::bytes(terminal.shows_progress(), load::total_size([args.history.as_path()]));
    let loader = Loader { format: args.format, memory: load::available_memory(), progress: progress.clone() };
    let loaded = loader.load(&args.history);
    let found = loaded.map(|loaded| {
        let judged = levels(args, &loaded.history, &progress);
        (loaded, judged)
    });
    progress.end();
    let (loaded, judged) = found?;
    loaded.note.iter().for_each(|note| terminal.note(note));
    let standing = standing(&judged);
    let shown = args.level.or(standing.violated.first().copied());
    let shown = judged.iter().find(|judged| Some(judged.level) == shown);
    let text = if args.json {
        as_json(args, &loaded, shown, &standing)
    } else {
        as_text(args, &loaded, &judged, shown, &standing, terminal)
    };
    Output::new().print(&text)?;
    match shown.map(|judged| &judged.verdict) {
        Some(Verdict::Violated(counterexample)) => {
            draw(args, &loaded.history, counterexample)?;
            Ok(Exit::Violated)
        }
        Some(Verdict::Undecided(_)) => Ok(Exit::Undecided),
        Some(Verdict::Holds(_)) => Ok(Exit::Fine),
        None if judged.iter().any(|judged| matches!(judged.verdict, Verdict::Undecided(_))) => Ok(Exit::Undecided),
        None => Ok(Exit::Fine),
    }
}

/// Decides the levels that there is something to say of.
fn levels(args: &ExplainArgs, history: &History, progress: &Progress) -> Vec<Judged> {
    let cancelled = AtomicBool::new(false);
    let settings = Settings {
        terms: Terms {
            session_order: !args.no_session_order,
            clock_drift: i64::try_from(args.clock_drift.as_nanos()).unwrap_or(i64::MAX),
        },
        engine: Engine::default(),
        ablation: Ablation::default(),
        timeout: args.timeout,
        cancelled: &cancelled,
    };
    let mut judged: Vec<Judged> = Vec::new();
    let ask = |level: IsolationLevel, judged: &mut Vec<Judged>| {
        progress.doing(format!("checking {level}"));
        judged.push(judge(history, level, &settings, judged));
    };
    let wanted = levels::by_default(history);
    match args.level {
        None => in_halves(&wanted).into_iter().for_each(|level| ask(level, &mut judged)),
        Some(level) => {
            ask(level, &mut judged);
            // Of a level that holds or is undecided there is nothing more to say.
            let Verdict::Violated(counterexample) = judged[0].verdict.clone() else { return judged };
            let weaker = wanted.into_iter().filter(|&other| other != level && level.implies(other));
            let (violated, mut open): (Vec<_>, Vec<_>) =
                weaker.partition(|&other| counterexample.anomaly.rules_out(other));
            judged.extend(violated.into_iter().map(|level| {
                let verdict = Verdict::Violated(counterexample.clone());
                Judged { level, verdict, took: Duration::ZERO, stages: Vec::new(), counts: Vec::new() }
            }));
            // The anomaly is named after the weakest level that forbids it, so that the strongest of the others is likely to hold, and those
            // that it implies with it.
            open.sort_by_key(|strong| implied(*strong));
            open.into_iter().rev().for_each(|level| ask(level, &mut judged));
        }
    }
    judged.sort_by_key(|judged| judged.level as usize);
    judged
}

/// How many levels a level implies.
fn implied(strong: IsolationLevel) -> usize {
    IsolationLevel::ALL.into_iter().filter(|&weak| strong.implies(weak)).count()
}

fn standing(judged: &[Judged]) -> Standing {
    let of = |wanted: fn(&Verdict) -> bool| -> Vec<IsolationLevel> {
        judged.iter().filter(|judged| wanted(&judged.verdict)).map(|judged| judged.level).collect()
    };
    Standing::new(
        &of(|verdict| matches!(verdict, Verdict::Violated(_))),
        &of(|verdict| matches!(verdict, Verdict::Holds(_))),
    )
}

fn as_text(
    args: &ExplainArgs,
    loaded: &Loaded,
    judged: &[Judged],
    shown: Option<&Judged>,
    standing: &Standing,
    terminal: Terminal,
) -> String {
    let (history, name) = (&loaded.history, load::name(&args.history));
    let mut text = match shown {
        Some(Judged { level, verdict: Verdict::Violated(counterexample), .. }) => {
            let explanation = explain(history, counterexample).among(standing.clone());
            text::violated(&name, &args.history, *level, &explanation, terminal)
        }
        Some(judged) => text::nothing(&name, std::slice::from_ref(judged), standing, terminal.out),
        None => text::nothing(&name, judged, standing, terminal.out),
    };
    if args.all {
        let all = all_anomalies(history, !args.no_session_order, args.max);
        text += &patterns::table(history, &all, terminal.out);
    }
    text
}

fn as_json(args: &ExplainArgs, loaded: &Loaded, shown: Option<&Judged>, standing: &Standing) -> String {
    let history = &loaded.history;
    let all = args.all.then(|| all_anomalies(history, !args.no_session_order, args.max));
    json::line(&args.history.display().to_string(), history, shown, standing, all.as_ref())
}

fn draw(args: &ExplainArgs, history: &History, counterexample: &Counterexample) -> Result<(), Failure> {
    if args.svg.is_none() && args.dot.is_none() {
        return Ok(());
    }
    let drawing = Drawing::new(history, counterexample);
    let write = |path: &Path, text: String| {
        let target = Target::File(path.to_path_buf());
        target.write(|out| out.write_all(text.as_bytes()).map_err(Problem::Io)).map(|_| ())
    };
    args.svg.as_deref().map_or(Ok(()), |path| write(path, drawing.svg()))?;
    args.dot.as_deref().map_or(Ok(()), |path| write(path, drawing.dot()))
}
