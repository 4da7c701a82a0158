//! Runs an engine's program: bounded in time and in what it prints, with nothing of the caller's
//! environment but what it needs, and gone when the call is.

use std::{
    io::{Read, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use belljar_contract::{Context, Stop};

use super::{CliError, CliFailure, ContainerEngine, EngineEnvironment, classify::classify};

/// The most bytes of an answer: `inspect` of many containers is some hundred kilobytes.
const MAX_ANSWER: usize = 4 << 20;
/// The most bytes of what is said on standard error that are kept; the last ones, which say why.
pub(super) const MAX_WORDS: usize = 8 << 10;
/// How long what was printed may take to come after the program has ended: a helper that it left behind
/// may hold its output open for ever.
pub(super) const DRAIN: Duration = Duration::from_millis(500);
/// How long a call may take that starts and fetches nothing. A daemon under load takes seconds.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// An engine's program.
#[derive(Clone, Debug)]
pub(super) struct Cli {
    engine: ContainerEngine,
    program: PathBuf,
    environment: EngineEnvironment,
}

/// One call of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) arguments: &'a [String],
    /// Its standard input; none for an empty one.
    pub(super) input: Option<&'a [u8]>,
    /// How long it may take.
    pub(super) timeout: Duration,
}

/// What the program printed on its way to success.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) stdout: Vec<u8>,
    /// Warnings.
    pub(super) stderr: String,
}

impl Cli {
    pub(super) fn new(
        engine: ContainerEngine,
        program: Option<&Path>,
        environment: EngineEnvironment,
    ) -> Self {
        let program = program.map_or_else(|| engine.program().into(), Path::to_owned);
        Self {
            engine,
            program,
            environment,
        }
    }

    pub(super) const fn engine(&self) -> ContainerEngine {
        self.engine
    }

    /// The program with its environment, in a process group of its own, for who supervises it by themselves.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(self.resolved());
        command.args(arguments);
        command.env_clear();
        // Its words are read by a program, which knows one language.
        command.env("LC_ALL", "C");
        command.env("PATH", self.path());
        command.envs(self.environment.variables());
        // The working directory is nobody's business, and may be gone.
        command.current_dir("/");
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
        }
        command
    }

    /// Runs the program to its end; on this thread, which may block.
    ///
    /// # Errors
    /// [`CliError`] when it is missing, hangs, is stopped by the context, or ends with another code than 0.
    pub(super) fn call(&self, context: &Context, call: Call<'_>) -> Result<Answer, CliError> {
        let failed = |failure, words: String| CliError {
            engine: self.engine,
            command: call.arguments.first().cloned().unwrap_or_default(),
            failure,
            words,
        };
        if let Err(stop) = context.check() {
            return Err(failed(CliFailure::Stopped(stop), String::new()));
        }
        let mut command = self.command(call.arguments);
        command
            .stdin(call.input.map_or_else(Stdio::null, |_| Stdio::piped()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn();
        let child = child.map_err(|error| failed(self.not_started(error), String::new()))?;
        let ended = Supervised::new(child, call.input).wait(context, call.timeout);
        let words = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        match ended.how {
            How::Stopped(stop) => Err(failed(CliFailure::Stopped(stop), words)),
            How::Hangs => {
                let after = call.timeout;
                Err(failed(CliFailure::Hangs { after }, words))
            }
            How::Exited(status) if status.success() => match ended.overflowed {
                true => Err(failed(
                    CliFailure::AnswerTooLarge { most: MAX_ANSWER },
                    words,
                )),
                false => Ok(Answer {
                    stdout: ended.stdout,
                    stderr: words,
                }),
            },
            How::Exited(status) => Err(failed(classify(status.code(), &words), words)),
            How::Lost(error) => {
                let source = Arc::new(error);
                let program = self.program.clone();
                Err(failed(CliFailure::NotStarted { program, source }, words))
            }
        }
    }

    /// An answer that is not understood, as an error.
    pub(super) fn not_understood(&self, arguments: &[String]) -> CliError {
        CliError {
            engine: self.engine,
            command: arguments.first().cloned().unwrap_or_default(),
            failure: CliFailure::AnswerNotUnderstood,
            words: String::new(),
        }
    }

    fn path(&self) -> std::ffi::OsString {
        let passed = self.environment.variables();
        let path = passed.into_iter().find(|(name, _)| *name == "PATH");
        path.map_or_else(
            || "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into(),
            |(_, path)| path.clone(),
        )
    }

    /// The program as a path, so that it is found on the PATH that was passed and not on this process's.
    fn resolved(&self) -> PathBuf {
        if self.program.components().count() > 1 {
            return self.program.clone();
        }
        std::env::split_paths(&self.path())
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&self.program))
            .find(|path| path.is_file())
            // What is not found is reported by its name when it is started.
            .unwrap_or_else(|| Path::new("/nonexistent").join(&self.program))
    }

    pub(super) fn not_started(&self, error: std::io::Error) -> CliFailure {
        let program = self.program.clone();
        match error.kind() {
            std::io::ErrorKind::NotFound => CliFailure::ProgramMissing {
                program,
                engine: self.engine,
            },
            _ => CliFailure::NotStarted {
                program,
                source: Arc::new(error),
            },
        }
    }
}

