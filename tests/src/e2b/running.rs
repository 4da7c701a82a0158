//! A program of a sandbox, and what it prints.

use std::{
    collections::BTreeMap,
    io::{self, Read, Write as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::PathBuf,
    pin::Pin,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    task::{self, Poll},
    thread,
    time::Duration,
};

use axum::body::Bytes;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_core::Stream;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::{
    connect::{self, Code, ConnectError},
    lock,
    machine::Machine,
};

/// As much of an output as one event has.
const CHUNK: usize = 32 << 10;
/// So many events wait for who reads; then the program waits.
const WAITING: usize = 64;
/// Every program begins as a shell's, which tells by its exit code that it did not find it.
const BEGIN: &str = r#"exec "$@""#;

/// A program to be started.
pub(super) struct Program {
    pub(super) words: Vec<String>,
    pub(super) tag: Option<String>,
    pub(super) config: Value,
    pub(super) directory: PathBuf,
    pub(super) home: PathBuf,
    pub(super) user: String,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) has_stdin: bool,
    pub(super) limit: Option<Duration>,
}

/// A program that was started.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) tag: Option<String>,
    pub(super) config: Value,
    pid: Pid,
    stdin: Mutex<Option<ChildStdin>>,
    /// Whether its outputs are still waited for.
    wanted: watch::Sender<bool>,
}

impl Running {
    /// Starts it. It goes on when nobody reads its events any more.
    pub(super) fn start(
        program: Program,
        machine: &Arc<Machine>,
    ) -> io::Result<(Arc<Self>, Events)> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", BEGIN, "--"])
            .args(&program.words)
            .current_dir(&program.directory)
            .env_clear()
            .env(
                "PATH",
                "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            )
            .env("HOME", &program.home)
            .env("USER", &program.user)
            .env("LOGNAME", &program.user)
            .envs(&program.variables)
            .stdin(match program.has_stdin {
                true => Stdio::piped(),
                false => Stdio::null(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // Whoever reaps orphans must not meet it before it is known.
        let mut programs = lock(&machine.programs);
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let running = Arc::new(Self {
            tag: program.tag,
            config: program.config,
            pid,
            stdin: Mutex::new(child.stdin.take()),
            wanted: watch::Sender::new(true),
        });
        let id = child.id();
        programs.insert(id, Arc::clone(&running));
        drop(programs);
        let (send, receive) = mpsc::channel(WAITING);
        let started = json!({"event": {"start": {"pid": id}}});
        let _ = send.try_send(connect::frame(&started));
        let outputs = [
            pump("stdout", child.stdout.take(), send.clone()),
            pump("stderr", child.stderr.take(), send.clone()),
        ];
        let (attended, of) = (Arc::clone(&running), Arc::clone(machine));
        tokio::spawn(async move {
            attended.attend(child, outputs, program.limit, send).await;
            lock(&of.programs).remove(&id);
        });
        let gone = Arc::clone(machine);
        let gone = Box::pin(async move { gone.gone().await });
        Ok((running, Events { receive, gone }))
    }

    /// Sees to its end, and tells it.
    async fn attend(
        &self,
        child: Child,
        outputs: [thread::JoinHandle<()>; 2],
        limit: Option<Duration>,
        send: mpsc::Sender<Vec<u8>>,
    ) {
        let read = tokio::task::spawn_blocking(move || {
            for output in outputs {
                let _ = output.join();
            }
        });
        let over = async {
            match limit {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        let mut wanted = self.wanted.subscribe();
        let is_over = tokio::select! {
            _ = read => false,
            _ = wanted.wait_for(|wanted| !wanted) => false,
            () = over => true,
        };
        if is_over {
            // The program alone, as the real one does.
            let _ = kill_process(self.pid, Signal::KILL);
        }
        let ended = tokio::task::spawn_blocking(move || {
            let mut child = child;
            child.wait()
        });
        let last = match (is_over, ended.await) {
            (true, _) => {
                let error = ConnectError::new(Code::DeadlineExceeded, "context deadline exceeded");
                connect::end(Some(&error))
            }
            (false, Ok(Ok(status))) => {
                let mut last = connect::frame(&json!({"event": {"end": told(status)}}));
                last.extend(connect::end(None));
                last
            }
            (false, _) => {
                let error = ConnectError::new(Code::Unknown, "the program was lost");
                connect::end(Some(&error))
            }
        };
        let _ = send.send(last).await;
    }

    pub(super) fn input(&self, content: &[u8]) -> io::Result<()> {
        match lock(&self.stdin).as_mut() {
            Some(stdin) => stdin.write_all(content),
            None => Err(io::Error::other("stdin not enabled or closed")),
        }
    }

    pub(super) fn close_input(&self) {
        drop(lock(&self.stdin).take());
    }

    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        self.wanted.send_replace(false);
        Ok(kill_process(self.pid, signal)?)
    }
}

/// An end as it is told: what is nothing is left out, as the real one does it.
fn told(status: ExitStatus) -> Value {
    let code = status.code().unwrap_or(-1);
    let mut told = match status.code() {
        Some(code) => json!({"exited": true, "status": format!("exit status {code}")}),
        None => json!({"status": format!("signal: {}", status.signal().unwrap_or_default())}),
    };
    if code != 0 {
        told["exitCode"] = code.into();
        told["error"] = told["status"].clone();
    }
    told
}

/// Reads an output to its end.
fn pump(
    name: &'static str,
    output: Option<impl Read + Send + 'static>,
    send: mpsc::Sender<Vec<u8>>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        let Some(mut output) = output else { return };
        while let Ok(count @ 1..) = output.read(&mut buffer) {
            let text = STANDARD.encode(&buffer[..count]);
            let event = json!({"event": {"data": {name: text}}});
            // Nobody may be there any more; the program goes on.
            let _ = send.blocking_send(connect::frame(&event));
        }
    })
}

/// The events of a program, as the body of an answer; with the sandbox the connection is gone.
pub(super) struct Events {
    receive: mpsc::Receiver<Vec<u8>>,
    gone: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Stream for Events {
    type Item = io::Result<Bytes>;

    fn poll_next(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
    ) -> Poll<Option<Self::Item>> {
        if self.gone.as_mut().poll(context).is_ready() {
            return Poll::Ready(Some(Err(io::Error::other("the sandbox is gone"))));
        }
        let event = task::ready!(self.receive.poll_recv(context));
        Poll::Ready(event.map(|event| Ok(event.into())))
    }
}

/// A body that breaks off at once; it has the name of the sandbox.
pub(super) struct Cut(pub(super) String);

impl Stream for Cut {
    type Item = io::Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<Option<Self::Item>> {
        let message = format!("the sandbox {} is gone", self.0);
        Poll::Ready(Some(Err(io::Error::other(message))))
    }
}
