//! The whole contract over one thing: running a program somewhere, with bytes in and bytes out.
//!
//! For places where no workspace engine can run: a container whose image is for another machine, a sandbox that a
//! vendor lends by an API. [`Exec`] is what such a place must do; [`PosixBackend`] makes the contract of it, by POSIX
//! `sh` and the utilities that busybox and a minimal Debian both have. Each operation on files is one program (of an
//! expected version, two): a script that is constant text, whose arguments are data, with content on standard input and an
//! answer in a frame. What can be computed here is: patterns, globs, replacing, versions.
//!
//! | | how |
//! |---|---|
//! | links never lead out | a name at a time, each directory entered and then compared with where it must be; an open file is compared, too (`/proc/self/fd`) |
//! | a write is whole | a temporary beside it, its length checked, renamed |
//! | an expected version | the script looks, it is judged here, and the script changes only the very file it looked at |
//! | which signal ended a program | `bash` or `time` tells; a shell alone cannot |
//! | everything ends | by the marker in the environment, the process group, and descent, from `/proc` |
//!
//! # What it needs
//! `sh`, `cat chmod chown dd env find grep head id ln ls mkdir mv od readlink rm rmdir sleep stat tail unlink`, with
//! `stat -c`, `mv -T`, `grep -z`; for processes, `/proc` and `bash` or `setsid` and `time`.
//!
//! # What it cannot do
//! [`PosixOptions::open`] tells these as hardening gaps: between the last look at a name and its use there is a moment in
//! which a process of the sandbox can put something else there; and a process that clears its environment, leaves its
//! group and loses its parent is not found. Processes that outlive a call are not there (the capability is missing).
//! Files over 64 MiB are not searched, and counted as unreadable. A variable whose name is none for a shell is `unsupported`,
//! because it would have to be in an argument vector.

mod changes;
mod commands;
mod exec;
mod fault;
mod files;
mod glob;
mod run;
mod search;
mod shell;
mod tree;

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use belljar_contract::{
    Backend, Cancellation, Context, Error, ErrorKind, GuestPath, Operation, Request, Response,
    Result, async_trait,
    session::{Capability, Description, Limits, PolicySummary},
};

pub use self::exec::{Exec, ExecCall, ExecError};
pub(in crate::backends) use self::shell::nonce;
use self::{
    fault::Fault,
    shell::{Shell, answer, words},
};

/// How long the first look at a place may take.
const PROBE: Duration = Duration::from_secs(20);

/// How a [`PosixBackend`] is opened, and what its description says.
#[derive(Clone)]
pub struct PosixOptions {
    /// The mechanism's name: `container`, `remote`.
    pub backend: String,
    /// The workspace's root in the place: absolute and normal.
    pub root: String,
    /// Whether anything may be changed.
    pub writable: bool,
    /// Whether the workspace outlives the session.
    pub durable: bool,
    /// Whether programs can run as other users.
    pub users: bool,
    /// More variables for every process; they replace the documented defaults.
    pub environment: BTreeMap<String, String>,
    /// The numbers in force.
    pub limits: Limits,
    /// A few sentences for an agent.
    pub instructions: String,
    /// What is weaker than was asked for, besides what this way itself lacks.
    pub hardening_gaps: Vec<String>,
}

impl fmt::Debug for PosixOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PosixOptions")
            .field("backend", &self.backend)
            .field("root", &self.root)
            .field("writable", &self.writable)
            .field("durable", &self.durable)
            .field("users", &self.users)
            .field("environment", &self.environment.keys())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// The contract over an [`Exec`].
pub struct PosixBackend {
    shell: Shell,
    description: Arc<Description>,
    environment: BTreeMap<String, String>,
    /// What tells how a program ended.
    witness: &'static str,
    /// Whether `sleep` takes a part of a second.
    has_fractions: bool,
    /// Held while a file is changed: a change that expects a version is more than one step.
    changes: tokio::sync::Mutex<()>,
    running: tokio::sync::Semaphore,
    ending: Cancellation,
}

impl fmt::Debug for PosixBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PosixBackend")
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

