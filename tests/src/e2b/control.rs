//! Sandboxes made, kept and killed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request, State as Served},
    http::StatusCode,
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{delete, post},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    E2B_KEY, E2bFault, State, lock,
    machine::{Machine, MachineOptions},
};

/// The longest that a sandbox may live.
const LONGEST: u64 = 24 * 60 * 60;
/// The one template, which every team has.
const TEMPLATE: &str = "base";

/// `NewSandbox`: what of it only others have is taken and does nothing.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "a message's members, which need not be known to it"
)]
struct NewSandbox {
    #[serde(rename = "templateID")]
    template_id: String,
    timeout: Option<u64>,
    auto_pause: Option<bool>,
    auto_pause_memory: Option<bool>,
    auto_resume: Option<Value>,
    secure: Option<bool>,
    #[serde(rename = "allow_internet_access")]
    allow_internet_access: Option<bool>,
    network: Option<Value>,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    #[serde(default)]
    env_vars: BTreeMap<String, String>,
    mcp: Option<Value>,
    iam: Option<Value>,
    volume_mounts: Option<Vec<Value>>,
}

/// `SandboxTimeoutRequest`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Timeout {
    timeout: u64,
}

pub(super) fn router(state: Arc<State>) -> Router {
    Router::new()
        .route("/sandboxes", post(make))
        .route("/v2/sandboxes", post(make_secure))
        .route("/sandboxes/{id}", delete(kill).get(detail))
        .route("/sandboxes/{id}/timeout", post(timeout))
        .fallback(async || fault(StatusCode::NOT_FOUND, "no matching operation was found"))
        .layer(from_fn_with_state(Arc::clone(&state), with_key))
        .with_state(state)
}

async fn with_key(Served(state): Served<Arc<State>>, request: Request, next: Next) -> Response {
    state.note(request.method().as_str(), request.uri().path());
    match request.headers().get("x-api-key") {
        Some(key) if key == E2B_KEY => next.run(request).await,
        Some(_) => fault(StatusCode::UNAUTHORIZED, "Invalid API key"),
        None => fault(
            StatusCode::UNAUTHORIZED,
            "Invalid API key. header is missing",
        ),
    }
}

async fn make(Served(state): Served<Arc<State>>, body: Bytes) -> Response {
    made(&state, &body, |asked| asked.secure == Some(true), 15).await
}

/// The newer way: every sandbox has a token.
async fn make_secure(Served(state): Served<Arc<State>>, body: Bytes) -> Response {
    made(&state, &body, |_| true, 300).await
}

async fn made(
    state: &Arc<State>,
    body: &[u8],
    is_secure: impl FnOnce(&NewSandbox) -> bool,
    usual_timeout: u64,
) -> Response {
    if *lock(&state.fault) == E2bFault::NoRoom {
        let message = "You have reached the maximum number of concurrent E2B sandboxes";
        return fault(StatusCode::TOO_MANY_REQUESTS, message);
    }
    let asked: NewSandbox = match parsed(body) {
        Ok(asked) => asked,
        Err(answer) => return *answer,
    };
    if asked.template_id != TEMPLATE {
        let message = format!("template '{}' not found", asked.template_id);
        return fault(StatusCode::NOT_FOUND, message);
    }
    let seconds = asked.timeout.unwrap_or(usual_timeout);
    if seconds > LONGEST {
        return fault(
            StatusCode::BAD_REQUEST,
            "Timeout cannot be greater than 24 hours",
        );
    }
    let is_secure = is_secure(&asked);
    let made = Machine::make(
        state.folder.path(),
        MachineOptions {
            is_secure,
            lives: Duration::from_secs(seconds),
            metadata: asked.metadata,
            variables: asked.env_vars,
        },
    );
    let machine = match made {
        Ok(machine) => Arc::new(machine),
        Err(error) => return fault(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    lock(&state.machines).insert(machine.id.clone(), Arc::clone(&machine));
    tokio::spawn(at_its_end(Arc::clone(state), Arc::clone(&machine)));
    let mut told = json!({
        "templateID": TEMPLATE,
        "sandboxID": machine.id,
        "clientID": "6532622b",
        "envdVersion": "0.6.4",
        "domain": null,
    });
    if let Some(token) = &machine.token {
        told["envdAccessToken"] = token.as_str().into();
    }
    (StatusCode::CREATED, axum::Json(told)).into_response()
}

/// Kills a sandbox whose time is over.
async fn at_its_end(state: Arc<State>, machine: Arc<Machine>) {
    machine.until_its_time_is_over().await;
    state.kill(&machine.id);
}

async fn kill(Served(state): Served<Arc<State>>, Path(id): Path<String>) -> Response {
    let (ended, of) = (Arc::clone(&state), id.clone());
    let killed = tokio::task::spawn_blocking(move || ended.kill(&of)).await;
    match killed {
        Ok(true) => StatusCode::NO_CONTENT.into_response(),
        _ => not_found(&id),
    }
}

async fn detail(Served(state): Served<Arc<State>>, Path(id): Path<String>) -> Response {
    match state.machine(&id) {
        Some(machine) => axum::Json(json!({
            "templateID": TEMPLATE,
            "sandboxID": machine.id,
            "clientID": "6532622b",
            "startedAt": "1970-01-01T00:00:00Z",
            "endAt": "1970-01-02T00:00:00Z",
            "cpuCount": 2,
            "memoryMB": 512,
            "diskSizeMB": 512,
            "envdVersion": "0.6.4",
            "metadata": machine.metadata,
            "state": "running",
        }))
        .into_response(),
        None => not_found(&id),
    }
}

async fn timeout(
    Served(state): Served<Arc<State>>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    let asked: Timeout = match parsed(&body) {
        Ok(asked) => asked,
        Err(answer) => return *answer,
    };
    match state.machine(&id) {
        Some(machine) if asked.timeout <= LONGEST => {
            machine.lives_for(Duration::from_secs(asked.timeout));
            StatusCode::NO_CONTENT.into_response()
        }
        Some(_) => fault(
            StatusCode::BAD_REQUEST,
            "Timeout cannot be greater than 24 hours",
        ),
        None => not_found(&id),
    }
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Box<Response>> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("Error when parsing request: {error}");
        Box::new(fault(StatusCode::BAD_REQUEST, message))
    })
}

fn not_found(id: &str) -> Response {
    fault(StatusCode::NOT_FOUND, format!("sandbox \"{id}\" not found"))
}

/// `Error`.
fn fault(status: StatusCode, message: impl Into<String>) -> Response {
    let told = json!({"code": status.as_u16(), "message": message.into()});
    (status, axum::Json(told)).into_response()
}
