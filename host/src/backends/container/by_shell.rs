//! A session in a container without a resident: process 1 is a shell that waits for its owner's end, and every
//! operation is an `exec` of its own.

use std::{sync::Arc, time::Duration};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_protocol::{Stream, facts::Facts};
use tokio::sync::Mutex;

use super::{
    arguments::{self, Keeper, Start},
    attached::Attached,
    doctor,
    engine_exec::EngineExec,
    facts_by_shell,
    not_started::Failed,
    start::Starter,
};
use crate::backends::{
    OpenError,
    executor::Executor,
    lease,
    posix::{PosixBackend, PosixGap, PosixOptions},
    resident::no_thread,
};

/// How long the engine may take to remove a container at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a container that did not come to be may take to be removed.
const GIVE_UP_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it is looked whether a container runs by now.
const LOOK: Duration = Duration::from_millis(50);

/// A container with a shell as process 1.
pub(super) struct ShellSession {
    posix: PosixBackend,
    starter: Arc<Starter>,
    container: String,
    /// Process 1 waits for the end of its input, which is held here. None once it is closed.
    held: Mutex<Option<(Attached, Stream)>>,
}

impl ShellSession {
    /// Starts a container, looks what its shell can do, and whether it gives what is required.
    pub(super) async fn open(
        context: &Context,
        starter: Arc<Starter>,
        described: &Description,
    ) -> std::result::Result<Self, OpenError> {
        let (starting, bounded) = (Arc::clone(&starter), context.clone());
        let started = blocking::run(&Executor, move || start(&starting, &bounded)).await;
        let started = started
            .unwrap_or_else(|| Err(Failed::from(std::io::Error::other("no thread to work on"))));
        let (container, held) =
            started.map_err(|failed| OpenError::NotStarted(failed.during(Operation::Open)))?;
        let exec = EngineExec {
            starter: Arc::clone(&starter),
            container: container.clone(),
        };
        let options = options(&starter, described);
        match options.open(context, Arc::new(exec)).await {
            Ok(posix) => {
                let session = Self {
                    posix,
                    starter,
                    container,
                    held: Mutex::new(Some(held)),
                };
                session.proven(context).await
            }
            Err(error) => {
                drop(held);
                let removed = move || starter.cli.remove(&container, GIVE_UP_TIMEOUT);
                // What cannot be removed now ends by itself: its input has ended.
                let _ = blocking::run(&Executor, removed).await;
                Err(OpenError::NotStarted(error))
            }
        }
    }

    /// The session where it gives what is required, as its shell sees it; else it is closed.
    async fn proven(self, context: &Context) -> std::result::Result<Self, OpenError> {
        let (options, expected) = (&self.starter.options, &self.starter.expected);
        if options.require.is_empty() {
            return Ok(self);
        }
        let lacks = match self.facts(context).await {
            Ok(facts) => match doctor::unmet(options, expected, &facts) {
                gaps if gaps.is_empty() => return Ok(self),
                gaps => OpenError::RequirementsUnmet { gaps },
            },
            Err(error) => OpenError::NotStarted(error),
        };
        // What cannot be removed now ends by itself.
        let _ = self.close().await;
        Err(lacks)
    }

    /// What its shell sees of what it runs in; none of it is proven.
    pub(super) async fn facts(&self, context: &Context) -> Result<Facts> {
        facts_by_shell::facts(context, &self.posix, &self.starter.options.cwd).await
    }

    /// What this way of serving the contract is weaker in.
    pub(super) fn gaps(&self) -> &[PosixGap] {
        self.posix.gaps()
    }
}

fn options(starter: &Starter, described: &Description) -> PosixOptions {
    PosixOptions {
        backend: described.backend.clone(),
        root: described.root.clone(),
        writable: described.writable,
        durable: described.durable,
        users: false,
        environment: starter.options.environment.clone(),
        limits: described.limits,
        instructions: described.instructions.clone(),
        hardening_gaps: described.hardening_gaps.clone(),
    }
}

fn start(
    starter: &Starter,
    context: &Context,
) -> std::result::Result<(String, (Attached, Stream)), Failed> {
    starter.fetch_image(context)?;
    let session = lease::session_id()?;
    let container = format!("belljar-{session}");
    let run = Start {
        hardening: &starter.hardening,
        labels: &starter.labels(session, None),
        container_name: &container,
        keeper: Keeper::Shell,
    };
    // The paths were checked when the options were.
    let run = arguments::run(&starter.options, &run).map_err(std::io::Error::other)?;
    let (attached, stream) = Attached::start(&starter.cli, &run)?;
    loop {
        if starter.cli.is_running(context, &container)? {
            return Ok((container, (attached, stream)));
        }
        if attached.has_ended() {
            return Err(match attached.end(GIVE_UP_TIMEOUT) {
                Err(said) => Failed::Cli(said),
                Ok(()) => Failed::Silent,
            });
        }
        if let Err(stop) = context.check() {
            drop(stream);
            let _ = starter.cli.remove(&container, GIVE_UP_TIMEOUT);
            return Err(stop.into());
        }
        std::thread::sleep(LOOK);
    }
}

#[async_trait]
impl Backend for ShellSession {
    fn describe(&self) -> Arc<Description> {
        self.posix.describe()
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.posix.call(context, request).await
    }

    async fn close(&self) -> Result<()> {
        let ended = self.posix.close().await;
        drop(self.held.lock().await.take());
        let (starter, container) = (Arc::clone(&self.starter), self.container.clone());
        let removed = blocking::run(&Executor, move || {
            starter.cli.remove(&container, REMOVE_TIMEOUT)
        })
        .await;
        let removed = removed.ok_or_else(|| no_thread(Operation::Close))?;
        removed.map_err(|error| {
            let message = format!(
                "the container {} may be left behind; `belljar prune` removes it; {error}",
                self.container
            );
            Error::new(ErrorKind::BackendFailed, Operation::Close, message).because(error)
        })?;
        // A container that is gone has no processes, whatever kept them from ending before.
        ended.or(Ok(()))
    }
}
