//! `--svg` and `--dot`: the drawing of a violation.

use std::path::PathBuf;

use isonomy::{Counterexample, Drawing, History, IsolationLevel, Verdict};

use super::judge::Judged;
use crate::args::CheckArgs;
use crate::exit::Failure;
use crate::files::{Problem, Target};

type Render = fn(&Drawing) -> String;

/// Draws the violation of the weakest level, to the files asked for.
pub(crate) fn write(
    args: &CheckArgs,
    history: &History,
    judged: &[Judged],
    notes: &mut Vec<String>,
) -> Result<(), Failure> {
    let svg = args.svg.iter().map(|path| (path, Drawing::svg as Render));
    let files: Vec<(&PathBuf, Render)> =
        svg.chain(args.dot.iter().map(|path| (path, Drawing::dot as Render))).collect();
    if files.is_empty() {
        return Ok(());
    }
    let Some(counterexample) = weakest(judged) else {
        notes.extend(files.iter().map(|(path, _)| format!("nothing is violated: {} is not written", path.display())));
        return Ok(());
    };
    let drawing = Drawing::new(history, counterexample);
    for (path, render) in files {
        let text = render(&drawing);
        Target::File(path.clone()).write(|out| {
            out.write_all(text.as_bytes())?;
            Ok::<(), Problem>(())
        })?;
    }
    Ok(())
}

/// The counterexample of a violated level that implies no other violated one. It fails the stronger levels, too.
pub(crate) fn weakest<'j>(judged: impl IntoIterator<Item = &'j Judged> + Clone) -> Option<&'j Counterexample> {
    weakest_level(judged).map(|(_, counterexample)| counterexample)
}

/// The same, with the level.
pub(crate) fn weakest_level<'j>(
    judged: impl IntoIterator<Item = &'j Judged> + Clone,
) -> Option<(IsolationLevel, &'j Counterexample)> {
    let violated = || {
        judged.clone().into_iter().filter_map(|judged| match &judged.verdict {
            Verdict::Violated(counterexample) => Some((judged.level, counterexample)),
            Verdict::Holds(_) | Verdict::Undecided(_) => None,
        })
    };
    let is_weakest = |level: IsolationLevel| !violated().any(|(other, _)| other != level && level.implies(other));
    violated().find(|(level, _)| is_weakest(*level))
}
