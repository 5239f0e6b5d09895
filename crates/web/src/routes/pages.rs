//! What people look at.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use isonomy::{Exhibit, IsolationLevel};

use super::{Shared, html, page, wait};
use crate::findings::{findings, told};
use crate::form::Form;
use crate::jobs::{Job, Task};
use crate::library::{Entry, Kind, Told, weakest};
use crate::problem::Problem;
use crate::server::App;
use crate::slice::{Query, Slice, slice};
use crate::statistics::statistics as count;
use crate::{events, evidence, view};

pub(super) async fn home(State(app): Shared) -> Response {
    page(
        wait(move || {
            let known = |entry: &Entry| told(&findings(&app.jobs, entry));
            Ok(view::home(&app.library.list(), &app.jobs.list(), known))
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
            Ok(view::history(&entry, entry.report().as_ref(), &findings(&app.jobs, &entry)))
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

pub(super) async fn job(State(app): Shared, Path(number): Path<u64>, RawQuery(query): RawQuery) -> Response {
    page(
        wait(move || {
            let job = running(&app, number)?;
            if job.is_running() {
                return Ok(view::running(&job));
            }
            let form = Form::parse(query.as_deref().unwrap_or_default());
            let level = form.get("level").map(level).transpose()?;
            Ok(view::ended(&job, &outcome(&app, &job, level)?))
        })
        .await,
    )
}

/// What came of a job that has ended, with the counterexample of a level: of the one that was asked for, or the weakest that is violated.
fn outcome(app: &App, job: &Job, asked: Option<IsolationLevel>) -> Result<view::Outcome, Problem> {
    let mut verdicts = job.verdicts();
    // Of several, the command takes the first.
    let weakest = weakest(&verdicts);
    verdicts.sort_by_key(Told::place);
    let shown = match (asked, job.task()) {
        (Some(level), Task::Check(check)) if asked != weakest => {
            let history = app.shelf.get(&entry(app, &check.id)?).map_err(Problem::unreadable)?;
            let made = evidence::exhibit(job, &history, level, &view::strongest(&verdicts));
            Some((level, made.map_err(|error| Problem::new(StatusCode::CONFLICT, error.to_string()))?))
        }
        // The command that wrote it is this one: the page is made as ours are, and what is not ours is escaped in it.
        _ => {
            let html = job.read("page.html").and_then(|html| String::from_utf8(html).ok());
            weakest.zip(html.as_deref().and_then(Exhibit::in_page).map(str::to_owned))
        }
    };
    let run = job.lines().into_iter().find(|line| line["run"].is_number());
    Ok(view::Outcome { kept: kept(app, job), verdicts, shown, run })
}

fn level(name: &str) -> Result<IsolationLevel, Problem> {
    name.parse().map_err(|_| Problem::bad(format!("there is no level `{name}`")))
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
        if !plain {
            return Err(Problem::missing());
        }
        // It is sent from memory.
        if entry.size > app.config.limits.upload {
            let message = "the history is too large to be sent from here; its page says where the file is";
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
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
            let [left, right] = two(query.as_deref())?;
            Ok(view::compare(&side(&app, &left)?, &side(&app, &right)?))
        })
        .await,
    )
}

pub(super) async fn numbers(State(app): Shared, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    wait(move || {
        let [left, right] = two(query.as_deref())?;
        let (left, right) = (side(&app, &left)?, side(&app, &right)?);
        // One after the other: both at once may be more than there is memory.
        let counted = |side: &view::Side| match app.shelf.get(&side.entry) {
            Ok(history) => Ok(count(&history)),
            Err(error) => Err(Problem::unreadable(error)),
        };
        Ok(html(view::numbers((&left, &counted(&left)?), (&right, &counted(&right)?))))
    })
    .await
}

/// The ids of two histories or runs.
fn two(query: Option<&str>) -> Result<[String; 2], Problem> {
    let form = Form::parse(query.unwrap_or_default());
    let ids: Vec<String> = form.all("id").map(str::to_owned).collect();
    ids.try_into().map_err(|_| Problem::bad("mark two histories or runs to compare them"))
}

fn side(app: &App, id: &str) -> Result<view::Side, Problem> {
    let entry = entry(app, id)?;
    Ok(view::Side { report: entry.report(), verdicts: told(&findings(&app.jobs, &entry)), entry })
}

/// What has this id.
pub(super) fn entry(app: &App, id: &str) -> Result<Entry, Problem> {
    app.library.find(id).ok_or_else(Problem::missing)
}

/// The job of this number.
pub(super) fn running(app: &App, number: u64) -> Result<Arc<Job>, Problem> {
    app.jobs.find(number).ok_or_else(Problem::missing)
}
