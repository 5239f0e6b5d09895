//! What can go wrong with a request, as an answer.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use isonomy_store::StoreError;

/// Why a request was not done.
#[derive(Debug)]
pub(super) struct Problem {
    status: StatusCode,
    message: String,
}

impl Problem {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Problem { status, message: message.into() }
    }

    /// What came cannot be understood.
    pub(super) fn bad(message: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, message)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        let status = match error {
            StoreError::Conflict(_) => StatusCode::CONFLICT,
            StoreError::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
            StoreError::NotOpen => StatusCode::BAD_REQUEST,
        };
        Problem::new(status, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.message }).to_string() + "\n";
        let mut response = json(self.status, body);
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// An answer.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
