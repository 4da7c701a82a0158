//! Starts a container, and meets its resident.

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{TryRecvError, channel},
    },
    time::Duration,
};

use belljar_contract::Context;
use belljar_protocol::{Client, Patience, Stream, message::Open};

use super::{
    CliError, CliFailure, ContainerOptions, ContainerState, PullPolicy,
    arguments::{self, Keeper, Start, Transport},
    attached::Attached,
    cli::{CALL_TIMEOUT, Call, Cli},
    doctor::{self, Expected},
    labels::{self, Labels},
    meeting::Meeting,
    not_started::Failed,
    owner::Owner,
    standing::Standing,
    transport::{Reach, Way},
};
use crate::backends::resident::Resident;

/// How long after its start a container's resident may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// After this long it is looked whether the container still runs.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How often it is looked whether a container is gone by now.
const LOOK: Duration = Duration::from_millis(50);
/// How long a container that did not come to be may take to be removed.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a program whose stream has ended may take to end and say why.
const SAY_WHY: Duration = Duration::from_secs(2);

/// Everything that is known before a container starts.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) cli: Cli,
    pub(super) options: ContainerOptions,
    /// The options of `run` that confine.
    pub(super) hardening: Vec<String>,
    /// The program that serves the contract, a path of the host; none where a shell does.
    pub(super) resident: Option<PathBuf>,
    /// What it is to see.
    pub(super) expected: Expected,
    /// How it is reached.
    pub(super) way: Way,
    /// Whether that failed once, and the other way is taken from then on.
    pub(super) no_socket: AtomicBool,
}

/// A container that runs, with its resident.
pub(super) struct Running {
    pub(super) resident: Resident,
    /// The container's name, which is as good as its id: it has 128 random bits.
    pub(super) container: String,
    /// What is ended with the session.
    pub(super) held: Mutex<Held>,
}

/// What of the host's a container has while it runs.
#[derive(Default)]
pub(super) struct Held {
    /// The program that carries its stream.
    pub(super) attached: Option<Attached>,
    /// Its place, where it is to be found again.
    pub(super) standing: Option<Standing>,
}

impl Starter {
    /// Starts a container and opens a session in it, on this thread.
    pub(super) fn start(&self, context: &Context) -> Result<Running, Failed> {
        let limit = self.options.start_timeout;
        let bounded = context.with_timeout(limit);
        let started = match self.options.reconnect {
            true => self.reconnect(&bounded),
            false => self.start_new(&bounded, None),
        };
        // Before any call is let through.
        let started = started.and_then(|running| self.prove(&bounded, running));
        started.map_err(|failed| match context.check() {
            // It was no limit of the caller's that ended it.
            Ok(()) if failed.is_timeout() => Failed::TooLong(limit),
            _ => failed,
        })
    }

    /// Lets a container pass that gives what is required, as its resident sees it; else removes it, or leaves
    /// it where it is to be found again.
    fn prove(&self, context: &Context, running: Running) -> Result<Running, Failed> {
        if self.options.require.is_empty() {
            return Ok(running);
        }
        let failed = match running.resident.probe_here(context) {
            Ok(facts) => match doctor::unmet(&self.options, &self.expected, &facts) {
                unmet if unmet.is_empty() => return Ok(running),
                unmet => Failed::Unmet(unmet),
            },
            Err(error) => Failed::Probe(error),
        };
        // A container whose resident has ended is removed at once; else podman waits ten seconds for it.
        running.resident.close_here();
        if !self.options.reconnect {
            let _ = self.remove(&running.container, REMOVE_TIMEOUT);
        }
        Err(failed)
    }

    /// How a resident is reached now.
    pub(super) fn reach(&self) -> Reach {
        match self.no_socket.load(Ordering::Acquire) {
            true => Reach::Stdio,
            false => self.way.reach,
        }
    }

    /// Starts a new container; where nobody comes to the socket, another one without.
    pub(super) fn start_new(
        &self,
        context: &Context,
        standing: Option<Standing>,
    ) -> Result<Running, Failed> {
        self.fetch_image(context)?;
        let reach = self.reach();
        let place = standing.as_ref();
        let made = match self.make(context, reach, place) {
            Err(Failed::Silent) if self.way.may_change && reach == Reach::Socket => {
                tracing::info!(
                    "nobody came to the container's socket; its session runs over standard input and output"
                );
                self.no_socket.store(true, Ordering::Release);
                self.make(context, Reach::Stdio, place)
            }
            made => made,
        };
        let running = made?;
        running.hold(standing);
        Ok(running)
    }

