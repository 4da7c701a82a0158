//! Processes in the sandbox.

use std::time::Duration;

pub use belljar_contract::{
    RunOptions,
    processes::{
        Command, Ended, Execution, Outcome, Output, OutputChunk, OutputStream, ProcessId,
        SignalKind,
    },
};

use crate::{Result, imports};

/// A program to run, with its options.
///
/// ```
/// use belljar_guest::{processes::Program, testing};
///
/// let memory = testing::MemorySandbox::new()
///     .on_run(|launch| Ok(testing::exited(0).with_stdout(format!("{:?}", launch.command))));
/// let done = testing::with_sandbox(&memory, || Program::argv(["git", "status"]).run())?;
/// assert!(done.outcome.success());
/// assert_eq!(done.stdout.to_text(), r#"Argv(["git", "status"])"#);
/// # Ok::<(), belljar_guest::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a program does nothing until it is run or started"]
pub struct Program {
    command: Command,
    options: RunOptions,
}

impl Program {
    /// Begins with a program and its arguments; no shell is involved.
    pub fn argv<A: Into<String>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self::new(Command::Argv(argv.into_iter().map(Into::into).collect()))
    }

    /// Begins with text for `/bin/sh -c`.
    pub fn shell(text: impl Into<String>) -> Self {
        Self::new(Command::Shell(text.into()))
    }

    fn new(command: Command) -> Self {
        Self {
            command,
            options: RunOptions::default(),
        }
    }

    /// Runs in this directory.
    pub fn directory(mut self, path: impl Into<String>) -> Self {
        self.options.directory = Some(path.into());
        self
    }

    /// Adds a variable to the documented defaults.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.options.environment.push((name.into(), value.into()));
        self
    }

    /// Gives this on standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.options.stdin = bytes.into();
        self
    }

    /// Runs as this user, where the sandbox can.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.options.user = Some(name.into());
        self
    }

    /// Ends it after this long.
    pub fn timeout(mut self, limit: Duration) -> Self {
        // More than fits is over every session's limit, which is what the sandbox then says.
        self.options.timeout = Some(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Keeps this many bytes of each output.
    pub const fn output_limit(mut self, bytes: u64) -> Self {
        self.options.output_limit = Some(bytes);
        self
    }

    /// Runs it to its end. That it failed is in the outcome, and not an error.
    ///
    /// # Errors
    /// As `processes.run`: what kept it from being started.
    pub fn run(self) -> Result<Execution> {
        run(self.command, self.options)
    }

    /// Starts it; it may outlive this call, and dies with the session.
    ///
    /// # Errors
    /// As `processes.start`.
    pub fn start(self) -> Result<Process> {
        imports::start(self.command, self.options).map(Process)
    }
}

/// Runs a program to its end; [`Program`] is the same with a name for each option.
///
/// # Errors
/// As `processes.run`.
pub fn run(command: Command, options: RunOptions) -> Result<Execution> {
    imports::run(command, options)
}

/// A started process. Dropping it does nothing to the process: another call of the session can
/// go on with its id.
///
/// ```
/// use std::time::Duration;
/// use belljar_guest::{processes::{OutputStream, Process, Program}, testing};
///
/// let memory = testing::MemorySandbox::new()
///     .on_run(|_| Ok(testing::exited(3).with_stdout("built\n")));
/// testing::with_sandbox(&memory, || {
///     let id = Program::argv(["make"]).start()?.id();
///     let process = Process::from_id(id);
///     let output = process.read_output(OutputStream::Stdout, 0, 1000, Duration::ZERO)?;
///     assert_eq!((output.bytes.as_slice(), output.ended), (&b"built\n"[..], true));
///     assert!(process.wait(Duration::from_secs(1))?.is_some());
///     Ok::<(), belljar_guest::Error>(())
/// })?;
/// # Ok::<(), belljar_guest::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process(ProcessId);

impl Process {
    /// The process with this id, from an earlier call.
    #[must_use]
    pub const fn from_id(id: ProcessId) -> Self {
        Self(id)
    }

    /// Its id in this session.
    #[must_use]
    pub const fn id(self) -> ProcessId {
        self.0
    }

    /// Reads what it printed, from `cursor` on, and waits up to `wait` while there is nothing.
    ///
    /// # Errors
    /// As `processes.read-output`.
    pub fn read_output(
        self,
        output: OutputStream,
        cursor: u64,
        limit: u64,
        wait: Duration,
    ) -> Result<OutputChunk> {
        imports::read_output(self.0, output, cursor, limit, wait)
    }

    /// Writes to its standard input.
    ///
    /// # Errors
    /// As `processes.write-input`.
    pub fn write_input(self, bytes: impl AsRef<[u8]>) -> Result<()> {
        imports::write_input(self.0, bytes.as_ref(), false)
    }

    /// Ends its standard input.
    ///
    /// # Errors
    /// As `processes.write-input`.
    pub fn close_input(self) -> Result<()> {
        imports::write_input(self.0, &[], true)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// As `processes.signal`.
    pub fn signal(self, signal: SignalKind) -> Result<()> {
        imports::signal(self.0, signal)
    }

    /// Waits up to `wait` for it to end; none when it has not.
    ///
    /// # Errors
    /// As `processes.wait`.
    pub fn wait(self, wait: Duration) -> Result<Option<Ended>> {
        imports::wait(self.0, wait)
    }
}
