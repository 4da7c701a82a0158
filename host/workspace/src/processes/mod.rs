//! Processes of a workspace, and the supervisor that ends all of each.
//!
//! A process is a program and everything that it starts: of the operating system, in a process group of its own, or
//! one that needs none ([`Programs`]), on a thread. [`Supervisor`] starts it, moves all three streams at once, and ends all of it when its time is up, its caller cancels, the program
//! itself ends, or the session does. Nothing here is async: a `run` occupies its thread, in one poll; a started process
//! has a thread of its own.
//!
//! The contract's semantics ("Processes") are what it implements. It leaves to others whether processes
//! may be started at all (the backend), which (the policy), and what confines them (the container).

mod body;
mod commands;
mod custody;
mod environment;
mod exchange;
mod failure;
mod head_and_tail;
mod input;
mod last;
mod launch;
mod launcher;
mod leader;
mod marker;
mod platform;
mod program;
mod programs;
mod pump;
mod slots;
mod started;
mod supervise;
mod system;
mod table;
mod wake;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_contract::{
    Context, KILL_GRACE, Launch, Operation, Request, Response, Result,
    processes::{Execution, ProcessId},
    session::Limits,
};

use self::{
    environment::Variables,
    exchange::{Exchange, Sink},
    failure::Failure,
    last::Last,
    launch::EmptyInput,
    launcher::Launcher,
    platform::{Frozen, Left, Platform},
    programs::Shelf,
    slots::{Counted, Slots},
    started::Started,
    supervise::{Bounds, supervise},
    table::Table,
    wake::Ask,
};
pub use self::{
    environment::{DEFAULT_PATH, environment},
    head_and_tail::HeadAndTail,
    marker::{VARIABLE as MARKER_VARIABLE, marker},
    programs::{NotPrepared, Prepared, Programs, Surroundings},
};
use crate::files::Workspace;

/// How a supervisor works.
#[derive(Clone, Debug)]
pub struct Options {
    /// What `pwd` says at the root; the default of `HOME`.
    pub root: String,
    /// The numbers in force.
    pub limits: Limits,
    /// Whether every child of this operating-system process belongs to this supervisor's sessions (true in the
    /// resident and the `belljar` command; false in an application that has children of its own). Then also
    /// what hides from its launch is ended, and every child that nobody waits for is reaped.
    pub owns_all_children: bool,
}

/// Starts, watches and ends the processes of one session.
///
/// ```
/// use belljar_contract::{
///     Context, GuestPath, Launch, Request, Response,
///     processes::{Command, Outcome},
///     session::Limits,
/// };
/// use belljar_workspace::{
///     files::Workspace,
///     processes::{Options, Supervisor},
/// };
///
/// let directory = tempfile::tempdir()?;
/// let limits = Limits::default();
/// let files = Workspace::open_ambient(directory.path(), &limits)?;
/// let supervisor = Supervisor::new(Options {
///     root: directory.path().display().to_string(),
///     limits,
///     owns_all_children: false,
/// });
/// let launch = Launch {
///     command: Command::Shell("exit 3".into()),
///     directory: GuestPath::root(),
///     environment: vec![],
///     stdin: vec![],
///     user: None,
///     timeout: Some(limits.timeout_default),
///     output_limit: limits.output_default,
/// };
/// match supervisor.call(&Context::new(), &files, Request::Run(launch))? {
///     Response::Execution(execution) => assert_eq!(execution.outcome, Outcome::Exited(3)),
///     other => unreachable!("a run is answered by {other:?}"),
/// }
/// supervisor.close();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Supervisor {
    /// What `pwd` says at the root.
    root: String,
    /// Variables of every process, by name.
    variables: Variables,
    launcher: Launcher,
    slots: Arc<Slots>,
    table: Table,
}

