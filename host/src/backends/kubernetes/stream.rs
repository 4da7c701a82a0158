//! An exec stream of a Pod as a socket, on whose other end the sandbox protocol is spoken.

use std::{
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, PoisonError},
};

use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{AttachParams, AttachedProcess},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::UnixStream as Socket,
    sync::watch,
};

use super::{
    classify::{Asked, words},
    cluster::ask,
    failure::Why,
    manifest::CONTAINER,
};

/// What is on its way between the socket and the cluster, each way.
const BUFFER: usize = 256 << 10;

/// The most that is kept of what was said beside the stream.
const MAX_SAID: usize = 4 << 10;

/// What carries a stream, as long as it does.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    said: Arc<Mutex<Vec<u8>>>,
    ended: watch::Receiver<bool>,
}

impl Carrier {
    /// What was said beside the stream, by the program or by the cluster.
    pub(super) fn words(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        words(&String::from_utf8_lossy(&said))
    }

    /// Waits until nothing carries the stream any more; then the words are whole.
    pub(super) async fn ended(mut self) {
        // Who is gone has ended.
        let _ = self.ended.wait_for(|ended| *ended).await;
    }
}

/// Starts a program in a Pod, and gives its standard streams.
pub(super) async fn open(
    pods: Api<Pod>,
    pod: String,
    command: Vec<String>,
) -> Result<(UnixStream, Carrier), Why> {
    let parameters = AttachParams::default()
        .container(CONTAINER)
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .tty(false)
        .max_stdin_buf_size(BUFFER)
        .max_stdout_buf_size(BUFFER)
        .max_stderr_buf_size(MAX_SAID);
    let process = ask(Asked::exec(), pods.exec(&pod, command, &parameters)).await?;
    let (here, there) = pair().map_err(|error| (error.into(), String::new()))?;
    let said = Arc::new(Mutex::new(Vec::new()));
    let (over, ended) = watch::channel(false);
    let carrier = Carrier {
        said: Arc::clone(&said),
        ended,
    };
    tokio::spawn(async move {
        carry(process, there, &said).await;
        // Nobody may be interested.
        let _ = over.send(true);
    });
    Ok((here, carrier))
}

fn pair() -> std::io::Result<(UnixStream, Socket)> {
    let (here, there) = UnixStream::pair()?;
    there.set_nonblocking(true)?;
    Ok((here, Socket::from_std(there)?))
}

/// Carries bytes both ways until the Pod's end of the stream is over.
async fn carry(mut process: AttachedProcess, socket: Socket, said: &Mutex<Vec<u8>>) {
    let (Some(mut input), Some(output), Some(errors), Some(status)) = (
        process.stdin(),
        process.stdout(),
        process.stderr(),
        process.take_status(),
    ) else {
        return;
    };
    let (from_host, mut to_host) = socket.into_split();
    let up = async {
        let mut from_host = BufReader::with_capacity(BUFFER, from_host);
        // Its end is told by what is closed.
        let _ = tokio::io::copy_buf(&mut from_host, &mut input).await;
        let _ = input.shutdown().await;
        drop(input);
        std::future::pending::<()>().await;
    };
    let down = async {
        let mut output = BufReader::with_capacity(BUFFER, output);
        let _ = tokio::io::copy_buf(&mut output, &mut to_host).await;
        let _ = to_host.shutdown().await;
    };
    let listen = keep(errors, said);
    let through = async {
        tokio::join!(down, listen);
        // It comes last.
        let status = status.await.and_then(|status| status.message);
        if let Some(message) = status {
            add(said, message.as_bytes());
        }
    };
    tokio::select! {
        () = up => {}
        () = through => {}
    }
}

/// Keeps the beginning of what is said, and passes over the rest.
async fn keep(mut errors: impl AsyncRead + Unpin, said: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut bytes).await {
        add(said, &bytes[..count]);
    }
}

fn add(said: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
    let room = MAX_SAID.saturating_sub(said.len());
    said.extend_from_slice(&bytes[..bytes.len().min(room)]);
}