impl PosixOptions {
    /// Looks at the place once, by one program, and makes the backend.
    ///
    /// # Errors
    /// `backend-unavailable` and `backend-failed` when the place does not answer, `not-found` when the root is not
    /// there, `unsupported` when a utility is missing; the message names it.
    pub async fn open(self, context: &Context, exec: Arc<dyn Exec>) -> Result<PosixBackend> {
        let operation = Operation::Open;
        let mut shell = Shell {
            exec,
            base: String::new(),
        };
        let context = context.with_timeout(PROBE);
        let argv = words(&["sh", "-c", shell::PROBE, "sh", &self.root]);
        let execution = shell.run(&context, argv, Vec::new(), 16 << 10).await;
        let answer = execution
            .and_then(|execution| answer(&execution, 16 << 10))
            .map_err(|fault| fault.during(operation))?;
        let found = Found::parse(&answer.body, &self.root)?;
        shell.base = found.root.trim_end_matches('/').to_owned();
        let processes = usize::try_from(self.limits.processes).unwrap_or(usize::MAX);
        Ok(PosixBackend {
            description: Arc::new(self.describe(&found)),
            shell,
            environment: self.environment,
            witness: found.witness,
            has_fractions: found.has_fractions,
            changes: tokio::sync::Mutex::default(),
            running: tokio::sync::Semaphore::new(
                processes.min(tokio::sync::Semaphore::MAX_PERMITS),
            ),
            ending: Cancellation::default(),
        })
    }

    fn describe(&self, found: &Found) -> Description {
        let mut capabilities = vec![
            Capability::Read,
            Capability::Modes,
            Capability::Links,
            Capability::RawNames,
        ];
        let mut gaps = self.hardening_gaps.clone();
        gaps.push(
            "file functions run as programs: a process of the sandbox can put another file or link in the place of one between the look at it and its use, or change one between the check of its version and the change".to_owned(),
        );
        if found.has_proc {
            capabilities.push(Capability::Run);
            gaps.push(
                "a process that leaves its group and clears its environment can outlive its call"
                    .to_owned(),
            );
        } else {
            gaps.push("without /proc a link that is put in the place of a file while it is read can lead out".to_owned());
        }
        if found.has_proc && found.witness == "none" {
            gaps.push(
                "without bash or time an exit code from 129 to 192 is told as a signal".to_owned(),
            );
        }
        if self.users && found.has_proc {
            capabilities.push(Capability::User);
        }
        if self.writable {
            capabilities.push(Capability::Write);
        }
        capabilities.sort_unstable();
        Description {
            backend: self.backend.clone(),
            root: self.root.clone(),
            process_root: (found.root != self.root).then(|| found.root.clone()),
            writable: self.writable,
            durable: self.durable,
            capabilities,
            limits: self.limits,
            policy: PolicySummary::default(),
            instructions: self.instructions.clone(),
            hardening_gaps: gaps,
        }
    }
}

/// What the first look found.
struct Found {
    /// Where the root really is.
    root: String,
    has_proc: bool,
    has_fractions: bool,
    witness: &'static str,
}

impl Found {
    fn parse(body: &[u8], asked: &str) -> Result<Self> {
        let text = String::from_utf8_lossy(body);
        let fail = |kind, message: String| Error::new(kind, Operation::Open, message);
        let (facts, root) = match text.split_once("root\n") {
            Some((facts, root)) if !facts.ends_with("no ") => (facts, root),
            _ => {
                let message = format!(
                    "there is no directory {asked} in the place that could be the workspace; make it, or name another one"
                );
                return Err(fail(ErrorKind::NotFound, message));
            }
        };
        let lacks: Vec<&str> = facts
            .lines()
            .filter_map(|line| line.strip_prefix("lacks "))
            .collect();
        if !lacks.is_empty() {
            let message = format!(
                "the place lacks {}; install it there (busybox has all that is needed)",
                lacks.join(", ")
            );
            return Err(fail(ErrorKind::Unsupported, message));
        }
        let has = |what: &str| {
            facts
                .lines()
                .any(|line| line.strip_prefix("has ") == Some(what))
        };
        Ok(Self {
            root: root.to_owned(),
            has_proc: has("proc"),
            has_fractions: has("fraction"),
            witness: if has("bash") {
                "bash"
            } else if has("time") {
                "time"
            } else {
                "none"
            },
        })
    }
}

