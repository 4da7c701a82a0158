//! A small server that lends this machine's directories over HTTP, as the guest `lends_over_http` asks it, and that answers
//! in ways which a client must be careful with.
//!
//! | request | answer |
//! |---|---|
//! | `POST /open`, `/close?PATH` | a new directory's path; its removal |
//! | `GET`, `PUT /files?PATH` | a whole file |
//! | `POST /exec?LENGTH` | a command of that length, then its input: exit code, length of the output, output, errors |
//! | `GET /echo` | the request's method and headers, a line each |
//! | `GET /to?URL`, `/see?URL` | a redirect, 307 or 302 |
//! | `GET /large?BYTES` | so many bytes |
//! | `GET /slow` | nothing, until whoever asks goes away |

#![expect(
    clippy::disallowed_methods,
    reason = "it is the other side, which has its own files"
)]

use std::{
    io::{Read, Write},
    net::SocketAddr,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, RawQuery, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::runtime::Runtime;

/// How long what is left of a command may hold its outputs.
const DRAIN: Duration = Duration::from_millis(500);

/// How the server's programs are started, for a test that must know its children.
#[derive(Clone, Copy)]
pub struct Starts {
    /// Starts one.
    pub spawn: fn(&mut Command) -> std::io::Result<Child>,
    /// After its end.
    pub forget: fn(u32),
}

impl Default for Starts {
    fn default() -> Self {
        Self {
            spawn: Command::spawn,
            forget: |_| {},
        }
    }
}

/// The server; it ends when this is dropped.
pub struct LendingServer {
    address: SocketAddr,
    gone: Mutex<Receiver<()>>,
    begun: Mutex<Receiver<()>>,
    runtime: Option<Runtime>,
}

struct Shared {
    /// The PATH of programs.
    path: String,
    starts: Starts,
    gone: Sender<()>,
    begun: Sender<()>,
}

impl LendingServer {
    /// The token without which nothing is lent.
    pub const TOKEN: &'static str = "a-token-of-the-tests";

    /// Starts it on a port of this machine.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn start(path: impl Into<String>, starts: Starts) -> Self {
        Self::start_with(path, starts, None)
    }

    fn start_with(
        path: impl Into<String>,
        starts: Starts,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let Ok(runtime) = runtime else {
            panic!("there is no runtime");
        };
        let ((gone, is_gone), (begun, has_begun)) = (channel(), channel());
        let shared = Arc::new(Shared {
            path: path.into(),
            starts,
            gone,
            begun,
        });
        let Ok((address, listener)) = listen() else {
            panic!("there is no port");
        };
        match tls {
            None => {
                runtime.spawn(async move {
                    let listener = tokio::net::TcpListener::from_std(listener)?;
                    axum::serve(listener, router(shared)).await
                });
            }
            Some(tls) => {
                let tls = axum_server::tls_rustls::RustlsConfig::from_config(tls);
                runtime.spawn(async move {
                    axum_server::from_tcp_rustls(listener, tls)?
                        .serve(router(shared).into_make_service())
                        .await
                });
            }
        }
        Self {
            address,
            gone: Mutex::new(is_gone),
            begun: Mutex::new(has_begun),
            runtime: Some(runtime),
        }
    }

    /// Starts it with TLS, as `localhost`; also the certificate that it shows, in PEM.
    ///
    /// # Panics
    /// It does not start.
    #[must_use]
    pub fn start_tls() -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let Ok(made) = made else {
            panic!("there is no certificate");
        };
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = key.ok().and_then(|key| {
            rustls::ServerConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .ok()?
                .with_no_client_auth()
                .with_single_cert(vec![made.cert.der().clone()], key)
                .ok()
        });
        let Some(config) = config else {
            panic!("the certificate cannot be used");
        };
        let server = Self::start_with("", Starts::default(), Some(Arc::new(config)));
        (server, made.cert.pem())
    }

    /// Its URL, by the address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.address.port()
    }

    /// Waits until somebody waits for `/slow`.
    #[must_use]
    pub fn is_asked(&self, within: Duration) -> bool {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        begun.recv_timeout(within).is_ok()
    }

    /// Waits until somebody who waited for `/slow` went away.
    #[must_use]
    pub fn is_left(&self, within: Duration) -> bool {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        gone.recv_timeout(within).is_ok()
    }
}

impl Drop for LendingServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn listen() -> std::io::Result<(SocketAddr, std::net::TcpListener)> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    listener.set_nonblocking(true)?;
    Ok((listener.local_addr()?, listener))
}

/// Text as it stands in a query: each byte as `%xx`.
#[must_use]
pub fn in_query(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn from_query(query: Option<String>) -> String {
    let query = query.unwrap_or_default();
    let bytes = query.split('%').skip(1);
    let bytes = bytes.filter_map(|digits| u8::from_str_radix(digits, 16).ok());
    String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
}

fn router(shared: Arc<Shared>) -> Router {
    let lent = Router::new()
        .route("/open", post(open))
        .route("/close", post(close))
        .route("/files", get(read).put(write))
        .route("/exec", post(exec))
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn(authorized));
    let odd = Router::new()
        .route("/echo", get(echo).post(echo))
        .route("/to", get(to).post(to))
        .route("/see", get(see).post(see))
        .route("/large", get(large))
        .route("/slow", get(slow));
    lent.merge(odd).with_state(shared)
}

