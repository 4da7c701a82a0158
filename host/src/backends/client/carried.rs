//! Programs with bytes in and bytes out, over a client that runs a shell's text and moves files.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Stop, async_trait,
    processes::{Execution, Outcome, Output},
};

use super::{
    super::posix::{Exec, ExecCall, ExecError},
    Client, ClientBytes, ClientBytesOutput, ClientError, ClientOutput,
    apart::{Unanswered, apart},
    frame::{self, Frame},
};

const SCRIPT: &str = include_str!("carry.sh");

/// So much is printed at once; more lies in files. As text it is three times that.
const AT_ONCE: u64 = 16 << 10;
/// A longer command travels in a file: a system takes some 128 KiB as one argument.
const LONGEST_COMMAND: usize = 32 << 10;
/// More than the script prints, whatever happened.
const LONGEST_ANSWER: usize = 128 << 10;
/// How long it may take to make the directory for what travels.
const MAKE: Duration = Duration::from_secs(20);
/// How long it may take to remove what travelled, at the end.
const CLEAR: Duration = Duration::from_secs(10);

/// An [`Exec`] over a [`Client`]; every clone is the same.
#[derive(Clone)]
pub(super) struct Carried {
    client: Arc<dyn Client>,
    /// The same, where bytes travel as they are.
    bytes: Option<Arc<dyn ClientBytes>>,
    /// The session's own directory on the other side.
    folder: Arc<str>,
    calls: Arc<AtomicU64>,
}

impl Carried {
    /// Makes the directory for what travels.
    pub(super) async fn open(
        context: &Context,
        client: Arc<dyn Client>,
        folder: String,
    ) -> Result<Self, Error> {
        // One that is there already is somebody else's.
        let command = format!("umask 077 && mkdir {}", quoted(&folder));
        let bounded = context.with_timeout(MAKE);
        let (asked, own) = (Arc::clone(&client), bounded.clone());
        let made = apart(&bounded, async move { asked.exec(&own, &command).await }).await;
        let failed = |kind, message: String| Error::new(kind, Operation::Open, message);
        let made = made.map_err(|why| match (why, context.check()) {
            (_, Err(stop)) => stop.during(Operation::Open),
            (Unanswered::Stopped(_), Ok(())) => {
                let message = format!("the client did not answer within {MAKE:?}");
                failed(ErrorKind::BackendUnavailable, message)
            }
            (Unanswered::NoThread(error), Ok(())) => failed(ErrorKind::Busy, error.to_string()),
            (Unanswered::Gone, Ok(())) => {
                failed(ErrorKind::BackendFailed, "the client panicked".to_owned())
            }
        })?;
        match made {
            Ok(output) if output.code == 0 => Ok(Self {
                bytes: client.bytes(),
                client,
                folder: folder.into(),
                calls: Arc::default(),
            }),
            Ok(output) => {
                let said = shortened(&output.stderr);
                let message = format!("the directory {folder} cannot be made: {said}");
                Err(failed(ErrorKind::BackendFailed, message))
            }
            Err(error) => {
                let kind = match &error {
                    ClientError::Unavailable { .. } => ErrorKind::BackendUnavailable,
                    ClientError::Busy { .. } => ErrorKind::Busy,
                    ClientError::Failed { .. } => ErrorKind::BackendFailed,
                };
                Err(failed(kind, error.to_string()).because(error))
            }
        }
    }

    /// Removes the directory; what cannot be removed ends with the sandbox.
    pub(super) async fn clear(&self) {
        let context = Context::new().with_timeout(CLEAR);
        let command = format!("rm -rf {}", quoted(&self.folder));
        let (client, own) = (Arc::clone(&self.client), context.clone());
        let _ = apart(&context, async move { client.exec(&own, &command).await }).await;
    }

    async fn run(&self, context: &Context, call: ExecCall) -> Result<Execution, ExecError> {
        if call.user.is_some() {
            return Err(failed("programs run as one user there"));
        }
        let began = context.now();
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let base = format!("{}/{number}", self.folder);
        let (frame, outputs) = match &self.bytes {
            Some(bytes) => self.as_it_is(context, bytes, &base, &call).await?,
            None => self.as_text(context, &base, &call).await?,
        };
        let [stdout, stderr] = outputs;
        let output = |kept, total| {
            frame::output(kept, total, call.output_limit)
                .ok_or_else(|| failed("what was printed does not have the length that was told"))
        };
        Ok(Execution {
            outcome: Outcome::Exited(frame.code),
            stdout: output(stdout, frame.totals[0])?,
            stderr: output(stderr, frame.totals[1])?,
            duration: context.now().saturating_sub(began),
        })
    }

