//! Which sandbox a request is for, and whether it may reach it.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{DefaultBodyLimit, Request, State as Served},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;

use super::{State, files, machine::Machine, process};

/// The port of what serves in a sandbox.
const PORT: &str = "49983";
/// More than any file that travels.
const LARGEST: usize = 512 << 20;
/// What the real one does without a token, because it takes a signature instead.
const WITHOUT_TOKEN: &str = "/health";

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/health", get(async || StatusCode::NO_CONTENT))
        .route("/files", get(files::read).post(files::write))
        .route("/process.Process/{method}", post(process::call))
        .fallback(async || (StatusCode::NOT_FOUND, "404 page not found\n"))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn_with_state(Arc::clone(&state), to_machine))
        .with_state(state)
}

async fn to_machine(
    Served(state): Served<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    state.note(request.method().as_str(), request.uri().path());
    let (id, port) = match target(request.headers()) {
        Ok(target) => target,
        Err(message) => return (StatusCode::BAD_REQUEST, message).into_response(),
    };
    let Some(machine) = state.machine(&id) else {
        return refused(&id, "The sandbox was not found");
    };
    if port != PORT {
        return refused(&id, "The sandbox is running but port is not open");
    }
    let path = request.uri().path();
    if let Some(token) = &machine.token
        && path != WITHOUT_TOKEN
        && request
            .headers()
            .get("x-access-token")
            .map(HeaderValue::as_bytes)
            != Some(token.as_bytes())
    {
        let message = "unauthorized access, please provide a valid access token or method signing if supported";
        return fault(StatusCode::UNAUTHORIZED, message);
    }
    request.extensions_mut().insert(Arc::clone(&machine));
    tokio::select! {
        answer = next.run(request) => answer,
        () = machine.gone() => cut(&machine),
    }
}

/// The sandbox and the port: by headers where all sandboxes have one host, else by the host's name.
fn target(headers: &HeaderMap) -> Result<(String, String), &'static str> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
    let host = text(header::HOST.as_str()).ok_or("Invalid host")?;
    let name = host
        .rsplit_once(':')
        .map_or(host.as_str(), |(name, _)| name);
    let is_shared = name == "localhost"
        || name.parse::<std::net::Ipv4Addr>().is_ok()
        || name.starts_with("sandbox.");
    let (id, port) = match (text("e2b-sandbox-id"), text("e2b-sandbox-port")) {
        (Some(id), Some(port)) if is_shared => (id, port),
        (Some(_), None) | (None, Some(_)) if is_shared => return Err("missing header"),
        _ => {
            let (first, _) = name.split_once('.').ok_or("Invalid host")?;
            let (port, id) = first.split_once('-').ok_or("Invalid host")?;
            (id.to_owned(), port.to_owned())
        }
    };
    let is_id = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    match !id.is_empty() && id.bytes().all(is_id) {
        true => Ok((id, port)),
        false => Err("Invalid sandbox ID"),
    }
}

/// What the proxy says when there is nothing to pass a request on to.
fn refused(id: &str, message: &str) -> Response {
    let status = StatusCode::BAD_GATEWAY;
    let told = json!({"sandboxId": id, "message": message, "code": status.as_u16()});
    (status, axum::Json(told)).into_response()
}

/// Of a machine that went while it was asked, the connection ends in the middle.
fn cut(machine: &Machine) -> Response {
    let gone = machine.id.clone();
    Response::new(Body::from_stream(super::running::Cut(gone)))
}

/// `Error`, of what serves in the sandbox.
pub(super) fn fault(status: StatusCode, message: impl Into<String>) -> Response {
    let told = json!({"code": status.as_u16(), "message": message.into()});
    (status, axum::Json(told)).into_response()
}
