//! A client as a vendor's is: it runs a shell's text, gives what was printed as text, and moves whole files.

#![expect(
    clippy::disallowed_methods,
    reason = "a client has the whole of the other side"
)]

use std::{
    io::Read,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::orphans;
use belljar::{
    Context, async_trait,
    backends::{Client, ClientError, ClientOutput},
};
use rustix::process::{Pid, Signal, kill_process_group};

/// How long what is left of a command may hold its outputs.
const DRAIN: Duration = Duration::from_millis(500);

/// This machine, with this PATH.
pub(crate) struct LocalClient {
    path: String,
}

impl LocalClient {
    pub(crate) fn new(path: String) -> Self {
        Self { path }
    }

    fn run(&self, context: &Context, command: &str) -> std::io::Result<ClientOutput> {
        let mut program = Command::new("/bin/sh");
        program
            .args(["-c", command])
            .env_clear()
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = orphans::spawn(&mut program)?;
        let group = Pid::from_child(&child);
        // A vendor ends what nobody waits for.
        let _kill = context.cancellation().on_cancel(move || kill(group));
        let outputs = [text(child.stdout.take()), text(child.stderr.take())];
        let code = code(context, &mut child);
        orphans::forget(child.id());
        let code = code?;
        let [stdout, stderr] = outputs.map(|output| output.recv_timeout(DRAIN).unwrap_or_default());
        Ok(ClientOutput {
            code,
            stdout,
            stderr,
        })
    }
}

/// Waits for the end, and sees to it that it comes in time.
fn code(context: &Context, child: &mut Child) -> std::io::Result<i32> {
    let group = Pid::from_child(child);
    let (ended, waited) = channel::<()>();
    let remaining = context.remaining().unwrap_or(Duration::from_secs(3600));
    let watch = thread::spawn(move || {
        if waited.recv_timeout(remaining) == Err(RecvTimeoutError::Timeout) {
            kill(group);
        }
    });
    let status = child.wait();
    drop(ended);
    let _ = watch.join();
    Ok(status?.code().unwrap_or(143))
}

/// Reads to the end, on a thread.
fn text(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        // As an API that speaks JSON has it.
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

fn kill(group: Pid) {
    // One that has ended needs nothing.
    let _ = kill_process_group(group, Signal::TERM);
}

fn failed(error: std::io::Error) -> ClientError {
    ClientError::Failed {
        message: error.to_string(),
    }
}

#[async_trait]
impl Client for LocalClient {
    async fn read(&self, _: &Context, path: &str) -> Result<Vec<u8>, ClientError> {
        std::fs::read(path).map_err(failed)
    }

    async fn write(&self, _: &Context, path: &str, content: &[u8]) -> Result<(), ClientError> {
        std::fs::write(path, content).map_err(failed)
    }

    async fn exec(&self, context: &Context, command: &str) -> Result<ClientOutput, ClientError> {
        self.run(context, command).map_err(failed)
    }

    async fn close(&self) -> Result<(), ClientError> {
        Ok(())
    }
}
