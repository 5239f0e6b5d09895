//! One level of one history, with a clock beside.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use isonomy::{Ablation, Engine, History, IsolationLevel, Options, Reason, Stage, Terms, Verdict, check};

/// How to check.
pub(crate) struct Settings<'a> {
    pub(crate) terms: Terms,
    pub(crate) engine: Engine,
    pub(crate) ablation: Ablation,
    /// The most time for one level of one history.
    pub(crate) timeout: Option<Duration>,
    /// Nobody wants the answer any more.
    pub(crate) cancelled: &'a AtomicBool,
}

/// A verdict and how long it took.
pub(crate) struct Judged {
    pub(crate) level: IsolationLevel,
    pub(crate) verdict: Verdict,
    pub(crate) took: Duration,
    /// The stages in the order in which they began, each with its time.
    pub(crate) stages: Vec<(&'static str, Duration)>,
    /// What was counted, the last number of each name.
    pub(crate) counts: Vec<(&'static str, u64)>,
}

/// Decides a level, within the time there is, and with what was found for others.
pub(crate) fn judge(history: &History, level: IsolationLevel, settings: &Settings<'_>, others: &[Judged]) -> Judged {
    let began = Instant::now();
    if let Some(verdict) = already_known(history, level, others) {
        return Judged { level, verdict, took: began.elapsed(), stages: Vec::new(), counts: Vec::new() };
    }
    let deadline = settings.timeout.and_then(|timeout| began.checked_add(timeout));
    let stop = || settings.cancelled.load(Ordering::Relaxed) || deadline.is_some_and(|at| Instant::now() >= at);
    let begun: Mutex<Vec<(Stage, Instant)>> = Mutex::new(Vec::new());
    let stage = |stage| begun.lock().expect("no thread panics with the lock").push((stage, Instant::now()));
    let Terms { session_order, clock_drift } = settings.terms;
    let counts: Mutex<Vec<(&'static str, u64)>> = Mutex::new(Vec::new());
    let counted = |name, number| {
        let mut counts = counts.lock().expect("no thread panics with the lock");
        match counts.iter_mut().find(|(other, _)| *other == name) {
            Some((_, last)) => *last = number,
            None => counts.push((name, number)),
        }
    };
    let Settings { engine, ablation, .. } = *settings;
    let options =
        Options { session_order, clock_drift, engine, ablation, stop: &stop, stage: &stage, counted: &counted };
    // No time at all is no time even for histories so small that the search would not look at the clock.
    let verdict = if stop() { Verdict::Undecided(Reason::Stopped) } else { check(history, level, &options) };
    let ended = Instant::now();
    let begun = begun.into_inner().expect("no thread panics with the lock");
    let mut stages: Vec<(&'static str, Duration)> = Vec::new();
    for (index, (stage, from)) in begun.iter().enumerate() {
        let took = begun.get(index + 1).map_or(ended, |next| next.1) - *from;
        match stages.iter_mut().find(|(name, _)| *name == stage.name()) {
            Some((_, total)) => *total += took,
            None => stages.push((stage.name(), took)),
        }
    }
    let counts = counts.into_inner().expect("no thread panics with the lock");
    Judged { level, verdict, took: ended - began, stages, counts }
}

/// What fails a weaker level fails this one, and what holds at a stronger one holds at this one, each by the same evidence.
fn already_known(history: &History, level: IsolationLevel, others: &[Judged]) -> Option<Verdict> {
    if level.needs_times() && !history.has_times() {
        return None;
    }
    let known = |other: &&Judged| match other.verdict {
        Verdict::Violated(_) => level.implies(other.level),
        Verdict::Holds(_) => other.level.implies(level),
        Verdict::Undecided(_) => false,
    };
    others.iter().find(known).map(|other| other.verdict.clone())
}
