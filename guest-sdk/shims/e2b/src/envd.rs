//! Files and programs, by what serves in the sandbox.

use std::{
    cell::{Cell, OnceCell},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_guest::{
    Error, ErrorKind, Result,
    http::{HttpError, Request, Response},
    lend::{Failure, Output},
};
use serde_json::{Value, json};

use crate::{control::PORT, failed, refusal::failure, settings::Settings, stream, ticket::Ticket};

/// How the component names itself.
pub(crate) const USER_AGENT: &str = concat!("belljar-e2b/", env!("CARGO_PKG_VERSION"));
/// How long it may take to learn whether the sandbox is there.
const PROBE: Duration = Duration::from_secs(5);
/// How long the end of a command that nobody waits for may take to be asked for.
const END: Duration = Duration::from_millis(500);

/// Runs `$2` with the file `$1` on its standard input; the file is gone before.
const WITH_INPUT: &str = r#"exec <"$1" && rm -f "$1" && exec /bin/sh -c "$2""#;

/// What serves in a sandbox.
pub(crate) struct Envd {
    url: String,
    /// What every request has.
    headers: Vec<(&'static str, String)>,
    user: Option<String>,
    root: String,
    scratch: String,
    /// A directory of this instance's own.
    own: OnceCell<String>,
    /// How many commands it has run.
    commands: Cell<u64>,
}

impl Envd {
    pub(crate) fn new(settings: &Settings, ticket: &Ticket) -> Self {
        let mut headers = vec![
            ("user-agent", USER_AGENT.to_owned()),
            // Where one host has all sandboxes these tell which it is.
            ("e2b-sandbox-id", ticket.id.clone()),
            ("e2b-sandbox-port", PORT.to_owned()),
        ];
        headers.extend(ticket.token.clone().map(|token| ("x-access-token", token)));
        Self {
            url: ticket.url.clone(),
            headers,
            user: settings.user.clone(),
            root: settings.root.clone(),
            scratch: settings.scratch.clone(),
            own: OnceCell::new(),
            commands: Cell::new(0),
        }
    }

    /// Makes the workspace, where it is not there.
    pub(crate) fn make_root(&self) -> Result<()> {
        let command = r#"mkdir -p -- "$1""#;
        let made = self.start(None, &["/bin/sh", "-c", command, "sh", &self.root]);
        match made {
            Ok(output) if output.code == 0 => Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let message = format!("the workspace cannot be made: {}", said.trim());
                Err(failed(ErrorKind::BackendFailed, message))
            }
            Err(failure) => Err(not_open(&failure)),
        }
    }

    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let response = self.sent(self.files("GET", path))?;
        match response.status {
            200 => Ok(response.body),
            _ => Err(failure(&response)),
        }
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let request = self.files("POST", path);
        let request = request.with_header("content-type", "application/octet-stream");
        let response = self.sent(request.body(bytes))?;
        match response.status {
            200 => Ok(()),
            _ => Err(failure(&response)),
        }
    }

    pub(crate) fn exec(&self, command: &str, stdin: &[u8]) -> Result<Output, Failure> {
        let number = self.commands.get();
        self.commands.set(number + 1);
        let name = |own: &str| format!("{own}/{number}");
        if stdin.is_empty() {
            // To be found again is not worth another command.
            let tag = self.own.get().map(|own| name(own));
            return self.start(tag.as_deref(), &["/bin/sh", "-c", command]);
        }
        let name = name(self.own()?);
        self.write(&name, stdin)?;
        let words = ["/bin/sh", "-c", WITH_INPUT, "sh", &name, command];
        self.start(Some(&name), &words)
    }

    /// The directory of this instance's own, which only the session's user can enter.
    fn own(&self) -> Result<&str, Failure> {
        if let Some(own) = self.own.get() {
            return Ok(own);
        }
        let command = r#"mktemp -d "$1/belljar-XXXXXXXXXX""#;
        let words = ["/bin/sh", "-c", command, "sh", &self.scratch];
        let made = self.start(None, &words)?;
        let name = String::from_utf8_lossy(&made.stdout);
        let name = name.trim_end_matches('\n');
        if made.code != 0 || !name.starts_with(&self.scratch) {
            let said = String::from_utf8_lossy(&made.stderr);
            let message = format!(
                "no directory can be made in {}: {}",
                self.scratch,
                said.trim()
            );
            return Err(Failure::Failed(message));
        }
        Ok(self.own.get_or_init(|| name.to_owned()))
    }

    /// Runs a program to its end. By its tag it is found again, when nobody waits for it any more.
    fn start(&self, tag: Option<&str>, words: &[&str]) -> Result<Output, Failure> {
        let [program, arguments @ ..] = words else {
            return Err(Failure::Failed("there is no program".to_owned()));
        };
        let mut asked = json!({
            "process": {"cmd": program, "args": arguments},
            "stdin": false,
        });
        if let Some(tag) = tag {
            asked["tag"] = tag.into();
        }
        let request = self
            .call("Start", "application/connect+json")
            .body(enveloped(&asked)?);
        let response = match request.send() {
            Err(HttpError::Stopped) => {
                if let Some(tag) = tag {
                    self.end(tag);
                }
                return Err(HttpError::Stopped.into());
            }
            sent => self.settled(sent)?,
        };
        let kind = response.header("content-type");
        match (response.status, kind) {
            (200, Some("application/connect+json")) => stream::output(&response.body),
            (200, kind) => Err(Failure::Failed(format!(
                "a command's start is answered by {kind:?}"
            ))),
            _ => Err(failure(&response)),
        }
    }

    /// Has a command end. That it cannot be done is no matter: what is wanted no more, another one looks for.
    fn end(&self, tag: &str) {
        let asked = json!({"process": {"tag": tag}, "signal": "SIGNAL_SIGTERM"});
        let request = self.call("SendSignal", "").json(&asked);
        let _ = request.timeout(END).send();
    }

    fn call(&self, method: &str, kind: &str) -> Request {
        let mut request = self
            .request("POST", &format!("/process.Process/{method}"))
            .with_header("connect-protocol-version", "1");
        if !kind.is_empty() {
            request = request.with_header("content-type", kind);
        }
        match &self.user {
            // The password is nobody's.
            Some(user) => {
                let told = STANDARD.encode(format!("{user}:"));
                request.with_header("authorization", format!("Basic {told}"))
            }
            None => request,
        }
    }

    fn files(&self, method: &str, path: &str) -> Request {
        let mut place = format!("/files?path={}", escaped(path));
        if let Some(user) = &self.user {
            place.push_str("&username=");
            place.push_str(&escaped(user));
        }
        self.request(method, &place)
    }

    fn request(&self, method: &str, path: &str) -> Request {
        let request = Request::new(method, format!("{}{path}", self.url));
        self.headers.iter().fold(request, |request, (name, value)| {
            request.with_header(*name, value.as_str())
        })
    }

    fn sent(&self, request: Request) -> Result<Response, Failure> {
        self.settled(request.send())
    }

    /// A connection that broke may tell that the sandbox is gone, or nothing of it: so it is asked for.
    fn settled(&self, sent: Result<Response, HttpError>) -> Result<Response, Failure> {
        let error = match sent {
            Err(HttpError::Unreachable(error)) => error,
            sent => return Ok(sent?),
        };
        let probe = self.request("GET", "/health").timeout(PROBE).send();
        match probe {
            Ok(response) if response.is_success() => Err(Failure::Failed(format!(
                "the connection broke, and the sandbox is there: {error}"
            ))),
            Ok(response) => Err(failure(&response)),
            Err(_) => Err(Failure::Unavailable(error)),
        }
    }
}

/// A message in its frame.
fn enveloped(message: &Value) -> Result<Vec<u8>, Failure> {
    let content = message.to_string().into_bytes();
    let length = u32::try_from(content.len())
        .map_err(|_| Failure::Failed("the command is too long for a frame".to_owned()))?;
    let mut frame = vec![0];
    frame.extend(length.to_be_bytes());
    frame.extend(content);
    Ok(frame)
}

/// A text as a parameter in a URL, whatever is in it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                escaped.push(byte.into());
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// Why a sandbox that was made is of no use.
fn not_open(failure: &Failure) -> Error {
    let kind = match failure {
        Failure::Unavailable(_) => ErrorKind::BackendUnavailable,
        Failure::Busy(_) => ErrorKind::Busy,
        Failure::Failed(_) => ErrorKind::BackendFailed,
    };
    failed(kind, failure.to_string())
}