async fn authorized(request: Request, next: Next) -> Response {
    let right = format!("Bearer {}", LendingServer::TOKEN);
    let given = request.headers().get(header::AUTHORIZATION);
    match given.is_some_and(|given| given.as_bytes() == right.as_bytes()) {
        true => next.run(request).await,
        false => StatusCode::UNAUTHORIZED.into_response(),
    }
}

fn failed(error: impl std::fmt::Display) -> Response {
    (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response()
}

async fn open() -> Response {
    match tempfile::tempdir() {
        Ok(folder) => folder.keep().display().to_string().into_response(),
        Err(error) => failed(error),
    }
}

async fn close(RawQuery(query): RawQuery) -> Response {
    match std::fs::remove_dir_all(from_query(query)) {
        Ok(()) => "".into_response(),
        Err(error) => failed(error),
    }
}

async fn read(RawQuery(query): RawQuery) -> Response {
    match std::fs::read(from_query(query)) {
        Ok(content) => content.into_response(),
        Err(error) => failed(error),
    }
}

async fn write(RawQuery(query): RawQuery, content: Bytes) -> Response {
    match std::fs::write(from_query(query), content) {
        Ok(()) => "".into_response(),
        Err(error) => failed(error),
    }
}

async fn exec(
    State(shared): State<Arc<Shared>>,
    RawQuery(length): RawQuery,
    body: Bytes,
) -> Response {
    let length = length.and_then(|length| length.parse().ok());
    let split = length.and_then(|length| body.split_at_checked(length));
    let Some((command, stdin)) = split else {
        return failed("no such length");
    };
    let command = String::from_utf8_lossy(command).into_owned();
    let stdin = stdin.to_vec();
    let mut program = Command::new("/bin/sh");
    program
        .args(["-c", &command])
        .env_clear()
        .env("PATH", &shared.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = match (shared.starts.spawn)(&mut program) {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    // A vendor ends what nobody waits for: the request's future is dropped with its connection.
    let _kills = Kills(Pid::from_child(&child));
    let forget = shared.starts.forget;
    let ran = tokio::task::spawn_blocking(move || {
        let id = child.id();
        let ran = run(child, stdin);
        forget(id);
        ran
    });
    match ran.await {
        Ok(Ok(answer)) => answer.into_response(),
        Ok(Err(error)) => failed(error),
        Err(error) => failed(error),
    }
}

/// Gives a program its input, and reads its outputs to their end.
fn run(mut child: Child, stdin: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let outputs = [bytes(child.stdout.take()), bytes(child.stderr.take())];
    if let Some(mut pipe) = child.stdin.take() {
        // One that does not read it is no error.
        std::thread::spawn(move || pipe.write_all(&stdin));
    }
    let code = child.wait()?.code().unwrap_or(143);
    let [stdout, stderr] = outputs.map(|output| output.recv_timeout(DRAIN).unwrap_or_default());
    let length = u32::try_from(stdout.len()).map_err(std::io::Error::other)?;
    let head = [code.to_le_bytes(), length.to_le_bytes()].concat();
    Ok([head, stdout, stderr].concat())
}

/// Reads to the end, on a thread.
fn bytes(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = send.send(bytes);
    });
    receive
}

struct Kills(Pid);

impl Drop for Kills {
    fn drop(&mut self) {
        // One that has ended needs nothing.
        let _ = kill_process_group(self.0, Signal::TERM);
    }
}

async fn echo(request: Request) -> String {
    let mut lines = vec![request.method().to_string()];
    let headers = request.headers().iter();
    lines.extend(
        headers
            .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))),
    );
    lines.join("\n")
}

async fn to(RawQuery(query): RawQuery) -> Response {
    redirect(StatusCode::TEMPORARY_REDIRECT, query)
}

async fn see(RawQuery(query): RawQuery) -> Response {
    redirect(StatusCode::FOUND, query)
}

fn redirect(status: StatusCode, query: Option<String>) -> Response {
    let mut headers = HeaderMap::new();
    match from_query(query).parse() {
        Ok(location) => headers.insert(header::LOCATION, location),
        Err(_) => return failed("no such location"),
    };
    (status, headers).into_response()
}

async fn large(RawQuery(query): RawQuery) -> Response {
    let length = query.and_then(|query| query.parse().ok()).unwrap_or(0);
    Body::from(vec![b'x'; length]).into_response()
}

async fn slow(State(shared): State<Arc<Shared>>) -> Response {
    struct Gone(Sender<()>);
    impl Drop for Gone {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let _gone = Gone(shared.gone.clone());
    let _ = shared.begun.send(());
    std::future::pending::<()>().await;
    StatusCode::OK.into_response()
}
