//! From requests to what they do.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use isonomy_history::formats::JsonlWriter;
use serde_json::json;
use serde_json::value::RawValue;

use super::problem::{self, Problem};
use super::requests::{Begin, Read, Transaction, Write, body};
use super::sessions::{Client, Json, Sessions};
use crate::config::Limits;
use crate::password::{Password, same};

const ABOUT: &str = concat!(
    "Isonomy ",
    env!("CARGO_PKG_VERSION"),
    ": a mock store whose reads return whatever its isolation level allows.

POST   /sessions                                                {\"session\":ID}
POST   /sessions/ID/begin     {\"level\":…,\"choice\":…} or nothing
POST   /sessions/ID/read      {\"key\":K}                         {\"value\":V}
POST   /sessions/ID/write     {\"key\":K,\"value\":V}               null deletes
POST   /sessions/ID/commit
POST   /sessions/ID/rollback
DELETE /sessions/ID
POST   /transactions          {\"session\":ID,\"operations\":[[\"read\",K],[\"write\",K,V]]}
POST   /settle                all sessions see all that is committed
GET    /history               what happened so far, as jsonl
"
);

type Shared = State<Arc<Sessions>>;
type Body = Result<Bytes, BytesRejection>;

/// All routes.
pub(super) fn router(sessions: Arc<Sessions>, password: Option<Password>, limits: Limits) -> Router {
    Router::new()
        .route("/", get(|| async { ABOUT }))
        .route("/sessions", post(create))
        .route("/sessions/{id}", delete(remove))
        .route("/sessions/{id}/begin", post(begin))
        .route("/sessions/{id}/read", post(read))
        .route("/sessions/{id}/write", post(write))
        .route("/sessions/{id}/commit", post(commit))
        .route("/sessions/{id}/rollback", post(rollback))
        .route("/transactions", post(transactions))
        .route("/settle", post(settle))
        .route("/history", get(history))
        .fallback(|| async { Problem::new(StatusCode::NOT_FOUND, "there is nothing here; GET / tells what there is") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "not with this method; GET / tells what there is")
        })
        .layer(DefaultBodyLimit::max(limits.statement))
        .layer(middleware::from_fn_with_state(password, authorize))
        .with_state(sessions)
}

/// Lets only those through who know the password.
async fn authorize(State(password): State<Option<Password>>, request: Request, next: Next) -> Response {
    if let Some(password) = password {
        let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default().trim();
        if !same(token.as_bytes(), password.secret().as_bytes()) {
            let message = "the password is wanted: `Authorization: Bearer PASSWORD`";
            return Problem::new(StatusCode::UNAUTHORIZED, message).into_response();
        }
    }
    next.run(request).await
}

/// Does what may have to wait in a thread where waiting is allowed.
async fn wait<T: IntoResponse + Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let internal = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal error: this is a bug of isonomy");
    tokio::task::spawn_blocking(work).await.map_err(internal)?
}

/// Does something in a session.
async fn in_session<T: IntoResponse + Send + 'static>(
    sessions: Arc<Sessions>,
    id: String,
    work: impl FnOnce(&mut Client) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    wait(move || sessions.in_session(&id, work)).await
}

fn content(body: Body) -> Result<Bytes, Problem> {
    body.map_err(|rejection| Problem::new(rejection.status(), rejection.body_text()))
}

/// An answer with nothing to say.
fn fine() -> Response {
    answer(&json!({}))
}

fn answer(value: &impl serde::Serialize) -> Response {
    let text = serde_json::to_string(value).expect("answers have text for keys");
    problem::json(StatusCode::OK, text + "\n")
}

/// A value as it was written.
fn raw(value: Json) -> Box<RawValue> {
    let text = value.map_or_else(|| "null".to_owned(), String::from);
    RawValue::from_string(text).expect("only JSON is ever written")
}

async fn create(State(sessions): Shared) -> Result<Response, Problem> {
    let session = sessions.create()?;
    Ok(answer(&json!({ "session": session })))
}

async fn remove(State(sessions): Shared, Path(id): Path<String>) -> Result<Response, Problem> {
    wait(move || sessions.remove(&id).map(|()| fine())).await
}

async fn begin(State(sessions): Shared, Path(id): Path<String>, bytes: Body) -> Result<Response, Problem> {
    let bytes = content(bytes)?;
    let request: Begin = if bytes.trim_ascii().is_empty() { Begin::default() } else { body(&bytes)? };
    let store = sessions.store().clone();
    in_session(sessions, id, move |client| client.begin(&request, &store).map(|()| fine())).await
}

async fn read(State(sessions): Shared, Path(id): Path<String>, bytes: Body) -> Result<Response, Problem> {
    let request: Read = body(&content(bytes)?)?;
    let value = in_session(sessions, id, move |client| {
        client.read(&request.key).map(|value| answer(&std::collections::BTreeMap::from([("value", raw(value))])))
    });
    value.await
}

async fn write(State(sessions): Shared, Path(id): Path<String>, bytes: Body) -> Result<Response, Problem> {
    let request: Write = body(&content(bytes)?)?;
    in_session(sessions, id, move |client| client.write(&request.key, request.value.get()).map(|()| fine())).await
}

async fn commit(State(sessions): Shared, Path(id): Path<String>) -> Result<Response, Problem> {
    in_session(sessions, id, |client| client.commit().map(|()| fine())).await
}

async fn rollback(State(sessions): Shared, Path(id): Path<String>) -> Result<Response, Problem> {
    in_session(sessions, id, |client| {
        client.rollback();
        Ok(fine())
    })
    .await
}

async fn transactions(State(sessions): Shared, bytes: Body) -> Result<Response, Problem> {
    let request: Transaction = body(&content(bytes)?)?;
    let values = wait(move || {
        let values: Vec<_> = sessions.transact(&request)?.into_iter().map(raw).collect();
        Ok(answer(&std::collections::BTreeMap::from([("values", values)])))
    });
    values.await
}

async fn settle(State(sessions): Shared) -> Result<Response, Problem> {
    wait(move || {
        sessions.store().settle();
        Ok(fine())
    })
    .await
}

/// What happened so far, in SQL too.
async fn history(State(sessions): Shared) -> Result<Response, Problem> {
    wait(move || {
        let mut lines = Vec::new();
        let written = sessions.store().write_history(&mut JsonlWriter::new(&mut lines));
        written.map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
    })
    .await
}
