//! What changes something.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::time::sleep;

use super::pages::{entry, running};
use super::{Shared, html, onward, wait};
use crate::form::Form;
use crate::jobs::{Check, Run, StartError, Task};
use crate::problem::{self, Problem};
use crate::server::App;
use crate::view;

/// How long the answer to a wrong token takes.
const WRONG: Duration = Duration::from_millis(300);

/// Gives a cookie to whoever knows the token.
pub(super) async fn login(State(app): Shared, body: Bytes) -> Response {
    match app.gate.admit(form(&body).get("token").unwrap_or_default()) {
        Some(cookie) => {
            let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/")];
            (StatusCode::SEE_OTHER, headers).into_response()
        }
        None => {
            // Whoever tries all of them is to take long.
            sleep(WRONG).await;
            (StatusCode::UNAUTHORIZED, html(view::login(true))).into_response()
        }
    }
}

pub(super) async fn check(State(app): Shared, Path(id): Path<String>, body: Bytes) -> Response {
    onward(
        wait(move || {
            let check = Check::new(&entry(&app, &id)?, &form(&body))?;
            start(&app, Task::Check(check))
        })
        .await,
    )
}

pub(super) async fn run(State(app): Shared, body: Bytes) -> Response {
    onward(
        wait(move || {
            let run = Run::new(&form(&body), &app.config.choices, &app.config.runs)?;
            start(&app, Task::Run(run))
        })
        .await,
    )
}

/// Starts a job, and tells where to see it.
fn start(app: &App, task: Task) -> Result<String, Problem> {
    match app.jobs.start(task) {
        Ok(job) => Ok(format!("/jobs/{}", job.number())),
        Err(error @ StartError::TooMany(_)) => Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, error.to_string())),
        Err(error) => Err(Problem::internal(error)),
    }
}

pub(super) async fn stop(State(app): Shared, Path(number): Path<u64>) -> Response {
    onward(running(&app, number).map(|job| {
        job.stop();
        format!("/jobs/{number}")
    }))
}

pub(super) async fn upload(
    State(app): Shared,
    RawQuery(query): RawQuery,
    request: Request,
) -> Result<Response, Problem> {
    let form = Form::parse(query.as_deref().unwrap_or_default());
    let name = form.get("name").unwrap_or("history").to_owned();
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let body: Body = request.into_body();
    let path = app.uploads.take(&name, length, body).await?;
    let app: Arc<App> = app;
    wait(move || {
        let path = std::fs::canonicalize(path).map_err(Problem::internal)?;
        let listed = app.library.list().entries.into_iter().find(|entry| entry.path == path);
        let id =
            listed.ok_or_else(|| Problem::internal("it was taken, but there are too many histories to list it"))?.id;
        Ok(problem::json(json!({ "id": id, "page": format!("/histories/{id}") }).to_string() + "\n"))
    })
    .await
}

fn form(body: &Bytes) -> Form {
    Form::parse(&String::from_utf8_lossy(body))
}
