//! `isonomy generate lwt`: histories of lightweight transactions.

use isonomy::{Format, formats};
use isonomy_workload::{GenerateError, LightweightSpec};

use crate::args::LightweightArgs;
use crate::exit::{Exit, Failure};
use crate::files::{Problem, Target};
use crate::output::{Terminal, count};
use crate::progress::Progress;

pub(crate) const AFTER_HELP: &str = "\
Each key is inserted once; then compare-and-sets of 1 to 2, 2 to 3 and so on make a chain. They come in batches of as many as
sessions are concurrent: all of a batch overlap, and batches follow one another. Such a history is linearizable, unless a
link is missing. Times are recorded.

Examples:
  isonomy generate lwt -o valid.ison; isonomy check --level linearizable valid.ison
  isonomy generate lwt --sessions 20000 --concurrent 1 --missing-link -o invalid.jsonl
  isonomy generate lwt --sessions 10 --txns 50 --keys 3 --failed 0.2 --indeterminate 0.1 --format hist

Exit codes: 0 done; 2 could not run.";

pub(crate) fn run(args: &LightweightArgs, terminal: Terminal) -> Result<Exit, Failure> {
    let spec = LightweightSpec {
        sessions: args.sessions,
        transactions: args.txns,
        concurrent_share: args.concurrent,
        keys: args.keys,
        missing_link: args.missing_link,
        failed_share: args.failed,
        indeterminate_share: args.indeterminate,
        seed: args.seed,
    };
    let target = Target::new(args.output.as_deref());
    let format = args.format.or_else(|| target.format()).unwrap_or(Format::Jsonl);
    target.accepts(format)?;
    let progress = Progress::transactions(terminal.shows_progress(), spec.transactions);
    let summary = target.write(|out| {
        let mut sink = formats::writer(format, out).expect("the format is writable");
        let mut advance = |done| progress.reach(done);
        spec.generate(&mut *sink, Some(&mut advance)).map_err(|error| match error {
            GenerateError::Sink(error) => Problem::Io(error),
            error => Problem::Other(Failure::new(error)),
        })
    });
    progress.end();
    if let Some(summary) = summary? {
        let missing = match summary.missing {
            0 => String::new(),
            missing => format!(", {missing} left out"),
        };
        terminal.note(&format!(
            "{}, {} ({} failed and recorded as reads, {} indeterminate{missing}); {} at a time, seed {}",
            count(summary.inserts as usize, "insert"),
            count((summary.succeeded + summary.failed + summary.indeterminate) as usize, "compare-and-set"),
            summary.failed,
            summary.indeterminate,
            spec.batch(),
            spec.seed,
        ));
    }
    Ok(Exit::Fine)
}
