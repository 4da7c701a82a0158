//! A program's three streams, passed on as they come.

use std::{
    io::{self, Read as _, Write as _},
    time::Duration,
};

use belljar::{
    Command, ErrorKind, RunOptions, Sandbox,
    processes::{Ended, OutputStream, ProcessId},
};

use crate::{exit_code::Exit, failure::Failure, interrupt::Interrupt, output::Output};

/// How long one question for more output waits. It costs a thread while it does.
const READ_WAIT: Duration = Duration::from_secs(10);
/// Bytes asked for at once: what a pipe holds.
const READ_BYTES: u64 = 64 << 10;
/// How long input waits before it is offered again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// Starts the program, and passes its streams on until it ends.
pub(super) async fn streamed(
    sandbox: &Sandbox,
    command: Command,
    options: RunOptions,
    interrupt: &Interrupt,
    output: Output,
) -> Result<Ended, Failure> {
    let process = sandbox.start(command, options).await?;
    let input = tokio::spawn(feed(sandbox.clone(), process));
    let outputs = async {
        tokio::try_join!(
            drain(sandbox, process, OutputStream::Stdout, output),
            drain(sandbox, process, OutputStream::Stderr, output),
        )
    };
    let drained = tokio::select! {
        drained = outputs => drained,
        () = interrupt.heard() => Err(Failure::interrupted()),
    };
    input.abort();
    drained?;
    loop {
        if let Some(ended) = sandbox.wait(process, READ_WAIT).await? {
            return Ok(ended);
        }
    }
}

/// Passes one output on until it ends.
async fn drain(
    sandbox: &Sandbox,
    process: ProcessId,
    stream: OutputStream,
    output: Output,
) -> Result<(), Failure> {
    let mut cursor = 0;
    loop {
        let chunk = sandbox
            .read_output(process, stream, cursor, READ_BYTES, READ_WAIT)
            .await?;
        dropped(output, stream, chunk.dropped);
        if !chunk.bytes.is_empty() {
            // A reader that is slow must not keep the other output waiting.
            let print = tokio::task::spawn_blocking(move || print(stream, &chunk.bytes));
            print
                .await
                .map_err(|error| Failure::new(Exit::Host, error))??;
        }
        if chunk.ended {
            return Ok(());
        }
        cursor = chunk.cursor;
    }
}

/// Passes standard input on until it ends, or the program's does.
async fn feed(sandbox: Sandbox, process: ProcessId) {
    let (send, mut receive) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    // A thread of its own: a read from a terminal comes back when it likes, or never.
    let reader = std::thread::Builder::new()
        .name("belljar-stdin".into())
        .spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut buffer = vec![0; 64 << 10];
            loop {
                match stdin.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(read) => {
                        if send.blocking_send(buffer[..read].to_vec()).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        tracing::warn!("standard input cannot be read: {error}");
                        return;
                    }
                }
            }
        });
    if let Err(error) = reader {
        tracing::warn!("standard input is not passed on: {error}");
    }
    while let Some(bytes) = receive.recv().await {
        if !offer(&sandbox, process, &bytes, false).await {
            return;
        }
    }
    offer(&sandbox, process, &[], true).await;
}

/// Offers input until it is taken; false when the program takes no more.
async fn offer(sandbox: &Sandbox, process: ProcessId, bytes: &[u8], close: bool) -> bool {
    let (mut pause, most) = RETRY;
    loop {
        match sandbox.write_input(process, bytes, close).await {
            Ok(()) => return true,
            Err(error) if error.kind == ErrorKind::Busy => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(most);
            }
            // A program that reads no more is no error, and its end is told elsewhere.
            Err(_) => return false,
        }
    }
}

/// Prints bytes as they are.
pub(super) fn print(stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        OutputStream::Stdout => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            stdout.flush()
        }
        OutputStream::Stderr => io::stderr().write_all(bytes),
    }
}

/// Says that bytes are gone.
pub(super) fn dropped(output: Output, stream: OutputStream, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let name = match stream {
        OutputStream::Stdout => "standard output",
        OutputStream::Stderr => "standard error",
    };
    output.note(&format!(
        "belljar: {bytes} bytes of {name} came faster than they were read, and are gone"
    ));
}