impl Supervisor {
    /// Makes a supervisor.
    ///
    /// # Ambient authority
    /// Processes have the rights of this one, and its user. On Linux this process becomes a child subreaper
    /// until the last supervisor is dropped: what loses its parent below it becomes its child.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let platform = Arc::new(Platform::open(options.owns_all_children));
        Self::of(Launcher::System(platform), options.root, &options.limits)
    }

    /// Makes a supervisor of programs that need no operating system. `root` is what `pwd` says at the root, and
    /// `writable` whether they may change the workspace.
    #[must_use]
    pub fn of_programs(
        programs: Arc<dyn Programs>,
        root: String,
        limits: &Limits,
        writable: bool,
    ) -> Self {
        let shelf = Shelf { programs, writable };
        Self::of(Launcher::Programs(shelf), root, limits)
    }

    fn of(launcher: Launcher, root: String, limits: &Limits) -> Self {
        Self {
            root,
            variables: Variables::default(),
            launcher,
            slots: Slots::new(limits.processes),
            table: Table::default(),
        }
    }

    /// The same supervisor with more variables for every process: they replace the documented
    /// defaults of the same names, and a call's own replace them.
    #[must_use]
    pub fn with_variables(mut self, variables: BTreeMap<String, String>) -> Self {
        self.variables = Variables(variables);
        self
    }

    /// What is weaker on this system than the contract says, for the session's hardening gaps.
    #[must_use]
    pub fn gaps(&self) -> Vec<&'static str> {
        self.launcher.gaps()
    }

    /// Answers a request of `processes`, and `session.find-commands`.
    ///
    /// # Errors
    /// As the contract says of the operation.
    pub fn call(&self, context: &Context, files: &Workspace, request: Request) -> Result<Response> {
        let operation = request.operation();
        self.answer(context, files, request)
            .map_err(|failure| failure.during(operation))
    }

    /// Ends every process. What is asked later is `closed`.
    pub fn close(&self) {
        self.slots.close();
        self.table.join();
        let mut frozen = Frozen::default();
        // What does not die in a second waits in the kernel, and dies when that ends.
        for _ in 0..500 {
            if self.launcher.kill_strays(&mut frozen) == Left::Nothing {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn answer(
        &self,
        context: &Context,
        files: &Workspace,
        request: Request,
    ) -> Result<Response, Failure> {
        let operation = request.operation();
        self.slots.check()?;
        context.check()?;
        match request {
            Request::Run(launch) => self
                .execute(context, files, operation, launch, Counted::Yes, KILL_GRACE)
                .map(Response::Execution),
            Request::Start(launch) => self
                .start(context, files, operation, launch)
                .map(Response::Process),
            Request::ReadOutput {
                process,
                output,
                cursor,
                limit,
                wait,
            } => self
                .table
                .get(process)?
                .read(context, output, cursor, limit, wait)
                .map(Response::Output),
            Request::WriteInput {
                process,
                bytes,
                close,
            } => {
                self.table.get(process)?.write(bytes, close)?;
                Ok(Response::Done)
            }
            Request::Signal { process, signal } => {
                self.table.get(process)?.signal(signal);
                Ok(Response::Done)
            }
            Request::Wait { process, wait } => self
                .table
                .get(process)?
                .wait(context, wait)
                .map(Response::Ended),
            Request::FindCommands { names } => {
                commands::find_commands(self, context, files, names).map(Response::Commands)
            }
            _ => Err(Failure::NotOfProcesses),
        }
    }

    /// Runs a program to the end of all that it started.
    fn execute(
        &self,
        context: &Context,
        files: &Workspace,
        operation: Operation,
        mut asked: Launch,
        counted: Counted,
        cancel_grace: Duration,
    ) -> Result<Execution, Failure> {
        self.add_variables(&mut asked);
        let slot = self.slots.enter(counted)?;
        let (launched, mut input) = self.launcher.launch(
            files,
            &self.root,
            context,
            operation,
            &asked,
            EmptyInput::Null,
        )?;
        let bounds = Bounds {
            cancel_grace,
            ..Bounds::new(context, launched.started, asked.timeout)
        };
        // A program that has ended its input already does not want any.
        let _ = input.push(std::mem::take(&mut asked.stdin), true);
        let limit = usize::try_from(asked.output_limit).unwrap_or(usize::MAX);
        let sink = || Sink::HeadAndTail(HeadAndTail::new(limit));
        let exchange = Exchange::new(input, sink(), sink());
        let wake = Arc::clone(slot.wake());
        let registration = context
            .cancellation()
            .on_cancel(move || wake.ask(Ask::Cancel));
        let ended = supervise(launched, &exchange, slot.wake(), context, bounds);
        drop(registration);
        let state = exchange.into_state();
        Ok(Execution {
            outcome: ended.outcome,
            stdout: state.stdout.into_output(),
            stderr: state.stderr.into_output(),
            duration: ended.duration,
        })
    }

    /// Puts the supervisor's variables before those of the call: of two of one name the last counts.
    fn add_variables(&self, asked: &mut Launch) {
        asked.environment.splice(0..0, self.variables.0.clone());
    }

    /// Starts a program, and a thread that supervises it.
    fn start(
        &self,
        context: &Context,
        files: &Workspace,
        operation: Operation,
        mut asked: Launch,
    ) -> Result<ProcessId, Failure> {
        self.add_variables(&mut asked);
        let slot = self.slots.enter(Counted::Yes)?;
        let (launched, mut input) = self.launcher.launch(
            files,
            &self.root,
            context,
            operation,
            &asked,
            EmptyInput::Pipe,
        )?;
        // A program that has ended its input already does not want any.
        let _ = input.push(std::mem::take(&mut asked.stdin), false);
        let limit = usize::try_from(asked.output_limit).unwrap_or(usize::MAX);
        let sink = || Sink::Last(Last::new(limit));
        let started = Started {
            exchange: Arc::new(Exchange::new(input, sink(), sink())),
            body: Arc::clone(launched.custody.body()),
            wake: Arc::clone(slot.wake()),
        };
        let exchange = Arc::clone(&started.exchange);
        let thread = std::thread::Builder::new()
            .name("belljar-process".into())
            .spawn(move || {
                // The call that started it may end, and its cancellation is not this process's.
                let context = Context::new();
                let bounds = Bounds::new(&context, launched.started, asked.timeout);
                let ended = supervise(launched, &exchange, slot.wake(), &context, bounds);
                drop(slot);
                exchange.lock().ended = Some(ended);
                exchange.changed.notify_all();
            })
            .map_err(Failure::SystemBusy)?;
        Ok(self.table.enter(started, thread))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.close();
    }
}
