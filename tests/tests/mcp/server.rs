//! `belljar serve` as a program of its own, and a client that writes and reads lines.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// How long anything may take on a machine that is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The token of the servers over HTTP.
pub(crate) const TOKEN: &str = "a-token-of-the-tests-with-enough-bytes";

/// A folder with a configuration, tools and a workspace.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    /// The coding tools, and those of `figures`, over processes of this machine.
    pub(crate) fn new() -> Self {
        Self::with("local", "[sandbox.local]\nallow-host-processes = true\n")
    }

    /// The same over files alone, with a workspace for each session.
    pub(crate) fn files() -> Self {
        Self::with("virtual", "")
    }

    fn with(backend: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let config = format!(
            "version = 1\n[sandbox]\nbackend = \"{backend}\"\nwritable = true\n{more}\
             [tools.coding]\ncomponent = \"coding.wasm\"\nallow = [\"read\", \"write\", \"run\"]\n\
             [tools.more]\ncomponent = \"more.wasm\"\n"
        );
        std::fs::write(folder.path().join("belljar.toml"), config).expect("a configuration");
        let place = Self { folder };
        place.put("coding.wasm", &belljar_test_guests::coding());
        place.put("more.wasm", &belljar_test_guests::component("figures"));
        place
    }

    /// Puts a file in place of another, in one step.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let beside = self.folder.path().join("beside");
        std::fs::write(&beside, bytes).expect("a file");
        std::fs::rename(beside, self.folder.path().join(name)).expect("it is put in place");
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join("belljar.toml")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(belljar());
        command
            .arg("serve")
            .arg("--config")
            .arg(self.config())
            .current_dir(self.folder.path())
            .env("XDG_CACHE_HOME", cache());
        command
    }
}

/// Compiled components of all tests of this binary: outside the places, which are new each time.
fn cache() -> PathBuf {
    let test = std::env::current_exe().expect("this test's own path");
    let folder = test.ancestors().nth(2).expect("cargo's target folder");
    folder.join("mcp-cache")
}

/// The command, as the build task built it.
pub(crate) fn belljar() -> PathBuf {
    let named = std::env::var_os("BELLJAR_COMMAND").map(PathBuf::from);
    let path = named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let folder = test.ancestors().nth(2).expect("cargo's target folder");
        folder.join("belljar")
    });
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// A server on standard streams, and its client.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    output: Receiver<Value>,
}

impl Server {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let (send, output) = channel();
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.expect("UTF-8");
                let value = serde_json::from_str(&line).expect("nothing but the protocol");
                if send.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            output,
        }
    }

    /// The same, initialized.
    pub(crate) fn ready(place: &Place) -> Self {
        let mut server = Self::start(&mut place.command());
        server.initialize();
        server.load();
        server
    }

    /// Waits until both components are listed: where they must be compiled a list may come before that.
    pub(crate) fn load(&mut self) {
        let id = json!("until loaded");
        loop {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
            if has_all(&self.answer(&id)) {
                return;
            }
        }
    }

    pub(crate) fn initialize(&mut self) -> Value {
        self.send(&initialize(json!(0)));
        let answer = self.answer(&json!(0));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(crate) fn line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(line).expect("it is read");
        input.write_all(b"\n").expect("it is read");
        input.flush().expect("it is read");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        self.send(&call(id.into(), tool, arguments));
    }

    /// The next message.
    pub(crate) fn next(&self) -> Value {
        self.output.recv_timeout(PATIENCE).expect("a message")
    }

    /// The next message, when one comes in this time.
    pub(crate) fn next_within(&self, time: Duration) -> Option<Value> {
        self.output.recv_timeout(time).ok()
    }

    /// The answer with this id; what comes before it is left out.
    pub(crate) fn answer(&self, id: &Value) -> Value {
        loop {
            let message = self.next();
            if message.get("id") == Some(id) {
                return message;
            }
        }
    }

    /// Waits for the server's end.
    pub(crate) fn end(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input ends it and its processes; killed, it would leave these.
        drop(self.input.take());
        let start = Instant::now();
        while start.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a list has tools of both components of a [`Place`].
fn has_all(answer: &Value) -> bool {
    let tools = answer["result"]["tools"].as_array().expect("a list");
    ["read", "echo"]
        .iter()
        .all(|name| tools.iter().any(|tool| tool["name"] == *name))
}

pub(crate) fn initialize(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

pub(crate) fn call(id: Value, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
           "params": {"name": tool, "arguments": arguments}})
}

