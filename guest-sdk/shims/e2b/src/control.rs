//! Sandboxes made, kept and killed, by E2B's API.

use std::time::Duration;

use belljar_guest::{
    Error, ErrorKind, Operation, Result,
    http::{Request, Response},
};
use serde::Deserialize;
use serde_json::json;

use crate::{
    failed,
    refusal::words,
    settings::{Settings, is_host},
    ticket::Ticket,
};

/// The port of what serves in a sandbox.
pub(crate) const PORT: &str = "49983";
/// How long a request to the API may take; to start a machine takes a second or two.
const LIMIT: Duration = Duration::from_secs(60);

/// E2B's API, with a key.
pub(crate) struct Control<'a> {
    settings: &'a Settings,
}

/// `Sandbox`: what of the answer is of use.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Made {
    #[serde(rename = "sandboxID")]
    sandbox_id: String,
    envd_access_token: Option<String>,
    domain: Option<String>,
}

impl<'a> Control<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { settings }
    }

    /// Makes a sandbox.
    pub(crate) fn make(&self) -> Result<Ticket> {
        let settings = self.settings;
        let asked = json!({
            "templateID": settings.template,
            "timeout": settings.timeout,
            // What is in it is reached with a token only.
            "secure": true,
            "autoPause": false,
            "allow_internet_access": settings.internet,
            "metadata": settings.metadata,
        });
        let request = self.request("POST", "/sandboxes").json(&asked);
        let response = request
            .send()
            .map_err(|error| error.during(Operation::Open))?;
        if response.status != 201 {
            return Err(not_made(&response, &settings.template));
        }
        let made: Made = response
            .json()
            .map_err(|error| error.during(Operation::Open))?;
        let domain = match made.domain.as_deref() {
            None | Some("") => settings.domain.as_str(),
            Some(domain) => domain,
        };
        // Both become a part of a URL.
        if !is_host(&made.sandbox_id) || !is_host(domain) {
            let message = format!(
                "the API told of a sandbox {:?} at {domain:?}, which cannot be",
                made.sandbox_id
            );
            return Err(failed(ErrorKind::BackendFailed, message));
        }
        let url = match &settings.sandbox_url {
            Some(url) => url.clone(),
            None => format!("https://{PORT}-{}.{domain}", made.sandbox_id),
        };
        Ok(Ticket {
            id: made.sandbox_id,
            url,
            token: made.envd_access_token,
        })
    }

    /// Has it live as long as at its beginning, from now on.
    pub(crate) fn keep(&self, ticket: &Ticket) -> Result<()> {
        let path = format!("/sandboxes/{}/timeout", ticket.id);
        let asked = json!({"timeout": self.settings.timeout});
        let request = self.request("POST", &path).json(&asked);
        let operation = Operation::Open;
        let response = request.send().map_err(|error| error.during(operation))?;
        match response.status {
            204 => Ok(()),
            404 => Err(Error::new(
                ErrorKind::BackendUnavailable,
                operation,
                format!("the sandbox is gone: {}", words(&response)),
            )),
            _ => Err(Error::new(
                ErrorKind::BackendFailed,
                operation,
                format!("its time is not extended: {}", words(&response)),
            )),
        }
    }

    /// Ends it; one that is gone already needs nothing.
    pub(crate) fn kill(&self, ticket: &Ticket) -> Result<()> {
        let request = self.request("DELETE", &format!("/sandboxes/{}", ticket.id));
        let operation = Operation::Close;
        let response = request.send().map_err(|error| error.during(operation))?;
        match response.status {
            204 | 404 => Ok(()),
            _ => Err(Error::new(
                ErrorKind::BackendFailed,
                operation,
                format!(
                    "the sandbox {} is not removed, and ends with its time: {}",
                    ticket.id,
                    words(&response)
                ),
            )),
        }
    }

    fn request(&self, method: &str, path: &str) -> Request {
        Request::new(method, format!("{}{path}", self.settings.api_url))
            .with_header("x-api-key", self.settings.api_key.as_str())
            .with_header("user-agent", crate::envd::USER_AGENT)
            .timeout(LIMIT)
    }
}

/// Why there is no sandbox.
fn not_made(response: &Response, template: &str) -> Error {
    let words = words(response);
    let (kind, message) = match response.status {
        401 | 403 => (
            ErrorKind::AccessDenied,
            format!("E2B refuses the key: {words}"),
        ),
        400 | 404 => (
            ErrorKind::InvalidArgument,
            format!("E2B makes no sandbox of the template {template:?}: {words}"),
        ),
        // The team has as many as it may have, or there is no machine for another.
        429 | 503 => (
            ErrorKind::Busy,
            format!("E2B has no room for a sandbox: {words}"),
        ),
        502 | 504 => (
            ErrorKind::BackendUnavailable,
            format!("E2B's API is not reached: {words}"),
        ),
        _ => (
            ErrorKind::BackendFailed,
            format!("E2B makes no sandbox: {words}"),
        ),
    };
    failed(kind, message)
}
