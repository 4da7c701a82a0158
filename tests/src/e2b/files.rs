//! Whole files, read and written.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{
    Extension,
    body::Bytes,
    extract::Query,
    http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::json;

use super::{machine::Machine, multipart, process::is_user, proxy::fault};

/// What a request for files has behind its path.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    path: Option<String>,
    username: Option<String>,
}

impl Asked {
    fn checked(&self) -> Result<(), Box<Response>> {
        match &self.username {
            Some(user) if !is_user(user) => {
                let message = format!("error looking up user '{user}': user: unknown user {user}");
                Err(Box::new(fault(StatusCode::UNAUTHORIZED, message)))
            }
            _ => Ok(()),
        }
    }
}

pub(super) async fn read(
    Extension(machine): Extension<Arc<Machine>>,
    Query(asked): Query<Asked>,
) -> Response {
    if let Err(answer) = asked.checked() {
        return *answer;
    }
    let path = machine.path(asked.path.as_deref().unwrap_or_default());
    let read = tokio::task::spawn_blocking(move || content(&path)).await;
    match read {
        Ok(Ok(content)) => {
            let mut response = Bytes::from(content).into_response();
            let kind = HeaderValue::from_static("application/octet-stream");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        Ok(Err((status, message))) => fault(status, message),
        Err(error) => fault(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

pub(super) async fn write(
    Extension(machine): Extension<Arc<Machine>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Err(answer) = asked.checked() {
        return *answer;
    }
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default();
    let bad = |message: &str| fault(StatusCode::BAD_REQUEST, message);
    let files = match (kind, multipart::boundary(kind), asked.path) {
        ("application/octet-stream", _, Some(path)) => vec![(path, body.to_vec())],
        ("application/octet-stream", _, None) => {
            return bad("path query parameter is required for raw body upload");
        }
        (_, Some(boundary), path) => match multipart::files(&body, boundary) {
            // With a path there is one file, and it has that.
            Some(parts) if path.is_none() || parts.len() == 1 => parts
                .into_iter()
                .map(|(name, content)| (path.clone().unwrap_or(name), content))
                .collect(),
            _ => return bad("error reading form"),
        },
        _ => return bad("unsupported content type"),
    };
    let files = files.into_iter();
    let files = files.map(|(path, content)| (machine.path(&path), content));
    let files: Vec<(PathBuf, Vec<u8>)> = files.collect();
    let written = tokio::task::spawn_blocking(move || {
        let mut told = Vec::new();
        for (path, content) in files {
            write_file(&path, &content)?;
            let name = path.file_name().map(|name| name.to_string_lossy());
            told.push(json!({"path": path, "name": name, "type": "file"}));
        }
        Ok::<_, (StatusCode, String)>(told)
    });
    match written.await {
        Ok(Ok(told)) => axum::Json(told).into_response(),
        Ok(Err((status, message))) => fault(status, message),
        Err(error) => fault(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a sandbox has this machine's files"
)]
fn content(path: &Path) -> Result<Vec<u8>, (StatusCode, String)> {
    let shown = path.display();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => (
            StatusCode::NOT_FOUND,
            format!("path '{shown}' does not exist"),
        ),
        io::ErrorKind::IsADirectory => (
            StatusCode::BAD_REQUEST,
            format!("path '{shown}' is a directory"),
        ),
        _ => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("error opening file '{shown}': {error}"),
        ),
    };
    std::fs::read(path).map_err(failed)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a sandbox has this machine's files"
)]
fn write_file(path: &Path, content: &[u8]) -> Result<(), (StatusCode, String)> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull => (
            StatusCode::INSUFFICIENT_STORAGE,
            "not enough disk space available".to_owned(),
        ),
        io::ErrorKind::IsADirectory => (
            StatusCode::BAD_REQUEST,
            format!("path is a directory: {}", path.display()),
        ),
        _ => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("error opening file: {error}"),
        ),
    };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    std::fs::write(path, content).map_err(failed)
}
