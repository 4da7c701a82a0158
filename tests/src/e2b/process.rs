//! Programs, by remote procedure call.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{
    Extension,
    body::{Body, Bytes},
    extract::{Path, State as Served},
    http::{HeaderMap, header::AUTHORIZATION},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    State,
    connect::{self, Code, ConnectError, STREAMING},
    lock,
    machine::Machine,
    running::{Program, Running},
};

/// The users of a sandbox; the first is who programs run as when nobody is named.
const USERS: [&str; 2] = ["user", "root"];

/// Calls that are published and that nothing here needs.
const ABSENT: [&str; 3] = ["Connect", "StreamInput", "Update"];

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ProcessConfig {
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    envs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StartRequest {
    process: ProcessConfig,
    tag: Option<String>,
    stdin: Option<bool>,
    pty: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selector {
    pid: Option<u32>,
    tag: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Selected {
    process: Selector,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendInput {
    process: Selector,
    input: Input,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    stdin: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SendSignal {
    process: Selector,
    signal: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

pub(super) async fn call(
    Served(state): Served<Arc<State>>,
    Extension(machine): Extension<Arc<Machine>>,
    Path(method): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let is_streaming = match connect::is_streaming(&headers) {
        Ok(is_streaming) => is_streaming,
        Err(answer) => return *answer,
    };
    let refuse = |error: ConnectError| match is_streaming {
        true => error.streaming(),
        false => error.unary(),
    };
    let user = match user(&headers) {
        Ok(user) => user,
        Err(error) => return refuse(error),
    };
    if is_streaming != matches!(method.as_str(), "Start" | "Connect" | "StreamInput") {
        return axum::response::IntoResponse::into_response(
            axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
        );
    }
    match method.as_str() {
        "Start" => {
            let fault = *lock(&state.fault);
            if let Some(answer) = fault.answer().await {
                return answer;
            }
            match start(&machine, user, &headers, &body) {
                Ok(output) => connect::answer(STREAMING, output),
                Err(error) => refuse(error),
            }
        }
        "List" => connect::unary(list(&machine, &body)),
        "SendInput" => {
            let sent = tokio::task::spawn_blocking(move || send_input(&machine, &body)).await;
            connect::unary(sent.unwrap_or_else(|error| Err(internal(&error))))
        }
        "CloseStdin" => connect::unary(close_stdin(&machine, &body)),
        "SendSignal" => connect::unary(send_signal(&machine, &body)),
        _ if ABSENT.contains(&method.as_str()) => {
            let message = "this server does not have it";
            refuse(ConnectError::new(Code::Unimplemented, message))
        }
        _ => axum::response::IntoResponse::into_response((
            axum::http::StatusCode::NOT_FOUND,
            "404 page not found\n",
        )),
    }
}

fn start(
    machine: &Arc<Machine>,
    user: &str,
    headers: &HeaderMap,
    body: &[u8],
) -> Result<Body, ConnectError> {
    let asked: StartRequest = connect::framed_message(body)?;
    if asked.pty.is_some() {
        let message = "there are no terminals here";
        return Err(ConnectError::new(Code::Unimplemented, message));
    }
    let wrong = |message: String| ConnectError::new(Code::InvalidArgument, message);
    let limit = match headers.get("connect-timeout-ms") {
        None => None,
        Some(text) => {
            let number = text.to_str().ok().and_then(|text| text.parse().ok());
            let number = number.ok_or_else(|| wrong(format!("a bad time limit: {text:?}")))?;
            Some(Duration::from_millis(number))
        }
    };
    let directory = machine.path(asked.process.cwd.as_deref().unwrap_or_default());
    if !directory.exists() {
        return Err(wrong(format!(
            "cwd '{}' does not exist",
            directory.display()
        )));
    }
    let mut variables = machine.variables.clone();
    variables.extend(asked.process.envs.clone());
    let program = Program {
        words: [&asked.process.cmd]
            .into_iter()
            .chain(&asked.process.args)
            .cloned()
            .collect(),
        tag: asked.tag,
        config: json!(asked.process),
        directory,
        home: machine.home.clone(),
        user: user.to_owned(),
        variables,
        // For backwards compatibility there is one unless it is refused.
        has_stdin: asked.stdin.unwrap_or(true),
        limit,
    };
    let started = Running::start(program, machine);
    let (_, events) = started.map_err(|error| wrong(format!("error starting process: {error}")))?;
    Ok(Body::from_stream(events))
}

fn list(machine: &Machine, body: &[u8]) -> Result<serde_json::Value, ConnectError> {
    let Empty {} = connect::message(body)?;
    let programs: Vec<_> = lock(&machine.programs)
        .iter()
        .map(|(pid, running)| match &running.tag {
            Some(tag) => json!({"config": running.config, "pid": pid, "tag": tag}),
            None => json!({"config": running.config, "pid": pid}),
        })
        .collect();
    Ok(match programs.is_empty() {
        true => json!({}),
        false => json!({"processes": programs}),
    })
}

fn send_input(machine: &Machine, body: &[u8]) -> Result<serde_json::Value, ConnectError> {
    let asked: SendInput = connect::message(body)?;
    let running = selected(machine, &asked.process)?;
    let content = STANDARD
        .decode(asked.input.stdin)
        .map_err(|error| ConnectError::new(Code::InvalidArgument, error.to_string()))?;
    running.input(&content).map_err(|error| {
        ConnectError::new(Code::Internal, format!("error writing to stdin: {error}"))
    })?;
    Ok(json!({}))
}

fn close_stdin(machine: &Machine, body: &[u8]) -> Result<serde_json::Value, ConnectError> {
    let asked: Selected = connect::message(body)?;
    selected(machine, &asked.process)?.close_input();
    Ok(json!({}))
}

fn send_signal(machine: &Machine, body: &[u8]) -> Result<serde_json::Value, ConnectError> {
    let asked: SendSignal = connect::message(body)?;
    let running = selected(machine, &asked.process)?;
    let signal = match asked.signal.as_str() {
        "SIGNAL_SIGKILL" => Signal::KILL,
        "SIGNAL_SIGTERM" => Signal::TERM,
        other => {
            let message = format!("invalid signal: {other}");
            return Err(ConnectError::new(Code::Unimplemented, message));
        }
    };
    running.signal(signal).map_err(|error| {
        ConnectError::new(Code::Internal, format!("error sending signal: {error}"))
    })?;
    Ok(json!({}))
}

fn selected(machine: &Machine, selector: &Selector) -> Result<Arc<Running>, ConnectError> {
    let programs = lock(&machine.programs);
    let (found, shown) = match (selector.pid, &selector.tag) {
        (Some(pid), None) => (programs.get(&pid), format!("pid {pid}")),
        (None, Some(tag)) => {
            let found = programs
                .values()
                .find(|running| running.tag.as_ref() == Some(tag));
            (found, format!("tag {tag}"))
        }
        _ => {
            let message = "a process is selected by its pid or by its tag";
            return Err(ConnectError::new(Code::InvalidArgument, message));
        }
    };
    let missing = || ConnectError::new(Code::NotFound, format!("process with {shown} not found"));
    found.cloned().ok_or_else(missing)
}

/// Whether a sandbox has the user.
pub(super) fn is_user(name: &str) -> bool {
    USERS.contains(&name)
}

/// Who a call is made as: the name of basic authentication, whose password nobody looks at.
fn user(headers: &HeaderMap) -> Result<&'static str, ConnectError> {
    let Some(told) = headers.get(AUTHORIZATION) else {
        return Ok(USERS[0]);
    };
    let name = told
        .to_str()
        .ok()
        .and_then(|told| STANDARD.decode(told.strip_prefix("Basic ")?).ok())
        .and_then(|told| String::from_utf8(told).ok())
        .and_then(|told| Some(told.split_once(':')?.0.to_owned()));
    let known = USERS
        .into_iter()
        .find(|user| Some(*user) == name.as_deref());
    known.ok_or_else(|| {
        let message = format!("invalid username: '{}'", name.unwrap_or_default());
        ConnectError::new(Code::Unauthenticated, message)
    })
}

fn internal(error: &dyn std::error::Error) -> ConnectError {
    ConnectError::new(Code::Internal, error.to_string())
}
