//! All runs of one type of one library.

use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use isonomy_crdt::{Explanation, Format, History, Verdict, certify, write};
use isonomy_replicas::{Deviation, Library, Offer, Run, Trial};

use super::RunArgs;
use crate::crdt::check::{self, explanation};
use crate::crdt::judge::{Judged, judge};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;

/// What came of a type of a library.
pub(super) struct Subject {
    pub(super) library: Library,
    pub(super) offer: Offer,
    pub(super) holds: u64,
    pub(super) violated: u64,
    pub(super) undecided: u64,
    /// Runs whose answers are not what the type says of what had been delivered, though their histories do not show it.
    pub(super) unseen: u64,
    /// The first violated run.
    pub(super) violation: Option<Violation>,
    /// The first of the unseen deviations.
    pub(super) deviation: Option<Kept<Deviation>>,
    pub(super) took: Duration,
}

/// A run that is shown, and where its history is.
pub(super) struct Kept<T> {
    pub(super) what: T,
    pub(super) seed: u64,
    pub(super) file: Option<PathBuf>,
    pub(super) again: String,
}

/// A violated run.
pub(super) type Violation = Kept<(History, Judged, Explanation)>;

impl Subject {
    /// Runs all of them.
    pub(super) fn examine(
        args: &RunArgs,
        library: Library,
        offer: Offer,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        let mut subject = Subject {
            library,
            offer,
            holds: 0,
            violated: 0,
            undecided: 0,
            unseen: 0,
            violation: None,
            deviation: None,
            took: Duration::ZERO,
        };
        for number in 0..args.runs {
            progress.doing(format!("{library} {}", offer.data_type));
            subject.one(args, &args.trial(library, offer.data_type, args.seed.wrapping_add(number)))?;
            progress.advance(1);
        }
        subject.took = began.elapsed();
        Ok(subject)
    }

    fn one(&mut self, args: &RunArgs, trial: &Trial) -> Result<(), Failure> {
        let run = trial.run().map_err(|error| refused(trial, &error))?;
        let judged = judge(&run.history, args.limits(), &Progress::default());
        let deviation = run.deviation();
        verify(trial, &run, &judged, deviation.as_ref())?;
        match judged.verdict {
            Verdict::Holds(_) => self.holds += 1,
            Verdict::Violated(_) => self.violated += 1,
            Verdict::Undecided => self.undecided += 1,
        }
        let explanation = explanation(&run.history, &judged.verdict);
        let file = match &deviation {
            Some(deviation) => keep(args, trial, &run, self.offer, deviation)?,
            None => None,
        };
        let (seed, again) = (trial.seed, args.again(trial));
        match (explanation, deviation) {
            (Some(explanation), _) => {
                let what = (run.history, judged, explanation);
                self.violation.get_or_insert(Kept { what, seed, file, again });
            }
            (None, Some(what)) => {
                self.unseen += 1;
                self.deviation.get_or_insert(Kept { what, seed, file, again });
            }
            (None, None) => {}
        }
        Ok(())
    }

    pub(super) fn exit(&self) -> Exit {
        if self.violated + self.unseen > 0 {
            Exit::Violated
        } else if self.undecided > 0 {
            Exit::Undecided
        } else {
            Exit::Fine
        }
    }
}

fn refused(trial: &Trial, error: &isonomy_replicas::Error) -> Failure {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(format_args!("{} {}, seed {}: {error}{cause}", trial.library, trial.data_type, trial.seed))
}

/// Nothing is told of a library that is not proven: evidence is checked again, and a violated history must deviate from what was delivered.
fn verify(trial: &Trial, run: &Run, judged: &Judged, deviation: Option<&Deviation>) -> Result<(), Failure> {
    let place = format!("{} {}, seed {}", trial.library, trial.data_type, trial.seed);
    if matches!(judged.verdict, Verdict::Undecided) {
        return Ok(());
    }
    certify(&run.history, &judged.verdict).map_err(|fault| {
        Failure::new(format_args!("{place}: {}, but the evidence is rejected: {fault}", judged.verdict.name()))
    })?;
    if matches!(judged.verdict, Verdict::Violated(_)) && deviation.is_none() {
        return Err(Failure::new(format_args!("{place}: violated, although what was delivered explains all answers")));
    }
    Ok(())
}

/// Writes the history, with how it came about.
fn keep(
    args: &RunArgs,
    trial: &Trial,
    run: &Run,
    offer: Offer,
    deviation: &Deviation,
) -> Result<Option<PathBuf>, Failure> {
    let Some(folder) = &args.out else { return Ok(None) };
    let file = folder.join(format!("{}-{}-{}.crdt", trial.library, trial.data_type, trial.seed));
    let mut history = Vec::new();
    write(&run.history, Format::Notation, &mut history).expect("memory takes everything");
    let mut text = format!("# {} {}: {}\n# {}\n", trial.library, trial.data_type, offer.by, args.again(trial));
    let _ = writeln!(text, "# By what was delivered: {deviation}");
    text += &String::from_utf8_lossy(&history);
    text += "# What happened, in order, `a -> b` for a delivery from a to b:\n";
    run.to_string().lines().for_each(|line| text += &format!("#   {line}\n"));
    check::write(&file, &text)?;
    Ok(Some(file))
}