/// How many processes of this machine have exactly this command line.
pub(crate) fn processes(command: &[&str]) -> usize {
    let wanted: Vec<u8> = command
        .iter()
        .flat_map(|word| word.bytes().chain([0]))
        .collect();
    let entries = std::fs::read_dir("/proc").expect("a list of processes");
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| *line == wanted)
        .count()
}

/// Waits until there are so many, and says how long that took.
pub(crate) fn wait_for_processes(command: &[&str], count: usize) -> Duration {
    let start = Instant::now();
    while processes(command) != count {
        assert!(
            start.elapsed() < PATIENCE,
            "{command:?} is not there {count} times"
        );
        thread::sleep(Duration::from_millis(5));
    }
    start.elapsed()
}

/// A server over HTTP.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) address: String,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// Each message of a stream, or of the body.
    pub(crate) messages: Vec<Value>,
}

impl HttpServer {
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut child = place
            .command()
            .args([
                "--json",
                "--listen",
                "127.0.0.1:0",
                "--token-env",
                "MCP_TOKEN",
            ])
            .args(arguments)
            .env("MCP_TOKEN", TOKEN)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("it says where it listens");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        let address = told["listening"]["address"].as_str().expect("an address");
        Self {
            address: address.to_owned(),
            child,
        }
    }

    /// Sends a request and gives the connection.
    pub(crate) fn open(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a time limit");
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        if !headers.iter().any(|(name, _)| *name == "Authorization") {
            head += &format!("Authorization: Bearer {TOKEN}\r\n");
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += "\r\n";
        stream.write_all(head.as_bytes()).expect("it is read");
        stream.write_all(body).expect("it is read");
        stream
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) fn request(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut text = String::new();
        self.open(method, headers, body)
            .read_to_string(&mut text)
            .expect("an answer");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).expect("a status");
        let message = |line: &str| {
            let line = line.strip_prefix("data:").unwrap_or(line).trim();
            line.starts_with('{')
                .then(|| serde_json::from_str(line).expect("JSON"))
        };
        Reply {
            status: status.parse().expect("a number"),
            messages: body.lines().filter_map(message).collect(),
            head: head.to_owned(),
        }
    }

    pub(crate) fn post(&self, session: &str, message: &Value) -> Reply {
        let headers = [("Mcp-Session-Id", session)];
        self.request("POST", &headers, message.to_string().as_bytes())
    }

    /// Begins a session and gives its name.
    pub(crate) fn session(&self) -> String {
        let reply = self.request("POST", &[], initialize(json!(0)).to_string().as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
        let named = reply.head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id")
                .then(|| value.to_owned())
        });
        let session = named.expect("a session's name");
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&session, &begun).status, 202);
        let list = json!({"jsonrpc": "2.0", "id": "until loaded", "method": "tools/list"});
        while !has_all(
            self.post(&session, &list)
                .messages
                .last()
                .expect("an answer"),
        ) {}
        session
    }

    /// The text that a tool answers.
    pub(crate) fn text(&self, session: &str, tool: &str, arguments: Value) -> String {
        let reply = self.post(session, &call(json!("text"), tool, arguments));
        let result = &reply.messages.last().expect("an answer")["result"];
        result["content"][0]["text"]
            .as_str()
            .expect("text")
            .to_owned()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder of the official clients, as the build task makes it.
pub(crate) fn clients() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let folder = cache.map(|cache| cache.join("belljar/mcp-clients"));
    let folder = folder.filter(|folder| folder.join("ready").is_file());
    if folder.is_none() {
        let reason = "skipped: the official MCP clients are not here; `cargo xtask mcp-clients` installs them";
        assert!(std::env::var_os("BELLJAR_CI").is_none(), "{reason}");
        eprintln!("{reason}");
    }
    folder
}