impl PosixBackend {
    fn file_bytes(&self) -> u64 {
        self.description.limits.file_bytes
    }

    async fn answer(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let at = |path: &GuestPath| {
            let path = path.clone();
            move |fault: Fault| fault.at(operation, path)
        };
        // Of two paths, the one that the fault is of.
        let of = |one: &GuestPath, two: &GuestPath| {
            let paths = [one.clone(), two.clone()];
            move |fault: Fault| {
                let second = usize::from(fault.is_of_second());
                fault.at(operation, &paths[second])
            }
        };
        context.check().map_err(|stop| stop.during(operation))?;
        match request {
            Request::Read { path } => {
                let content = self.read(context, &path).await;
                content.map(Response::Content).map_err(at(&path))
            }
            Request::ReadRange {
                path,
                offset,
                length,
            } => {
                let chunk = self.read_range(context, &path, offset, length).await;
                chunk.map(Response::Chunk).map_err(at(&path))
            }
            Request::Write {
                path,
                bytes,
                options,
            } => {
                let version = self.write(context, &path, &bytes, &options).await;
                version.map(Response::Version).map_err(at(&path))
            }
            Request::Append {
                path,
                bytes,
                options,
            } => {
                let version = self.append(context, &path, &bytes, &options).await;
                version.map(Response::Version).map_err(at(&path))
            }
            Request::Replace {
                path,
                old,
                new,
                options,
            } => {
                let replaced = self.replace(context, &path, &old, &new, &options).await;
                replaced.map(Response::Replaced).map_err(at(&path))
            }
            Request::List { path, limit } => {
                let listing = self.list(context, &path, limit).await;
                listing.map(Response::Listing).map_err(at(&path))
            }
            Request::Glob { pattern, scope } => {
                let found = self.glob(context, &pattern, &scope).await;
                found.map(Response::Glob).map_err(at(&scope.base))
            }
            Request::Search { query, scope } => {
                let found = self.search(context, &query, &scope).await;
                found.map(Response::Search).map_err(at(&scope.base))
            }
            Request::Stat { path } => {
                let info = self.stat(context, &path).await;
                info.map(Response::Info).map_err(at(&path))
            }
            Request::Resolve { path } => {
                let resolved = self.resolve(context, &path).await;
                let resolved = resolved.map(|(path, _)| Response::Path(path));
                resolved.map_err(at(&path))
            }
            Request::MakeDirectory { path } => {
                let made = self.make_directory(context, &path).await;
                made.map(|()| Response::Done).map_err(at(&path))
            }
            Request::Remove { path, recursive } => {
                let removed = self.remove(context, &path, recursive).await;
                removed.map(|()| Response::Done).map_err(at(&path))
            }
            Request::Rename {
                source,
                target,
                destination,
            } => {
                let renamed = self.rename(context, &source, &target, &destination).await;
                renamed
                    .map(|()| Response::Done)
                    .map_err(of(&source, &target))
            }
            Request::Copy {
                source,
                target,
                destination,
            } => {
                let version = self.copy(context, &source, &target, &destination).await;
                version.map(Response::Version).map_err(of(&source, &target))
            }
            Request::Run(launch) => {
                let directory = launch.directory.clone();
                let execution = self.run(context, launch).await;
                execution
                    .map(Response::Execution)
                    .map_err(|fault| match fault.names_path() {
                        true => fault.at(operation, directory),
                        false => fault.during(operation),
                    })
            }
            Request::FindCommands { names } => {
                let found = self.find_commands(context, names).await;
                found
                    .map(Response::Commands)
                    .map_err(|fault| fault.during(operation))
            }
            Request::Start(_)
            | Request::ReadOutput { .. }
            | Request::WriteInput { .. }
            | Request::Signal { .. }
            | Request::Wait { .. } => Err(Fault::NoStart.during(operation)),
        }
    }
}

#[async_trait]
impl Backend for PosixBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.answer(context, request).await
    }

    async fn close(&self) -> Result<()> {
        self.ending.cancel();
        // Each run gives its permit back when all of it has ended, or was given up.
        let all = self.description.limits.processes;
        let ended = self.running.acquire_many(all).await;
        drop(ended);
        self.running.close();
        Ok(())
    }
}
