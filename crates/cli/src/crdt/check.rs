//! `isonomy crdt check`: does the type of a history allow it?

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use isonomy_crdt::report::Certificate;
use isonomy_crdt::{Explanation, History, Verdict, explain};
use isonomy_draw::{ReplicasItem, replicas_page, replicas_svg};

use super::judge::{Judged, Limits, judge};
use super::load::{Kind, load};
use super::{json, text};
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::load::{is_stdin, name, total_size};
use crate::output::{Output, Terminal};
use crate::progress::Progress;
use crate::values::duration;

const AFTER_HELP: &str = "\
The type is named by the file, on its first line, or by --type. A history holds if there is a visibility, that is, a choice of
what each operation had seen, that explains all answers. If not, a few operations are shown for which there is none, whatever
the others did.

Examples:
  isonomy crdt check set.crdt
  isonomy crdt check --type counter --json runs/*.jsonl
  isonomy crdt check --timeout 10s big.jsonl
  isonomy crdt check --html why.html set.crdt
  isonomy crdt check --certificate proof.json set.crdt; isonomy crdt certify set.crdt proof.json
  echo 'a: inc(x) read(x)=0' | isonomy crdt check --type counter -

Exit codes: 0 holds; 1 violated; 2 could not run (usage, bad input, no place for the output); 3 undecided.
Of several results the code is that of the worst: 2 over 1 over 3 over 0. A closed pipe is no error.";

/// Arguments of `crdt check`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    kind: Kind,
    /// Print one JSON object per history, a line each
    #[arg(long)]
    json: bool,
    /// Leave a history undecided after this time, such as 500ms, 60s, 2m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Leave a history undecided after so many steps of the search, which are the same on every machine
    #[arg(long, value_name = "N")]
    budget: Option<u64>,
    /// Write the evidence of the verdict to a file, for `isonomy crdt certify`; for one history
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Draw the violation to a file, as SVG; for one history
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write a page for the browser: the verdicts of all histories, and for each violation its story and a drawing
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Files; `-` is standard input
    #[arg(value_name = "HISTORY", required = true)]
    histories: Vec<PathBuf>,
}

pub(crate) fn run(args: &CheckArgs, terminal: Terminal) -> Result<Exit, Failure> {
    validate(args)?;
    let total = total_size(args.histories.iter().map(PathBuf::as_path));
    let progress = Progress::bytes(terminal.shows_progress(), total);
    let mut out = Output::new();
    let mut exit = Exit::Fine;
    let mut shown = Vec::new();
    for path in &args.histories {
        match examine(args, path, &progress, terminal) {
            Ok(examined) => {
                exit = exit.and(examined.exit);
                progress.suspended(|| out.print(&examined.text))?;
                if args.html.is_some() {
                    shown.push(examined);
                }
            }
            Err(failure) => {
                exit = Exit::CouldNotRun;
                progress.suspended(|| failure.report(terminal.err));
            }
        }
    }
    progress.end();
    if let Some(path) = &args.html {
        write(path, &page(&shown))?;
    }
    Ok(exit)
}

fn page(shown: &[Examined]) -> String {
    let items = shown.iter().map(|examined| ReplicasItem {
        title: &examined.title,
        history: &examined.history,
        verdict: examined.verdict,
        explanation: examined.explanation.as_ref(),
    });
    replicas_page(&items.collect::<Vec<_>>())
}

fn validate(args: &CheckArgs) -> Result<(), Failure> {
    for (option, path) in [("--certificate", &args.certificate), ("--svg", &args.svg), ("--html", &args.html)] {
        let Some(path) = path else { continue };
        if args.histories.len() > 1 && option != "--html" {
            return Err(Failure::new(format_args!("{option} takes one history; check the others by themselves")));
        }
        if is_stdin(path) {
            return Err(Failure::new(format_args!("{option} needs a file: the answers are on standard output")));
        }
    }
    if args.histories.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Failure::new("standard input can be read only once: `-` is given several times"));
    }
    Ok(())
}

/// What came of one history.
struct Examined {
    title: String,
    history: History,
    verdict: &'static str,
    explanation: Option<Explanation>,
    text: String,
    exit: Exit,
}

fn examine(args: &CheckArgs, path: &Path, progress: &Progress, terminal: Terminal) -> Result<Examined, Failure> {
    let history = load(path, &args.kind, progress)?;
    let limits = Limits { timeout: args.timeout, budget: args.budget };
    let judged = judge(&history, limits, progress);
    let explanation = explanation(&history, &judged.verdict);
    let text = if args.json {
        json::line(&path.display().to_string(), &history, &judged, explanation.as_ref())
    } else {
        text::answer(&name(path), &history, &judged, explanation.as_ref(), terminal)
    };
    let mut exit = judged.exit();
    if let Err(failure) = keep(args, &history, &judged, explanation.as_ref(), terminal) {
        progress.suspended(|| failure.report(terminal.err));
        exit = Exit::CouldNotRun;
    }
    Ok(Examined { title: name(path), verdict: judged.verdict.name(), history, explanation, text, exit })
}

/// The story of a violation.
pub(super) fn explanation(history: &History, verdict: &Verdict) -> Option<Explanation> {
    match verdict {
        Verdict::Violated(counterexample) => Some(explain(history, counterexample)),
        _ => None,
    }
}

/// Writes the files that were asked for.
fn keep(
    args: &CheckArgs,
    history: &History,
    judged: &Judged,
    explanation: Option<&Explanation>,
    terminal: Terminal,
) -> Result<(), Failure> {
    match (&args.svg, explanation) {
        (Some(path), Some(explanation)) => write(path, &replicas_svg(history, explanation))?,
        (Some(path), None) => terminal.note(&format!("nothing is violated: {} is not written", path.display())),
        (None, _) => {}
    }
    if let Some(path) = &args.certificate {
        let certificate = Certificate::new(history, &judged.verdict);
        let text =
            certificate.map(|certificate| serde_json::to_string(&certificate).expect("it has only strings for keys"));
        write(path, &text.map(|text| text + "\n").unwrap_or_default())?;
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Target::File(path.to_path_buf()).write(|out| out.write_all(text.as_bytes()).map_err(Problem::Io)).map(|_| ())
}
