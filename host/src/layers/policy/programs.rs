//! Which programs a policy lets a tool run, and which running ones it lets it touch.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Launch, Operation, Request, Response, Result,
    processes::{Command, ProcessId},
    session::CommandInfo,
};

use super::{
    Policy,
    backend::{PolicyBackend, denied},
};

/// What shell text is judged as.
const SHELL: &str = "sh";
/// The most processes that are remembered; of more, the oldest are out of reach where a policy names programs.
const MAX_REMEMBERED: usize = 10_000;

/// Which program each started process of a session is. Every [`PolicyBackend`] of a session shares one, so that
/// a tool reaches the processes of a program that it may run, and no others.
///
/// ```
/// use std::sync::Arc;
/// use belljar::{Backend, layers::{Policy, PolicyBackend, StartedPrograms}};
///
/// fn two_tools(backend: &Arc<dyn Backend>) -> [PolicyBackend; 2] {
///     let started = Arc::new(StartedPrograms::default());
///     ["git", "cargo"].map(|program| {
///         let policy = Policy::nothing().and_run_only([program]);
///         PolicyBackend::new(Arc::clone(backend), policy).sharing(Arc::clone(&started))
///     })
/// }
/// # fn main() {}
/// ```
#[derive(Debug, Default)]
pub struct StartedPrograms(Mutex<BTreeMap<ProcessId, String>>);

impl StartedPrograms {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<ProcessId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, process: ProcessId, program: String) {
        let mut programs = self.lock();
        programs.insert(process, program);
        if programs.len() > MAX_REMEMBERED {
            programs.pop_first();
        }
    }
}

impl PolicyBackend {
    /// Runs, or touches, what may be.
    pub(super) async fn process(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        match request {
            Request::Run(launch) => {
                let launch = self.launch(context, operation, launch).await?;
                self.ask(context, Request::Run(launch)).await
            }
            Request::Start(launch) => {
                let launch = self.launch(context, operation, launch).await?;
                let program = program(&launch.command).to_owned();
                let answer = self.ask(context, Request::Start(launch)).await?;
                if let Response::Process(process) = answer {
                    self.started.remember(process, program);
                }
                Ok(answer)
            }
            Request::ReadOutput { process, .. }
            | Request::WriteInput { process, .. }
            | Request::Signal { process, .. }
            | Request::Wait { process, .. } => {
                self.own(operation, process)?;
                self.ask(context, request).await
            }
            Request::FindCommands { names } => self.find_commands(context, names).await,
            // Every other request is not about processes, and does not come here.
            _ => Err(denied(operation, "do this")),
        }
    }

    async fn launch(
        &self,
        context: &Context,
        operation: Operation,
        mut launch: Launch,
    ) -> Result<Launch> {
        self.policy.may_run(operation, &launch)?;
        if self.policy.read_paths.is_some() {
            let directory = self.seen(context, operation, &launch.directory).await?;
            launch.directory = directory.real;
        }
        Ok(launch)
    }

    /// A process of a program that the policy does not name is as unknown as one that there is not.
    fn own(&self, operation: Operation, process: ProcessId) -> Result<()> {
        let Some(programs) = &self.policy.programs else {
            return Ok(());
        };
        let started = self.started.lock();
        match started.get(&process) {
            Some(program) if programs.contains(program) => Ok(()),
            Some(_) | None => Err(Error::new(
                ErrorKind::NotFound,
                operation,
                format!("there is no process {} for this tool", process.0),
            )),
        }
    }

    /// A command that may not be run is told as one that is not there, and is not asked.
    async fn find_commands(&self, context: &Context, names: Vec<String>) -> Result<Response> {
        let Some(programs) = &self.policy.programs else {
            return self.ask(context, Request::FindCommands { names }).await;
        };
        let allowed = |name: &&String| programs.contains(*name);
        let ask: Vec<String> = names.iter().filter(allowed).cloned().collect();
        let mut found = match ask.is_empty() {
            true => Vec::new(),
            false => match self
                .ask(context, Request::FindCommands { names: ask })
                .await?
            {
                Response::Commands(found) => found,
                other => return Ok(other),
            },
        };
        let answer =
            names.into_iter().map(
                |name| match found.iter().position(|info| info.name == name) {
                    Some(at) => found.remove(at),
                    None => CommandInfo {
                        name,
                        path: None,
                        version: None,
                    },
                },
            );
        Ok(Response::Commands(answer.collect()))
    }
}

impl Policy {
    fn may_run(&self, operation: Operation, launch: &Launch) -> Result<()> {
        let Some(programs) = &self.programs else {
            return Ok(());
        };
        let program = program(&launch.command);
        if !programs.contains(program) {
            let shown: String = program.chars().take(200).collect();
            return Err(denied(operation, &format!("run {shown:?}")));
        }
        // What a relative path means is up to the working directory; the policy means the root.
        let relative = program.contains('/') && !program.starts_with('/');
        if relative && launch.directory.as_str() != GuestPath::root().as_str() {
            let what = format!("run {program:?} from another directory than the root");
            return Err(denied(operation, &what));
        }
        // These decide what a name stands for, and what else runs in the program.
        let decides = |name: &String| name == "PATH" || name.starts_with("LD_");
        if let Some((name, _)) = launch.environment.iter().find(|(name, _)| decides(name)) {
            let what = format!("set {name}, since it may run only some programs");
            return Err(denied(operation, &what));
        }
        Ok(())
    }
}

fn program(command: &Command) -> &str {
    match command {
        Command::Argv(argv) => argv.first().map_or("", String::as_str),
        Command::Shell(_) => SHELL,
    }
}