    /// Content in files, and what was printed as text.
    async fn as_text(
        &self,
        context: &Context,
        base: &str,
        call: &ExecCall,
    ) -> Result<(Frame, [Vec<u8>; 2]), ExecError> {
        let input = match call.stdin.is_empty() {
            true => "null",
            false => {
                let name = format!("{base}.in");
                self.client.write(context, &name, &call.stdin).await?;
                "file"
            }
        };
        let command = command(base, input, &AT_ONCE.to_string(), call);
        let command = self.carried(context, base, command).await?;
        let answer = self.client.exec(context, &command).await?;
        if answer.stdout.len() > LONGEST_ANSWER {
            return Err(failed("it printed more than it was asked for"));
        }
        let frame = Frame::parse(&answer.stdout).filter(|_| answer.code == 0);
        let mut frame = frame.ok_or_else(|| not_understood(&answer))?;
        let outputs = match frame.outputs.take() {
            Some(outputs) => outputs,
            None => self.fetch(context, base).await?,
        };
        Ok((frame, outputs))
    }

    /// Content and what was printed as they are.
    async fn as_it_is(
        &self,
        context: &Context,
        bytes: &Arc<dyn ClientBytes>,
        base: &str,
        call: &ExecCall,
    ) -> Result<(Frame, [Vec<u8>; 2]), ExecError> {
        let input = if call.stdin.is_empty() { "null" } else { "own" };
        let command = command(base, input, "raw", call);
        let command = self.carried(context, base, command).await?;
        let answer = bytes.exec(context, &command, &call.stdin).await?;
        let frame = Frame::parse_raw(&answer.stdout).filter(|_| answer.code == 0);
        let outputs = frame.and_then(|mut frame| Some((frame.outputs.take()?, frame)));
        match outputs {
            Some((outputs, frame)) => Ok((frame, outputs)),
            None => Err(not_understood(&as_lossy_text(&answer))),
        }
    }

    /// A command as it can be given to the client: one that is too long lies in a file.
    async fn carried(
        &self,
        context: &Context,
        base: &str,
        command: String,
    ) -> Result<String, ExecError> {
        if command.len() <= LONGEST_COMMAND {
            return Ok(command);
        }
        let name = format!("{base}.sh");
        self.client
            .write(context, &name, command.as_bytes())
            .await?;
        Ok(format!("sh {}", quoted(&name)))
    }

    /// What was too much to be printed.
    async fn fetch(&self, context: &Context, base: &str) -> Result<[Vec<u8>; 2], ExecError> {
        let names = [format!("{base}.out"), format!("{base}.err")];
        let stdout = self.client.read(context, &names[0]).await?;
        let stderr = self.client.read(context, &names[1]).await?;
        let [out, err] = names.each_ref().map(|name| quoted(name));
        // They go with the session at the latest.
        let _ = self
            .client
            .exec(context, &format!("rm -f {out} {err}"))
            .await;
        Ok([stdout, stderr])
    }
}

#[async_trait]
impl Exec for Carried {
    async fn exec(&self, context: &Context, call: ExecCall) -> Result<Execution, ExecError> {
        let (carried, context) = (self.clone(), context.child());
        // When this future is dropped, the program is not wanted any more.
        let _cancel = OnDrop(context.clone());
        let (began, own) = (context.now(), context.clone());
        let ran = apart(&context, async move { carried.run(&own, call).await }).await;
        match (ran, context.check()) {
            (Err(Unanswered::Stopped(stop)), _) | (Ok(Err(_)), Err(stop)) => {
                Ok(stopped(&context, stop, began))
            }
            (Ok(ran), _) => ran,
            (Err(Unanswered::NoThread(error)), _) => Err(ExecError::Busy {
                message: error.to_string(),
            }),
            (Err(Unanswered::Gone), _) => Err(failed("it panicked")),
        }
    }
}

struct OnDrop(Context);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.cancellation().cancel();
    }
}

/// A program that was given up, whatever it printed.
fn stopped(context: &Context, stop: Stop, began: Duration) -> Execution {
    Execution {
        outcome: match stop {
            Stop::TimedOut => Outcome::TimedOut,
            Stop::Cancelled => Outcome::Cancelled,
        },
        stdout: Output::default(),
        stderr: Output::default(),
        duration: context.now().saturating_sub(began),
    }
}

fn failed(message: impl Into<String>) -> ExecError {
    ExecError::Failed {
        message: message.into(),
    }
}

fn not_understood(answer: &ClientOutput) -> ExecError {
    failed(format!(
        "what it printed is no answer of ours (exit code {}): {} {}",
        answer.code,
        shortened(&answer.stdout),
        shortened(&answer.stderr)
    ))
}

fn shortened(text: &str) -> String {
    text.trim().chars().take(500).collect()
}

/// The command that runs the script.
fn command(base: &str, input: &str, at_once: &str, call: &ExecCall) -> String {
    let kept = call.output_limit.to_string();
    let words = ["sh", "-c", SCRIPT, "sh", base, input, &kept, at_once];
    let argv = call.argv.iter().map(String::as_str);
    let words = words.into_iter().chain(argv);
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The beginning of what was printed, for a message.
fn as_lossy_text(answer: &ClientBytesOutput) -> ClientOutput {
    let text = |bytes: &[u8]| {
        let some = bytes.get(..1000).unwrap_or(bytes);
        String::from_utf8_lossy(some).into_owned()
    };
    ClientOutput {
        code: answer.code,
        stdout: text(&answer.stdout),
        stderr: text(&answer.stderr),
    }
}

/// A word as a shell reads it back, whatever is in it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
