//! Requests to the server, and what its refusals mean.

use belljar_guest::{
    Error, ErrorKind, Operation, Result,
    http::{HttpError, Request, Response},
    settings,
};
use serde::{Deserialize, de::DeserializeOwned};

/// Where the server is, and what lets in there.
pub(crate) struct Server {
    sessions: String,
    token: String,
}

impl Server {
    /// As the operator configured it.
    pub(crate) fn configured() -> Result<Self> {
        let url = settings::required("url")?;
        Ok(Self {
            sessions: format!("{}/v1/sessions", url.trim_end_matches('/')),
            token: settings::required("token")?,
        })
    }

    pub(crate) fn get(&self, path: &str) -> Result<Response, HttpError> {
        self.send(Request::get(self.url(path)))
    }

    pub(crate) fn post(&self, path: &str, json: Vec<u8>) -> Result<Response, HttpError> {
        let request = Request::post(self.url(path));
        self.send(
            request
                .with_header("content-type", "application/json")
                .body(json),
        )
    }

    pub(crate) fn delete(&self, path: &str) -> Result<Response, HttpError> {
        self.send(Request::delete(self.url(path)))
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.sessions)
    }

    fn send(&self, request: Request) -> Result<Response, HttpError> {
        request.bearer(&self.token).send()
    }
}

/// What a response of this status says.
pub(crate) fn told<T: DeserializeOwned>(
    response: &Response,
    status: u16,
    operation: Operation,
) -> Result<T> {
    if response.status != status {
        return Err(refused(response, operation));
    }
    response.json().map_err(|error| error.during(operation))
}

#[derive(Deserialize)]
struct Failed {
    error: Error,
}

#[derive(Deserialize)]
struct Refused {
    refused: Refusal,
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
    message: String,
}

/// The error that a response without a result is.
pub(crate) fn refused(response: &Response, operation: Operation) -> Error {
    if response.status == 422 {
        return match response.json::<Failed>() {
            Ok(failed) => failed.error.during(operation),
            Err(error) => error.during(operation),
        };
    }
    let kind = match response.status {
        401 | 403 => ErrorKind::AccessDenied,
        // The session is gone, or the server is about to be.
        404 | 408 | 502 | 504 => ErrorKind::BackendUnavailable,
        413 => ErrorKind::TooLarge,
        429 | 503 => ErrorKind::Busy,
        _ => ErrorKind::BackendFailed,
    };
    let message = match response.json::<Refused>() {
        Ok(Refused { refused }) => {
            format!("the server refuses: {}: {}", refused.code, refused.message)
        }
        Err(_) => format!("the server answers with status {}", response.status),
    };
    Error::new(kind, operation, message)
}
