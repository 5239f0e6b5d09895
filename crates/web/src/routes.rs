//! From requests to what they do. Nothing else knows HTTP.
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /` | what there is |
//! | `GET /histories/{id}` | a history or a run; `…/statistics` and `…/transactions?offset=&limit=&session=&key=` are parts of pages |
//! | `GET /histories/{id}/file` | the history itself |
//! | `POST /histories/{id}/check` | starts a check; a form with `level`, several times, and `timeout` |
//! | `GET /runs/new`, `POST /runs` | starts a run |
//! | `GET /jobs/{number}?level=` | a job, with the counterexample of a level; `…/events` are server-sent events, `…/files/{name}` what it left |
//! | `POST /jobs/{number}/stop` | stops it |
//! | `GET /compare?id=&id=` | two of them side by side; `/compare/numbers?id=&id=` is a part of the page |
//! | `POST /uploads?name=` | takes a history in, as the body |
//! | `GET /api/histories`, `/api/histories/{id}/transactions`, `/api/jobs`, `/api/jobs/{number}` | the same as JSON |

mod api;
mod change;
mod pages;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use crate::assets;
use crate::gate::Refused;
use crate::problem::Problem;
use crate::server::App;
use crate::view;

type Shared = State<Arc<App>>;

/// Forms are small. Uploads have a limit of their own.
const FORM: usize = 64 << 10;

/// Everything comes from here, scripts and styles are files of ours, and nobody puts us into a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
                      base-uri 'none'; frame-ancestors 'none'";

/// All routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(pages::home))
        .route("/login", get(pages::login).post(change::login))
        .route("/histories/{id}", get(pages::history))
        .route("/histories/{id}/statistics", get(pages::statistics))
        .route("/histories/{id}/transactions", get(pages::transactions))
        .route("/histories/{id}/file", get(pages::file))
        .route("/histories/{id}/check", post(change::check))
        .route("/runs/new", get(pages::run))
        .route("/runs", post(change::run))
        .route("/jobs/{number}", get(pages::job))
        .route("/jobs/{number}/events", get(pages::events))
        .route("/jobs/{number}/files/{name}", get(pages::left))
        .route("/jobs/{number}/stop", post(change::stop))
        .route("/compare", get(pages::compare))
        .route("/compare/numbers", get(pages::numbers))
        .route("/uploads", post(change::upload))
        .route("/api/histories", get(api::histories))
        .route("/api/histories/{id}/transactions", get(api::transactions))
        .route("/api/jobs", get(api::jobs))
        .route("/api/jobs/{number}", get(api::job))
        .route("/assets/{name}", get(asset))
        .fallback(|| async { page(Err(Problem::missing())) })
        .layer(DefaultBodyLimit::max(FORM))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Lets in who may come in, and tells browsers what pages may do.
async fn guard(State(app): Shared, request: Request, next: Next) -> Response {
    let for_people = !request.uri().path().starts_with("/api/") && request.method() == axum::http::Method::GET;
    let mut response = match app.gate.check(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(Refused::Host) => {
            Problem::new(StatusCode::MISDIRECTED_REQUEST, "this server answers to 127.0.0.1 and localhost only")
                .into_response()
        }
        Err(Refused::Token) if for_people => (StatusCode::UNAUTHORIZED, html(view::login(false))).into_response(),
        Err(Refused::Token) => {
            let message = "a token is needed: send `Authorization: Bearer TOKEN`, or log in at /login";
            Problem::new(StatusCode::UNAUTHORIZED, message).into_response()
        }
        Err(Refused::Origin) => {
            let message = "a request that changes something must come from a page of this server, or have the header `X-Isonomy: 1`";
            Problem::new(StatusCode::FORBIDDEN, message).into_response()
        }
    };
    let fixed = [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        // Not `no-referrer`, with which browsers would not say where forms come from.
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

async fn asset(Path(name): Path<String>) -> Response {
    match assets::asset(&name) {
        Some((kind, text)) => {
            ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], text).into_response()
        }
        None => Problem::missing().into_response(),
    }
}

/// Does what may take a while in a thread where waiting is allowed.
async fn wait<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    let broken = |_| Problem::internal("internal error; this is a bug in isonomy, please report it");
    tokio::task::spawn_blocking(work).await.map_err(broken)?
}

fn html(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

/// A page, or a page that says why there is none.
fn page(made: Result<String, Problem>) -> Response {
    made.map_or_else(refused, html)
}

/// Where to go next, or a page that says why not.
fn onward(to: Result<String, Problem>) -> Response {
    match to {
        Ok(to) => (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response(),
        Err(problem) => refused(problem),
    }
}

fn refused(problem: Problem) -> Response {
    (problem.status(), html(view::problem(problem.message()))).into_response()
}
