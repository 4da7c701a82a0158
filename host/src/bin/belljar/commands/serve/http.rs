//! Many clients over streamable HTTP.

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
    },
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::{
    sync::{Semaphore, oneshot},
    time::timeout,
};

use super::{handler::Handler, http_sessions::Sessions, message};
use crate::{
    exit_code::Exit,
    failure::Failure,
    http::{Listener, Token},
    interrupt::Interrupt,
};

/// Where clients find the server.
pub(super) const PATH: &str = "/mcp";
/// The largest message: the largest file that the contract's defaults allow, 16 MiB, of which each byte takes at
/// most six in JSON, and what is around it.
const MAX_MESSAGE_BYTES: usize = 100 << 20;
/// Bytes of messages that are read at once.
const MAX_HELD_BYTES: usize = 512 << 20;
/// What each message counts at least.
const LEAST_BYTES: usize = 64 << 10;
/// Permits count kibibytes, which keeps them within a semaphore's range.
const UNIT: usize = 1 << 10;
/// How long a message may take to come, and to be taken.
const PATIENCE: Duration = Duration::from_secs(30);
/// After which time a client is to ask again for a stream that it has lost.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// How long what is in flight at the end may take.
const FLUSHING: Duration = Duration::from_millis(300);
/// How long all sessions together may take to end.
const ENDING: Duration = Duration::from_secs(5);
const SESSION: &str = "mcp-session-id";

/// Whom the server answers.
pub(super) struct Admission {
    pub(super) token: Token,
    /// Beside loopback's names and the address that it listens on.
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

#[derive(Clone)]
struct Gate {
    token: Token,
    sessions: Arc<Sessions>,
    held: Arc<Semaphore>,
}

/// Serves until a signal comes, or the tools fail to load.
pub(super) async fn serve(
    listener: Listener,
    admission: Admission,
    handler: Handler,
    sessions: Arc<Sessions>,
    failed: oneshot::Receiver<Failure>,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut config = StreamableHttpServerConfig::default()
        // A page in a browser is no client, unless it is named.
        .with_allowed_origins(admission.origins)
        .enforce_origin_validation()
        .with_sse_retry(Some(RETRY))
        .with_max_request_body_bytes(MAX_MESSAGE_BYTES);
    let address = listener.address().ip();
    if !address.is_loopback() && !address.is_unspecified() {
        config.allowed_hosts.push(address.to_string());
    }
    config.allowed_hosts.extend(admission.hosts);
    let streams = config.cancellation_token.clone();
    let service =
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::clone(&sessions), config);
    let gate = Gate {
        token: admission.token,
        sessions: Arc::clone(&sessions),
        held: Arc::new(Semaphore::new(MAX_HELD_BYTES / UNIT)),
    };
    let routes = Router::new()
        .route_service(PATH, service)
        .layer(from_fn_with_state(gate, admit));
    let mut failure = None;
    let mut closed = Ok(());
    let end = async {
        tokio::select! {
            () = interrupt.heard() => {}
            Ok(failed) = failed => failure = Some(failed),
        }
        let ending = timeout(ENDING, sessions.close()).await;
        closed = ending.unwrap_or_else(|_| Err("they did not end in time".into()));
        streams.cancel();
    };
    listener.serve(routes, end, FLUSHING).await?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    closed.map_err(|reason| {
        Failure::new(Exit::Host, format!("not every sandbox is closed: {reason}"))
    })?;
    Ok(interrupt.signal().map_or(Exit::Done, Exit::Signalled))
}

/// Lets requests in that carry the token, with a message that is one.
async fn admit(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    if !gate.token.is_in(request.headers()) {
        let mut response = refuse(
            StatusCode::UNAUTHORIZED,
            "the request does not carry the token",
        );
        let bearer = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(WWW_AUTHENTICATE, bearer);
        return response;
    }
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    if !request.headers().contains_key(SESSION) && gate.sessions.is_full() {
        return busy("as many sessions are open as may be");
    }
    let Some(length) = length(request.headers()) else {
        let text = "the request does not say how long its body is";
        return refuse(StatusCode::LENGTH_REQUIRED, text);
    };
    if length > MAX_MESSAGE_BYTES {
        let text = format!("the message is over {MAX_MESSAGE_BYTES} bytes");
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, &text);
    }
    let units = u32::try_from(length.max(LEAST_BYTES).div_ceil(UNIT)).unwrap_or(u32::MAX);
    let Ok(Ok(_held)) = timeout(PATIENCE, gate.held.acquire_many(units)).await else {
        return busy("too many messages wait for memory");
    };
    let (head, body) = request.into_parts();
    let bytes = match timeout(PATIENCE, to_bytes(body, MAX_MESSAGE_BYTES)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return refuse(StatusCode::BAD_REQUEST, &format!("the body: {error}")),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time"),
    };
    match message::parse(&bytes) {
        Ok(Some(_)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
        Ok(None) => StatusCode::ACCEPTED.into_response(),
        Err(answer) => {
            let body = serde_json::to_vec(&answer).unwrap_or_default();
            let json = [(CONTENT_TYPE, "application/json")];
            (StatusCode::BAD_REQUEST, json, body).into_response()
        }
    }
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn refuse(status: StatusCode, text: &str) -> Response {
    (status, text.to_owned()).into_response()
}

fn busy(text: &str) -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, text);
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(RETRY_AFTER, soon);
    response
}
