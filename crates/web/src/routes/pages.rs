//! What people look at.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::{Shared, html, page, wait};
use crate::form::Form;
use crate::jobs::{Job, Task};
use crate::library::{Entry, Kind, Told};
use crate::problem::Problem;
use crate::server::App;
use crate::slice::{Query, Slice, slice};
use crate::statistics::statistics as count;
use crate::{events, view};

pub(super) async fn home(State(app): Shared) -> Response {
    page(
        wait(move || {
            let last = |entry: &Entry| app.jobs.last_check(&entry.id).map_or_else(Vec::new, |job| job.verdicts());
            Ok(view::home(&app.library.list(), &app.jobs.list(), last))
        })
        .await,
    )
}

pub(super) async fn login() -> Response {
    html(view::login(false))
}

pub(super) async fn run(State(app): Shared) -> Response {
    html(view::run(&app.config.choices))
}

pub(super) async fn history(State(app): Shared, Path(id): Path<String>) -> Response {
    page(
        wait(move || {
            let entry = entry(&app, &id)?;
            let checked = app.jobs.last_check(&id).map(|job| (job.number(), job.verdicts()));
            Ok(view::history(&entry, entry.report().as_ref(), checked))
        })
        .await,
    )
}

pub(super) async fn statistics(State(app): Shared, Path(id): Path<String>) -> Result<Response, Problem> {
    wait(move || {
        let history = app.shelf.get(&entry(&app, &id)?).map_err(Problem::unreadable)?;
        Ok(html(view::statistics(&count(&history))))
    })
    .await
}

pub(super) async fn transactions(
    State(app): Shared,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    wait(move || Ok(html(view::transactions(&found(&app, &id, query.as_deref())?)))).await
}

/// The transactions that a query asks for.
pub(super) fn found(app: &App, id: &str, query: Option<&str>) -> Result<Slice, Problem> {
    let form = Form::parse(query.unwrap_or_default());
    let number = |name: &str, usual: usize| match form.get(name) {
        None => Ok(usual),
        Some(text) => text.parse().map_err(|_| Problem::bad(format!("{name}: expected a number, found `{text}`"))),
    };
    let query = Query {
        offset: number("offset", 0)?,
        limit: number("limit", 50)?,
        session: form.get("session").map(str::to_owned),
        key: form.get("key").map(str::to_owned),
    };
    let history = app.shelf.get(&entry(app, id)?).map_err(Problem::unreadable)?;
    Ok(slice(&history, &query))
}

pub(super) async fn job(State(app): Shared, Path(number): Path<u64>) -> Response {
    page(
        wait(move || {
            let job = running(&app, number)?;
            let run = if job.is_running() { None } else { kept(&app, &job) };
            Ok(view::job(&job, run.as_deref()))
        })
        .await,
    )
}

/// The id of what a run left.
fn kept(app: &App, job: &Job) -> Option<String> {
    if !matches!(job.task(), Task::Run(_)) {
        return None;
    }
    let lines = job.lines();
    let history = std::path::Path::new(lines.iter().rev().find_map(|line| line["history"].as_str())?).parent()?;
    let history = std::fs::canonicalize(history).ok()?;
    app.library.list().entries.into_iter().find(|entry| entry.path == history).map(|entry| entry.id)
}

pub(super) async fn events(State(app): Shared, Path(number): Path<u64>) -> Result<Response, Problem> {
    let job = running(&app, number)?;
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], events::body(job)).into_response())
}

/// A file that a job left. It is for keeping, not for looking at here: it has a policy of its own.
pub(super) async fn left(State(app): Shared, Path((number, name)): Path<(u64, String)>) -> Result<Response, Problem> {
    wait(move || {
        let job = running(&app, number)?;
        let (name, _) = view::FILES.into_iter().find(|(known, _)| *known == name).ok_or_else(Problem::missing)?;
        let content = job.read(name).ok_or_else(Problem::missing)?;
        Ok(attached(&format!("isonomy-{number}-{name}"), Body::from(content)))
    })
    .await
}

/// The history itself.
pub(super) async fn file(State(app): Shared, Path(id): Path<String>) -> Result<Response, Problem> {
    wait(move || {
        let entry = entry(&app, &id)?;
        let path = if entry.kind == Kind::Run { entry.path.join("history.jsonl") } else { entry.path.clone() };
        let plain = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if !plain || entry.size > app.config.limits.upload {
            return Err(Problem::missing());
        }
        let content = std::fs::read(&path).map_err(Problem::internal)?;
        let name = entry.name.replace(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c), "_");
        Ok(attached(&name, Body::from(content)))
    })
    .await
}

fn attached(name: &str, body: Body) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    (headers, body).into_response()
}

pub(super) async fn compare(State(app): Shared, RawQuery(query): RawQuery) -> Response {
    page(
        wait(move || {
            let form = Form::parse(query.as_deref().unwrap_or_default());
            let ids: Vec<&str> = form.all("id").collect();
            let [left, right] = ids[..] else { return Err(Problem::bad("mark two histories or runs to compare")) };
            Ok(view::compare(&side(&app, left)?, &side(&app, right)?))
        })
        .await,
    )
}

fn side(app: &App, id: &str) -> Result<view::Side, Problem> {
    let entry = entry(app, id)?;
    let checked: Vec<Told> = app.jobs.last_check(id).map_or_else(Vec::new, |job| job.verdicts());
    let verdicts = if checked.is_empty() { entry.verdicts.clone() } else { checked };
    Ok(view::Side { report: entry.report(), entry, verdicts })
}

/// What has this id.
pub(super) fn entry(app: &App, id: &str) -> Result<Entry, Problem> {
    app.library.find(id).ok_or_else(Problem::missing)
}

/// The job of this number.
pub(super) fn running(app: &App, number: u64) -> Result<Arc<Job>, Problem> {
    app.jobs.find(number).ok_or_else(Problem::missing)
}
