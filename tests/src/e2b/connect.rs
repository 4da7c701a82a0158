//! The Connect protocol, as JSON: unary calls, and calls that are answered by a stream.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

/// The content type of a unary call.
pub(super) const UNARY: &str = "application/json";
/// The content type of a call with streams.
pub(super) const STREAMING: &str = "application/connect+json";
/// The flag of the last frame.
const END: u8 = 2;

/// What can go wrong, of what this server says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    DeadlineExceeded,
    Internal,
    InvalidArgument,
    NotFound,
    Unauthenticated,
    Unimplemented,
    Unknown,
}

/// An error of the protocol.
#[derive(Clone, Debug)]
pub(super) struct ConnectError {
    code: Code,
    message: String,
}

impl ConnectError {
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    fn json(&self) -> serde_json::Value {
        json!({"code": self.code.name(), "message": self.message})
    }

    /// As the answer to a unary call.
    pub(super) fn unary(&self) -> Response {
        let mut response = answer(UNARY, self.json().to_string());
        *response.status_mut() = self.code.status();
        response
    }

    /// As the answer to a call with streams: the status is that of a success.
    pub(super) fn streaming(&self) -> Response {
        answer(STREAMING, end(Some(self)))
    }
}

impl Code {
    fn name(self) -> &'static str {
        match self {
            Self::DeadlineExceeded => "deadline_exceeded",
            Self::Internal => "internal",
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
            Self::Unauthenticated => "unauthenticated",
            Self::Unimplemented => "unimplemented",
            Self::Unknown => "unknown",
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            Self::Internal | Self::Unknown => StatusCode::INTERNAL_SERVER_ERROR,
            Self::InvalidArgument => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        }
    }
}

/// Whether a call is one with streams; an answer when it is neither that nor unary.
pub(super) fn is_streaming(headers: &HeaderMap) -> Result<bool, Box<Response>> {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_streaming = match kind {
        Some(kind) if kind == STREAMING.as_bytes() => true,
        Some(kind) if kind == UNARY.as_bytes() => false,
        _ => {
            let answer = StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response();
            return Err(Box::new(answer));
        }
    };
    let refuse = |message: String| {
        let error = ConnectError::new(Code::InvalidArgument, message);
        let answer = match is_streaming {
            true => error.streaming(),
            false => error.unary(),
        };
        Err(Box::new(answer))
    };
    match headers.get("connect-protocol-version") {
        Some(version) if version == "1" => {}
        version => return refuse(format!("connect-protocol-version must be 1: {version:?}")),
    }
    for name in ["content-encoding", "connect-content-encoding"] {
        if let Some(encoding) = headers.get(name).filter(|encoding| *encoding != "identity") {
            return refuse(format!("unknown compression {encoding:?}"));
        }
    }
    Ok(is_streaming)
}

/// The message of a unary call.
pub(super) fn message<T: DeserializeOwned>(body: &[u8]) -> Result<T, ConnectError> {
    serde_json::from_slice(body)
        .map_err(|error| ConnectError::new(Code::InvalidArgument, error.to_string()))
}

/// The one message of a call that is answered by a stream.
pub(super) fn framed_message<T: DeserializeOwned>(body: &[u8]) -> Result<T, ConnectError> {
    let wrong = |what: &str| ConnectError::new(Code::InvalidArgument, what);
    let (head, content) = body
        .split_at_checked(5)
        .ok_or_else(|| wrong("the frame's head is cut"))?;
    if head[0] != 0 {
        return Err(wrong("the frame has flags"));
    }
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if usize::try_from(length).ok() != Some(content.len()) {
        return Err(wrong("there must be one frame, as long as it says"));
    }
    message(content)
}

/// The answer to a unary call.
pub(super) fn unary(result: Result<impl Serialize, ConnectError>) -> Response {
    let text = result.and_then(|answer| {
        serde_json::to_string(&answer)
            .map_err(|error| ConnectError::new(Code::Internal, error.to_string()))
    });
    match text {
        Ok(text) => answer(UNARY, text),
        Err(error) => error.unary(),
    }
}

/// An answer of a call.
pub(super) fn answer(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// A frame with a message.
pub(super) fn frame(message: &impl Serialize) -> Vec<u8> {
    enveloped(0, &serde_json::to_vec(message).unwrap_or_default())
}

/// The last frame of a stream.
pub(super) fn end(error: Option<&ConnectError>) -> Vec<u8> {
    let content = match error {
        Some(error) => json!({"error": error.json()}),
        None => json!({}),
    };
    enveloped(END, content.to_string().as_bytes())
}

fn enveloped(flags: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    let mut frame = vec![flags];
    frame.extend(length.to_be_bytes());
    frame.extend(content);
    frame
}
