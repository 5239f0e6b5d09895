//! The same as JSON, for programs.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::pages::{found, running};
use super::{Shared, wait};
use crate::findings::{Finding, findings};
use crate::jobs::{Job, Task};
use crate::library::{Entry, Kind};
use crate::problem::{self, Problem};

fn answer(value: &Value) -> Response {
    problem::json(format!("{value}\n"))
}

pub(super) async fn histories(State(app): Shared) -> Result<Response, Problem> {
    wait(move || {
        let listing = app.library.list();
        let one = |entry: &Entry| {
            json!({
                "id": entry.id,
                "name": entry.name,
                "kind": if entry.kind == Kind::Run { "run" } else { "history" },
                "format": entry.format.map(|format| format.name()),
                "bytes": entry.size,
                "modified": jiff::Timestamp::try_from(entry.modified).ok().map(|time| time.to_string()),
                "verdicts": verdicts(&findings(&app.jobs, entry)),
            })
        };
        let histories: Vec<Value> = listing.entries.iter().map(one).collect();
        Ok(answer(&json!({ "histories": histories, "complete": !listing.cut })))
    })
    .await
}

fn verdicts(findings: &[Finding]) -> Vec<Value> {
    let one = |Finding { told, check }: &Finding| json!({ "level": told.level, "verdict": told.verdict, "anomaly": told.anomaly, "job": check });
    findings.iter().map(one).collect()
}

pub(super) async fn transactions(
    State(app): Shared,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    wait(move || {
        let slice = found(&app, &id, query.as_deref())?;
        Ok(problem::json(serde_json::to_string(&slice).map_err(Problem::internal)? + "\n"))
    })
    .await
}

pub(super) async fn jobs(State(app): Shared) -> Response {
    let jobs: Vec<Value> = app.jobs.list().iter().map(|job| about(job)).collect();
    answer(&json!({ "jobs": jobs }))
}

/// A job, with what it printed if it has ended.
pub(super) async fn job(State(app): Shared, Path(number): Path<u64>) -> Result<Response, Problem> {
    wait(move || {
        let job = running(&app, number)?;
        let mut value = about(&job);
        if !job.is_running() {
            value["lines"] = Value::Array(job.lines());
        }
        Ok(answer(&value))
    })
    .await
}

fn about(job: &Job) -> Value {
    let (kind, history) = match job.task() {
        Task::Check(check) => ("check", Some(&check.id)),
        Task::Run(_) => ("run", None),
    };
    json!({
        "number": job.number(),
        "kind": kind,
        "history": history,
        "title": job.task().title(),
        "progress": job.progress(),
    })
}