    fn make(
        &self,
        context: &Context,
        reach: Reach,
        standing: Option<&Standing>,
    ) -> Result<Running, Failed> {
        let session = labels::session_id()?;
        let container = format!("belljar-{session}");
        let meeting = match reach {
            Reach::Socket => Some(match standing {
                Some(standing) => Meeting::below_ambient(standing.folder())?,
                None => Meeting::open_ambient()?,
            }),
            Reach::Stdio => None,
        };
        let stays = standing.and(meeting.as_ref());
        let labels = self.labels(session, stays.map(Meeting::folder_text));
        let transport = match &meeting {
            Some(meeting) => Transport::Socket {
                folder: meeting.folder(),
            },
            None => Transport::Stdio,
        };
        let program = self.resident.as_deref();
        let no_resident = || std::io::Error::other("this session has no resident");
        let run = Start {
            hardening: &self.hardening,
            labels: &labels,
            container_name: &container,
            keeper: Keeper::Resident {
                program: program.ok_or_else(no_resident)?,
                transport,
            },
        };
        // The paths were checked when the options were.
        let run = arguments::run(&self.options, &run).map_err(std::io::Error::other)?;
        let made = match meeting {
            Some(meeting) => self.met(context, meeting, &run, &container),
            None => self.attached(context, &run, &container),
        };
        if let Err(failed) = &made
            && failed.may_leave_a_container()
        {
            // What cannot be removed now, `prune` finds: it has no living owner for long.
            let _ = self.remove(&container, REMOVE_TIMEOUT);
        }
        made
    }

    /// What is written on a container of this session.
    pub(super) fn labels(&self, session: String, stream: Option<String>) -> Labels {
        let now = labels::seconds_since_1970();
        Labels {
            session,
            owner: Some(Owner::this_ambient()),
            name: self.options.name.clone(),
            hardening: labels::hardening(&self.hardening),
            image: self.options.image.clone(),
            lease: labels::lease_end(now, self.options.lease),
            stream,
        }
    }

    /// Does what the policy says of an image, where the engine cannot be told.
    fn fetch_image(&self, context: &Context) -> Result<(), CliError> {
        if !arguments::pulls_by_itself(&self.options) {
            return Ok(());
        }
        let image = &self.options.image;
        let arguments = match self.options.pull {
            PullPolicy::Always => arguments::pull(self.cli.engine(), image),
            PullPolicy::Never | PullPolicy::Missing => arguments::image_inspect(image),
        };
        match self.ask(context, &arguments, self.options.start_timeout) {
            Err(mut error) => {
                if let (PullPolicy::Never, CliFailure::Other { .. }) =
                    (self.options.pull, &error.failure)
                {
                    error.failure = CliFailure::ImageUnknown;
                }
                Err(error)
            }
            Ok(_) => Ok(()),
        }
    }

    /// Has the engine's program start a container, and opens a session with who comes.
    pub(super) fn met(
        &self,
        context: &Context,
        meeting: Meeting,
        arguments: &[String],
        container: &str,
    ) -> Result<Running, Failed> {
        let stream = self.meet(context, meeting, arguments, container)?;
        let client = self.open(context, stream)?;
        Ok(Running::new(client, container, None))
    }

    /// Has the engine's program start a container, and opens a session over what it carries.
    pub(super) fn attached(
        &self,
        context: &Context,
        arguments: &[String],
        container: &str,
    ) -> Result<Running, Failed> {
        let (attached, stream) = Attached::start(&self.cli, arguments)?;
        match self.open(context, stream) {
            Ok(client) => Ok(Running::new(client, container, Some(attached))),
            // The program knows more of it than that its output has ended.
            Err(failed) => Err(match attached.end(SAY_WHY) {
                Err(said) if !failed.is_stop() => Failed::Cli(said),
                _ => failed,
            }),
        }
    }