/// What happens to a child, in the order in which its threads tell.
pub(super) enum Event {
    /// An output was read to its end.
    Closed,
    /// It ended, and is still to be waited for.
    Exited,
    /// Its call was cancelled.
    Cancelled,
}

enum How {
    Exited(ExitStatus),
    Hangs,
    Stopped(Stop),
    /// The system does not tell how it ended.
    Lost(std::io::Error),
}

struct Ended {
    how: How,
    stdout: Vec<u8>,
    overflowed: bool,
    stderr: Vec<u8>,
}

/// A child with the threads that read what it prints.
struct Supervised {
    child: Child,
    stdout: Kept,
    stderr: Kept,
    events: Receiver<Event>,
    sender: Sender<Event>,
}

impl Supervised {
    fn new(mut child: Child, input: Option<&[u8]>) -> Self {
        let (sender, events) = channel();
        let stdout = Kept::first(MAX_ANSWER);
        let stderr = Kept::last(MAX_WORDS);
        if let Some(pipe) = child.stdout.take() {
            stdout.fill(pipe, &sender);
        }
        if let Some(pipe) = child.stderr.take() {
            stderr.fill(pipe, &sender);
        }
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            let input = input.to_owned();
            // A program that does not read has its reasons, and says them.
            thread::spawn(move || drop(pipe.write_all(&input)));
        }
        watch(&mut child, sender.clone());
        Self {
            child,
            stdout,
            stderr,
            events,
            sender,
        }
    }

    fn wait(mut self, context: &Context, timeout: Duration) -> Ended {
        let cancelled = Mutex::new(self.sender.clone());
        let _registration = context.cancellation().on_cancel(move || {
            let sender = cancelled.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(Event::Cancelled);
        });
        let end = context.now().saturating_add(timeout);
        let deadline = context
            .remaining()
            .map(|left| context.now().saturating_add(left));
        let until = deadline.map_or(end, |deadline| deadline.min(end));
        let mut closed = 0;
        let stopped = loop {
            match self
                .events
                .recv_timeout(until.saturating_sub(context.now()))
            {
                Ok(Event::Closed) => {
                    closed += 1;
                    if cfg!(not(unix)) && closed == 2 {
                        break None;
                    }
                }
                Ok(Event::Exited) => break None,
                Ok(Event::Cancelled) => break Some(How::Stopped(Stop::Cancelled)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let by_deadline = deadline.is_some_and(|deadline| deadline <= end);
                    break Some(match by_deadline {
                        true => How::Stopped(Stop::TimedOut),
                        false => How::Hangs,
                    });
                }
            }
        };
        if stopped.is_some() {
            kill(&mut self.child);
        }
        let drained = context.now().saturating_add(DRAIN);
        while closed < 2 {
            match self
                .events
                .recv_timeout(drained.saturating_sub(context.now()))
            {
                Ok(Event::Closed) => closed += 1,
                Ok(Event::Exited | Event::Cancelled) => {}
                Err(_) => break,
            }
        }
        // What it left behind in its group would hold the pipes and their threads.
        if closed < 2 {
            kill(&mut self.child);
        }
        let status = self.child.wait();
        let (stdout, overflowed) = self.stdout.take();
        let (stderr, _) = self.stderr.take();
        Ended {
            how: stopped.unwrap_or_else(|| status.map_or_else(How::Lost, How::Exited)),
            stdout,
            overflowed,
            stderr,
        }
    }
}

/// Tells when the child has ended, without waiting for it: until that is done its id is nobody else's.
#[cfg(unix)]
pub(super) fn watch(child: &mut Child, sender: Sender<Event>) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let id = WaitId::Pid(Pid::from_child(child));
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(id.clone(), options), Err(rustix::io::Errno::INTR)) {}
        let _ = sender.send(Event::Exited);
    });
}

/// Where a process cannot be watched without waiting for it, its closed outputs tell.
#[cfg(not(unix))]
pub(super) fn watch(child: &mut Child, sender: Sender<Event>) {
    let _ = (child, sender);
}

/// Kills the child and its group. It was not waited for, so the id is still its own.
pub(super) fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
}

/// What is kept of an output that is read to its end.
#[derive(Clone)]
pub(super) struct Kept {
    bytes: Arc<Mutex<(Vec<u8>, bool)>>,
    most: usize,
    last: bool,
}

impl Kept {
    fn first(most: usize) -> Self {
        Self {
            bytes: Arc::default(),
            most,
            last: false,
        }
    }

    pub(super) fn last(most: usize) -> Self {
        Self {
            last: true,
            ..Self::first(most)
        }
    }

    pub(super) fn fill(&self, mut from: impl Read + Send + 'static, sender: &Sender<Event>) {
        let (kept, sender) = (self.clone(), sender.clone());
        thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => kept.add(&buffer[..read]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            let _ = sender.send(Event::Closed);
        });
    }

    fn add(&self, more: &[u8]) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let (bytes, overflowed) = &mut *kept;
        if self.last {
            bytes.extend_from_slice(more);
            let over = bytes.len().saturating_sub(self.most);
            bytes.drain(..over);
            *overflowed |= over > 0;
        } else {
            let room = self.most.saturating_sub(bytes.len());
            bytes.extend_from_slice(&more[..more.len().min(room)]);
            *overflowed |= more.len() > room;
        }
    }

    pub(super) fn take(&self) -> (Vec<u8>, bool) {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(all(test, unix))]
#[path = "cli_tests.rs"]
mod tests;
