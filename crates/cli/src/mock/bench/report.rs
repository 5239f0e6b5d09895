//! What `isonomy mock bench` tells: tables for people, lines for programs.

use isonomy_applications::{Application, Coverage, CoverageSpec, Measurement, Setup};
use serde::Serialize;

use crate::output::{Paint, Style, Table, count, time};

/// What became of an assertion at a level.
#[derive(Serialize)]
pub(super) struct AssertionReport {
    application: &'static str,
    assertion: &'static str,
    about: &'static str,
    pub(super) level: &'static str,
    sessions: usize,
    operations: usize,
    seed: u64,
    runs: u64,
    pub(super) broken: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_to_failure: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_to_failure: Option<f64>,
    /// The seed of the first run that broke it.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_seed: Option<u64>,
    seconds: f64,
}

impl AssertionReport {
    pub(super) fn all(
        application: &'static dyn Application,
        setup: &Setup,
        measurement: &Measurement,
        seed: u64,
    ) -> Vec<Self> {
        let assertions = application.assertions().iter().zip(&measurement.tallies);
        let report = |(assertion, tally): (&isonomy_applications::Assertion, &isonomy_applications::Tally)| Self {
            application: application.name(),
            assertion: assertion.name,
            about: assertion.about,
            level: setup.level.name(),
            sessions: setup.sessions,
            operations: setup.operations,
            seed,
            runs: measurement.runs,
            broken: tally.broken,
            runs_to_failure: tally.runs_to_failure(),
            seconds_to_failure: tally.time_to_failure().map(|time| time.as_secs_f64()),
            first_seed: tally.first_seed,
            seconds: measurement.time.as_secs_f64(),
        };
        assertions.map(report).collect()
    }
}

/// One JSON object a line.
pub(super) fn lines<T: Serialize>(reports: &[T]) -> String {
    reports.iter().map(|report| serde_json::to_string(report).expect("it has only strings for keys") + "\n").collect()
}

/// The assertions of an application, at all levels.
pub(super) fn table(application: &dyn Application, reports: &[AssertionReport], paint: Paint) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut table =
        Table::new(["assertion", "level", "sessions", "broken", "runs to failure", "time to failure", "first seed"]);
    for column in 2..=6 {
        table = table.right(column);
    }
    for report in reports {
        let share = 100.0 * report.broken as f64 / report.runs.max(1) as f64;
        let style = if report.broken > 0 { Style::Bad } else { Style::Good };
        let or_none = |text: Option<String>| (text.unwrap_or_else(|| "-".into()), Style::Plain);
        table.row([
            (report.assertion.into(), Style::Plain),
            (report.level.into(), Style::Plain),
            (report.sessions.to_string(), Style::Plain),
            (format!("{share:.1} %"), style),
            or_none(report.runs_to_failure.map(|runs| format!("{runs:.1}"))),
            or_none(report.seconds_to_failure.map(|seconds| time(std::time::Duration::from_secs_f64(seconds)))),
            or_none(report.first_seed.map(|seed| seed.to_string())),
        ]);
    }
    let mut text = format!(
        "{}: {}; {} of {} a session\n",
        paint.style(Style::Strong, first.application),
        application.about(),
        count(first.runs as usize, "run"),
        count(first.operations, "operation"),
    );
    for assertion in application.assertions() {
        text += &format!("  {}: {}\n", assertion.name, assertion.about);
    }
    text + &table.render(paint) + "\n"
}

/// How much of what clients can see they saw.
#[derive(Serialize)]
pub(super) struct CoverageReport {
    application: &'static str,
    level: &'static str,
    seed: u64,
    harnesses: u64,
    /// Of each harness.
    runs: u64,
    /// Harnesses of which all runs were explored, at all levels.
    complete: u64,
    /// Of a complete harness, on average.
    states: f64,
    reached: f64,
    /// The share of the states of a complete harness that was reached, on average.
    share: f64,
    /// Harnesses with too many runs: what was reached and what exploring found, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    incomplete: Option<Incomplete>,
}

#[derive(Serialize)]
struct Incomplete {
    harnesses: u64,
    found: f64,
    reached: f64,
}

impl CoverageReport {
    pub(super) fn new(
        application: &'static dyn Application,
        spec: &CoverageSpec,
        harnesses: &[Coverage],
        is_complete: &[bool],
        seed: u64,
    ) -> Self {
        let those = |complete: bool| -> Vec<&Coverage> {
            harnesses.iter().zip(is_complete).filter(|(_, is)| **is == complete).map(|(harness, _)| harness).collect()
        };
        let (complete, incomplete) = (those(true), those(false));
        let mean = |of: &[&Coverage], value: fn(&Coverage) -> f64| {
            of.iter().map(|harness| value(harness)).sum::<f64>() / of.len().max(1) as f64
        };
        let incomplete = (!incomplete.is_empty()).then(|| Incomplete {
            harnesses: incomplete.len() as u64,
            found: mean(&incomplete, |harness| harness.states as f64),
            reached: mean(&incomplete, |harness| harness.reached as f64),
        });
        CoverageReport {
            application: application.name(),
            level: spec.level.name(),
            seed,
            harnesses: harnesses.len() as u64,
            runs: spec.runs,
            complete: complete.len() as u64,
            states: mean(&complete, |harness| harness.states as f64),
            reached: mean(&complete, |harness| harness.reached as f64),
            share: mean(&complete, |harness| harness.reached as f64 / harness.states.max(1) as f64),
            incomplete,
        }
    }
}

/// All applications and levels.
pub(super) fn coverage_table(reports: &[CoverageReport], paint: Paint) -> String {
    let mut table = Table::new([
        "application",
        "level",
        "explored",
        "states",
        "reached",
        "share",
        "not explored",
        "found",
        "reached",
    ]);
    for column in 2..=8 {
        table = table.right(column);
    }
    for report in reports {
        let of_rest = |value: fn(&Incomplete) -> String| report.incomplete.as_ref().map_or("-".into(), value);
        table.plain([
            report.application.into(),
            report.level.into(),
            report.complete.to_string(),
            format!("{:.1}", report.states),
            format!("{:.1}", report.reached),
            format!("{:.1} %", 100.0 * report.share),
            of_rest(|rest| rest.harnesses.to_string()),
            of_rest(|rest| format!("{:.1}", rest.found)),
            of_rest(|rest| format!("{:.1}", rest.reached)),
        ]);
    }
    let runs = reports.first().map_or(0, |report| report.runs);
    format!(
        "What clients can see, on average over harnesses, and what they saw in {} of each.\n\n{}",
        count(runs as usize, "run"),
        table.render(paint)
    )
}
