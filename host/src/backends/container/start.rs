//! Starts a container, and meets its resident.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{TryRecvError, channel},
    },
    time::Duration,
};

use belljar_contract::{Context, Error, ErrorKind, Operation, Result, Stop};
use belljar_protocol::{Client, OpenError, Stream, message::Open};

use super::{
    CliError, CliFailure, ContainerOptions, Gap,
    arguments::{self, Keeper, Start, Transport},
    cli::{CALL_TIMEOUT, Call, Cli},
    doctor::{self, Expected},
    labels::{self, Labels},
    listing::ContainerState,
    meeting::Meeting,
    owner::Owner,
};
use crate::backends::{self, resident::Resident};

/// How long after its start a container's resident may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a container that did not come to be may take to be removed.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Everything that is known before a container starts.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) cli: Cli,
    pub(super) options: ContainerOptions,
    /// The options of `run` that confine.
    pub(super) hardening: Vec<String>,
    /// The program that serves the contract, a path of the host.
    pub(super) resident: PathBuf,
    pub(super) expected: Expected,
}

/// A container that runs, with its resident.
pub(super) struct Running {
    pub(super) resident: Resident,
    /// The container's name, which is as good as its id: it has 128 random bits.
    pub(super) container: String,
}

impl Starter {
    /// Starts a container and opens a session in it, on this thread.
    pub(super) fn start(&self, context: &Context) -> Result<Running, Failed> {
        let context = context.with_timeout(self.options.start_timeout);
        let session = labels::session_id()?;
        let container = format!("belljar-{session}");
        let now = labels::seconds_since_1970();
        let labels = Labels {
            session,
            owner: Some(Owner::this_ambient()),
            name: self.options.name.clone(),
            hardening: labels::hardening(&self.hardening),
            image: self.options.image.clone(),
            lease: labels::lease_end(now, self.options.lease),
        };
        let meeting = Meeting::open_ambient()?;
        let run = Start {
            hardening: &self.hardening,
            labels: &labels,
            container_name: &container,
            keeper: Keeper::Resident {
                program: &self.resident,
                transport: Transport::Socket {
                    folder: meeting.folder(),
                },
            },
        };
        // The paths were checked when the options were.
        let run = arguments::run(&self.options, &run).map_err(io::Error::other)?;
        let met = self.meet(&context, meeting, &run);
        let opened = met.and_then(|stream| self.open(&context, stream));
        let opened = opened.map(Resident::new);
        // Before any call is let through, so that nothing ran in there but the resident.
        let opened = opened.and_then(|resident| self.prove(&context, resident));
        match opened {
            Ok(resident) => Ok(Running {
                resident,
                container,
            }),
            Err(failed) => {
                if failed.may_leave_a_container() {
                    // What cannot be removed now, `prune` finds: it has no living owner for long.
                    let _ = self.remove(&container, REMOVE_TIMEOUT);
                }
                Err(failed)
            }
        }
    }