    /// Runs the engine's program, and waits for whom it starts.
    fn meet(
        &self,
        context: &Context,
        meeting: Meeting,
        arguments: &[String],
        container: &str,
    ) -> Result<Stream, Failed> {
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            let cancelled = context.child();
            let cancellation = cancelled.cancellation().clone();
            scope.spawn(move || {
                let limit = self.options.start_timeout;
                // When nobody listens, the answer is no longer wanted.
                let _ = tell.send(self.ask(&cancelled, arguments, limit));
            });
            let (mut started, mut looked) = (None, false);
            let stream = meeting.wait(context, || match told.try_recv() {
                Ok(Ok(_)) => {
                    started = Some(context.now());
                    Ok(())
                }
                Ok(Err(error)) => Err(Failed::Cli(error)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => match started {
                    Some(at) if context.now() - at > CONNECT_TIMEOUT => Err(Failed::Silent),
                    Some(at) if !looked && context.now() - at > LOOK_AFTER => {
                        looked = true;
                        match self.state(context, container) {
                            Ok(Some(state)) if state.may_work() => Ok(()),
                            Ok(_) => Err(Failed::Silent),
                            Err(error) => Err(Failed::Cli(error)),
                        }
                    }
                    _ => Ok(()),
                },
            });
            // Where the resident is there, the program has nothing more to say that is waited for; it
            // ends by itself. Where it is not, it is ended.
            if stream.is_err() {
                cancellation.cancel();
            }
            Ok(Stream::try_from(stream?)?)
        })
    }

    fn open(&self, context: &Context, stream: Stream) -> Result<Client, Failed> {
        let variables = self.options.environment.clone();
        let open = Open {
            root: self.options.cwd.clone(),
            variables: variables.into_iter().collect(),
            limits: self.options.limits,
            silence: None,
        };
        // A third of it until it is asked whether it lives: a question costs next to nothing.
        let quiet = self.options.patience / 3;
        let patience = Patience {
            quiet,
            silent: self.options.patience - quiet,
        };
        let (client, _) = Client::open_with(context, stream, &open, patience)?;
        Ok(client)
    }

    /// Asks the engine's program.
    pub(super) fn ask(
        &self,
        context: &Context,
        arguments: &[String],
        timeout: Duration,
    ) -> Result<Vec<u8>, CliError> {
        let call = Call {
            arguments,
            input: None,
            timeout,
        };
        self.cli.call(context, call).map(|answer| answer.stdout)
    }

    /// What a container does; none when it is gone.
    pub(super) fn state(
        &self,
        context: &Context,
        container: &str,
    ) -> Result<Option<ContainerState>, CliError> {
        let engine = self.cli.engine();
        let arguments = arguments::inspect(engine, [container]);
        match self.ask(context, &arguments, CALL_TIMEOUT) {
            Ok(answer) => Ok(ContainerState::of_one(engine, &answer)),
            Err(error) if matches!(error.failure, CliFailure::ContainerGone) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a container runs by now.
    pub(super) fn is_running(&self, context: &Context, container: &str) -> Result<bool, CliError> {
        let state = self.state(context, container)?;
        Ok(state == Some(ContainerState::Running))
    }

    /// Removes a container, and waits until the engine does not know it any more; one that is gone is
    /// removed.
    pub(super) fn remove(&self, container: &str, timeout: Duration) -> Result<(), CliError> {
        let context = Context::new().with_timeout(timeout);
        let arguments = arguments::remove(self.cli.engine(), container);
        let removed = match self.unless_gone(&arguments, timeout) {
            // It was about to end by itself, and an engine may trip over that.
            Err(error) if matches!(error.failure, CliFailure::Other { .. }) => {
                match self.state(&context, container) {
                    Ok(None) => return Ok(()),
                    _ => self.unless_gone(&arguments, timeout),
                }
            }
            removed => removed,
        };
        removed?;
        // The engine may be at it already, and lists it until it is done.
        while context.check().is_ok() && self.state(&context, container)?.is_some() {
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Stops a container, which stays; one that is gone has stopped.
    pub(super) fn stop(&self, container: &str, timeout: Duration) -> Result<(), CliError> {
        let context = Context::new().with_timeout(timeout);
        let mut tries = 0;
        loop {
            match self.state(&context, container)? {
                Some(ContainerState::Paused) => {
                    if let Some(unpause) = arguments::unpause(self.cli.engine(), container) {
                        // Where it cannot go on, it cannot be stopped either, and that is told.
                        let _ = self.ask(&context, &unpause, timeout);
                    }
                }
                Some(state) if state.may_work() => {}
                _ => return Ok(()),
            }
            tries += 1;
            match self.unless_gone(&arguments::stop(container), timeout) {
                // It was about to end by itself, and an engine may trip over that.
                Err(error) if matches!(error.failure, CliFailure::Other { .. }) && tries < 3 => {}
                stopped => return stopped,
            }
        }
    }

    fn unless_gone(&self, arguments: &[String], timeout: Duration) -> Result<(), CliError> {
        match self.ask(&Context::new(), arguments, timeout) {
            Err(error) if matches!(error.failure, CliFailure::ContainerGone) => Ok(()),
            other => other.map(drop),
        }
    }

    /// What the engine says of a container whose resident is lost.
    pub(super) fn fate(&self, container: &str) -> String {
        match self.state(&Context::new(), container) {
            Ok(Some(state)) => format!("the container is {state}"),
            Ok(None) => {
                "the container has ended: it was killed or removed from outside, or ran out of memory"
                    .to_owned()
            }
            Err(error) => error.to_string(),
        }
    }
}

impl Running {
    fn new(client: Client, container: &str, attached: Option<Attached>) -> Self {
        let held = Held {
            attached,
            standing: None,
        };
        Self {
            resident: Resident::new(client),
            container: container.to_owned(),
            held: Mutex::new(held),
        }
    }

    /// Keeps a place until the session ends.
    pub(super) fn hold(&self, standing: Option<Standing>) {
        let mut held = self
            .held
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        held.standing = standing;
    }

    /// What is to be ended; once.
    pub(super) fn take_held(&self) -> Held {
        let mut held = self
            .held
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        std::mem::take(&mut held)
    }
}
