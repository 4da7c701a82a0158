//! What the server can be made to do that no server should.

use axum::{
    body::{Body, Bytes},
    http::{HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::Response,
};

use super::connect::STREAMING;

/// How the start of a program is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum E2bFault {
    /// As is published.
    #[default]
    None,
    /// A frame whose content is no message.
    Garbage,
    /// A frame that says it is as long as a frame can say, and has a few bytes.
    HugeFrame,
    /// An end without the program's end.
    NoEnd,
    /// Nothing, for ever.
    Silence,
    /// The sandbox has too many connections.
    TooManyConnections,
    /// The team has as many sandboxes as it may have: no other is made.
    NoRoom,
}

impl E2bFault {
    /// The answer; none when it is to be as is published.
    pub(super) async fn answer(self) -> Option<Response> {
        let body: &[u8] = match self {
            Self::None | Self::NoRoom => return None,
            Self::Garbage => b"\x00\x00\x00\x00\x07garbage",
            Self::HugeFrame => b"\x00\xff\xff\xff\xff{}",
            Self::NoEnd => b"\x02\x00\x00\x00\x02{}",
            Self::Silence => std::future::pending().await,
            Self::TooManyConnections => return Some(too_many()),
        };
        let mut response = Response::new(Body::from(Bytes::from_static(body)));
        let kind = HeaderValue::from_static(STREAMING);
        response.headers_mut().insert(CONTENT_TYPE, kind);
        Some(response)
    }
}

/// The proxy's answer, which is not the Connect protocol's.
fn too_many() -> Response {
    let text = r#"{"sandboxId":"","message":"The sandbox has too many concurrent incoming connections (limit: 1)","code":429,"connectionLimit":1}"#;
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
