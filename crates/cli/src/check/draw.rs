//! `--svg` and `--dot`: the drawing of a violation.

use std::path::Path;

use isonomy::{Counterexample, Drawing, History, Verdict};

use super::judge::Judged;
use crate::args::CheckArgs;
use crate::exit::Failure;
use crate::files::{Problem, Target};

/// Draws the violation of the weakest level, to the files asked for.
pub(crate) fn write(
    args: &CheckArgs,
    history: &History,
    judged: &[Judged],
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let files: Vec<(&Path, fn(&Drawing) -> String)> = [
        args.svg.as_deref().map(|path| (path, Drawing::svg as fn(&Drawing) -> String)),
        args.dot.as_deref().map(|path| (path, Drawing::dot as fn(&Drawing) -> String)),
    ]
    .into_iter()
    .flatten()
    .collect();
    if files.is_empty() {
        return Ok(());
    }
    let Some(counterexample) = weakest(judged) else {
        let not_written = |(path, _): &(&Path, _)| format!("nothing is violated: {} is not written", path.display());
        notes.extend(files.iter().map(not_written));
        return Ok(());
    };
    let drawing = Drawing::new(history, counterexample);
    for (path, render) in files {
        let text = render(&drawing);
        Target::File(path.to_path_buf()).write(|out| {
            out.write_all(text.as_bytes())?;
            Ok::<(), Problem>(())
        })?;
    }
    Ok(())
}

/// The counterexample of a violated level that implies no other violated one. It fails the stronger levels, too.
fn weakest(judged: &[Judged]) -> Option<&Counterexample> {
    let violated = || {
        judged.iter().filter_map(|judged| match &judged.verdict {
            Verdict::Violated(counterexample) => Some((judged.level, counterexample)),
            Verdict::Holds(_) | Verdict::Undecided(_) => None,
        })
    };
    let is_weakest =
        |level: isonomy::IsolationLevel| !violated().any(|(other, _)| other != level && level.implies(other));
    violated().find(|(level, _)| is_weakest(*level)).map(|(_, counterexample)| counterexample)
}