    /// Runs the engine's program, and waits for whom it starts.
    fn meet(&self, context: &Context, meeting: Meeting, run: &[String]) -> Result<Stream, Failed> {
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            let cancelled = context.child();
            let cancellation = cancelled.cancellation().clone();
            scope.spawn(move || {
                let call = Call {
                    arguments: run,
                    input: None,
                    timeout: self.options.start_timeout,
                };
                // When nobody listens, the answer is no longer wanted.
                let _ = tell.send(self.cli.call(&cancelled, call));
            });
            let mut started = None;
            let stream = meeting.wait(context, || match told.try_recv() {
                Ok(Ok(_)) => {
                    started = Some(context.now());
                    Ok(())
                }
                Ok(Err(error)) => Err(Failed::Cli(error)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => match started {
                    Some(at) if context.now() - at > CONNECT_TIMEOUT => Err(Failed::Silent),
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
        };
        let (client, _) = Client::open(context, stream, &open)?;
        Ok(client)
    }

    /// Lets a container pass that gives what is required, as its resident sees it.
    fn prove(&self, context: &Context, resident: Resident) -> Result<Resident, Failed> {
        if self.options.require.is_empty() {
            return Ok(resident);
        }
        let failed = match resident.probe_here(context) {
            Ok(facts) => match doctor::unmet(&self.options, &self.expected, &facts) {
                unmet if unmet.is_empty() => return Ok(resident),
                unmet => Failed::Unmet(unmet),
            },
            Err(error) => Failed::Probe(error),
        };
        // A container whose resident has ended is removed at once; else podman waits ten seconds for it.
        resident.close_here();
        Err(failed)
    }

    /// Removes a container; one that is gone is removed.
    pub(super) fn remove(&self, container: &str, timeout: Duration) -> Result<(), CliError> {
        let call = Call {
            arguments: &arguments::remove(self.cli.engine(), container),
            input: None,
            timeout,
        };
        match self.cli.call(&Context::new(), call) {
            Err(error) if matches!(error.failure, CliFailure::ContainerGone) => Ok(()),
            other => other.map(drop),
        }
    }

    /// What the engine says of a container whose resident is lost.
    pub(super) fn fate(&self, container: &str) -> String {
        let engine = self.cli.engine();
        let call = Call {
            arguments: &arguments::inspect(engine, [container]),
            input: None,
            timeout: CALL_TIMEOUT,
        };
        match self.cli.call(&Context::new(), call) {
            Ok(answer) => match ContainerState::of_one(engine, &answer.stdout) {
                Some(state) => format!("the container is {state}"),
                None => "the engine does not say what became of the container".to_owned(),
            },
            Err(error) if matches!(error.failure, CliFailure::ContainerGone) => {
                "the container has ended: it was killed or removed from outside, or ran out of memory"
                    .to_owned()
            }
            Err(error) => error.to_string(),
        }
    }
}

/// Why a container did not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Cli(#[from] CliError),
    #[error(
        "the container started, and its resident did not connect; is the image for this machine's architecture, and the engine on this machine?"
    )]
    Silent,
    #[error("the resident in the container: {0}")]
    Resident(#[from] OpenError),
    #[error("the call was ended")]
    Stopped(Stop),
    #[error("the resident in the container does not tell what it sees: {}", .0.message)]
    Probe(Error),
    #[error("the container was removed: it lacks what the configuration requires")]
    Unmet(Vec<Gap>),
    #[error("the host has no room for a session: {0}")]
    Host(Arc<io::Error>),
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::Host(Arc::new(error))
    }
}

impl From<Stop> for Failed {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl Failed {
    /// Whether the engine may have made a container nevertheless.
    fn may_leave_a_container(&self) -> bool {
        match self {
            Self::Cli(error) => !matches!(
                error.failure,
                CliFailure::ProgramMissing { .. }
                    | CliFailure::NotStarted { .. }
                    | CliFailure::EngineDown
                    | CliFailure::EngineRefuses
                    | CliFailure::ImageUnknown
                    | CliFailure::PullFailed
                    | CliFailure::ImageNameInvalid
            ),
            Self::Silent
            | Self::Resident(_)
            | Self::Stopped(_)
            | Self::Probe(_)
            | Self::Unmet(_)
            | Self::Host(_) => true,
        }
    }

    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        let kind = match self {
            Self::Cli(error) => return error.during(operation),
            Self::Stopped(stop) => return stop.during(operation),
            Self::Resident(OpenError::TimedOut) => return Stop::TimedOut.during(operation),
            Self::Resident(OpenError::Cancelled) => return Stop::Cancelled.during(operation),
            Self::Probe(error) => return error.during(operation),
            Self::Unmet(gaps) => {
                let unmet = backends::OpenError::RequirementsUnmet { gaps };
                let message = format!("the container was removed; {unmet}");
                return Error::new(ErrorKind::BackendUnavailable, operation, message)
                    .because(unmet);
            }
            Self::Silent | Self::Resident(_) => ErrorKind::BackendUnavailable,
            Self::Host(_) => ErrorKind::BackendFailed,
        };
        Error::new(kind, operation, self.to_string())
    }
}
