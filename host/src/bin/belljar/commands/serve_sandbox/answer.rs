//! What is answered: a result, a failed operation, or why neither.

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use belljar::Error;
use serde::Serialize;
use serde_json::{json, value::RawValue};

use crate::{methods::MethodError, turns::Room};

/// An answer with its body, which is there once however many get it.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: StatusCode,
    body: Bytes,
}

impl Answer {
    /// A value as it is.
    pub(super) fn value(status: StatusCode, value: &impl Serialize) -> Self {
        match serde_json::to_vec(value) {
            Ok(body) => Self {
                status,
                body: body.into(),
            },
            Err(error) => Refusal::Internal(error.to_string()).into(),
        }
    }

    /// A call's result; the room that it takes is held until it is written.
    pub(super) fn result(result: &RawValue, room: Room) -> Self {
        let body = [br#"{"result":"#, result.get().as_bytes(), b"}"].concat();
        let body = Bytes::from_owner(Held { body, _room: room });
        Self {
            status: StatusCode::OK,
            body,
        }
    }

    /// A failed operation: the one answer with this status.
    pub(super) fn failed(error: &Error) -> Self {
        Self::value(StatusCode::UNPROCESSABLE_ENTITY, &json!({ "error": error }))
    }

    /// Nothing, after what was done.
    pub(super) const fn done() -> Self {
        Self {
            status: StatusCode::NO_CONTENT,
            body: Bytes::new(),
        }
    }
}

struct Held {
    body: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if self.status != StatusCode::NO_CONTENT {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// Why a request was not done, where no operation of the contract failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{0}")]
    Malformed(String),
    #[error("{0}")]
    UnknownMethod(String),
    #[error("{0}")]
    BadParameters(String),
    #[error("the request does not carry the token")]
    Unauthorized,
    #[error("there is nothing at this address")]
    NoSuchAddress,
    #[error("there is no such session; it may have been closed")]
    NoSuchSession,
    #[error("there is no such call; it may have been answered")]
    NoSuchCall,
    #[error("this address does not know the method")]
    NoSuchMethod,
    #[error("the body did not come in time")]
    Slow,
    #[error("the session has a call of this name")]
    CallExists,
    #[error("the request does not say how long its body is")]
    LengthRequired,
    #[error("the body is over {0} bytes")]
    TooLarge(usize),
    #[error("{0}")]
    Internal(String),
    #[error("{0}")]
    NotOpened(String),
    #[error("as many sandboxes are open as may be")]
    Full,
    #[error("too many calls wait for their turn or for memory")]
    Busy,
    #[error("the server ends")]
    Ending,
}

impl Refusal {
    const fn told(&self) -> (StatusCode, &'static str) {
        match self {
            Self::Malformed(_) => (StatusCode::BAD_REQUEST, "malformed"),
            Self::UnknownMethod(_) => (StatusCode::BAD_REQUEST, "unknown-method"),
            Self::BadParameters(_) => (StatusCode::BAD_REQUEST, "bad-parameters"),
            Self::Unauthorized => (StatusCode::UNAUTHORIZED, "unauthorized"),
            Self::NoSuchAddress => (StatusCode::NOT_FOUND, "no-such-address"),
            Self::NoSuchSession => (StatusCode::NOT_FOUND, "no-such-session"),
            Self::NoSuchCall => (StatusCode::NOT_FOUND, "no-such-call"),
            Self::NoSuchMethod => (StatusCode::METHOD_NOT_ALLOWED, "no-such-method"),
            Self::Slow => (StatusCode::REQUEST_TIMEOUT, "slow"),
            Self::CallExists => (StatusCode::CONFLICT, "call-exists"),
            Self::LengthRequired => (StatusCode::LENGTH_REQUIRED, "length-required"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too-large"),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
            Self::NotOpened(_) => (StatusCode::INTERNAL_SERVER_ERROR, "not-opened"),
            Self::Full => (StatusCode::SERVICE_UNAVAILABLE, "full"),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            Self::Ending => (StatusCode::SERVICE_UNAVAILABLE, "ending"),
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let (status, code) = refusal.told();
        let message = refusal.to_string();
        Self::value(
            status,
            &json!({ "refused": { "code": code, "message": message } }),
        )
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        Answer::from(self).into_response()
    }
}

impl From<MethodError> for Answer {
    fn from(error: MethodError) -> Self {
        let message = error.to_string();
        match error {
            MethodError::Unknown(_) => Refusal::UnknownMethod(message).into(),
            MethodError::Parameters(_) => Refusal::BadParameters(message).into(),
            MethodError::Internal(_) => Refusal::Internal(message).into(),
            MethodError::Failed(error) => Self::failed(&error),
        }
    }
}
