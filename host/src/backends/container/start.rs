//! Starts a container, as its options say.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use belljar_contract::Context;

use super::{
    CliError, CliFailure, ContainerOptions, PullPolicy,
    arguments::{self, Keeper, Program, Start, Transport},
    cli::Cli,
    doctor::{self, Expected},
    labels::{self, Labels},
    meeting::Meeting,
    not_started::Failed,
    running::Running,
    standing::Standing,
    transport::{Reach, Way},
};
use crate::backends::{lease, owner::Owner};

/// How long a container that did not come to be may take to be removed.
pub(super) const REMOVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Everything that is known before a container starts.
#[derive(Debug)]
pub(super) struct Starter {
    pub(super) cli: Cli,
    pub(super) options: ContainerOptions,
    /// The options of `run` that confine.
    pub(super) hardening: Vec<String>,
    /// The program that serves the contract, a path of the host; none where a shell does.
    pub(super) resident: Option<PathBuf>,
    /// Whether it must be brought to the engine, which cannot bind it.
    pub(super) carries: bool,
    /// What it is to see.
    pub(super) expected: Expected,
    /// How it is reached.
    pub(super) way: Way,
    /// Whether that failed once, and the other way is taken from then on.
    pub(super) no_socket: AtomicBool,
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
            let _ = self.cli.remove(&running.container, REMOVE_TIMEOUT);
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
        let session = lease::session_id()?;
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
        let no_resident = || std::io::Error::other("this session has no resident");
        let program = self.resident.as_deref().ok_or_else(no_resident)?;
        let carrier = match self.carries {
            true => Some(self.carry(context, program)?),
            false => None,
        };
        let run = Start {
            hardening: &self.hardening,
            labels: &labels,
            container_name: &container,
            keeper: Keeper::Resident {
                program: match &carrier {
                    Some(carrier) => Program::CarriedBy(carrier),
                    None => Program::Here(program),
                },
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
            let _ = self.cli.remove(&container, REMOVE_TIMEOUT);
        }
        made
    }

    /// What is written on a container of this session.
    pub(super) fn labels(&self, session: String, stream: Option<String>) -> Labels {
        let now = lease::seconds_since_1970();
        Labels {
            session,
            owner: Some(Owner::this_ambient()),
            name: self.options.name.clone(),
            hardening: labels::hardening(&self.hardening),
            image: self.options.image.clone(),
            lease: lease::lease_end(now, self.options.lease),
            stream,
        }
    }

    /// Does what the policy says of an image, where the engine cannot be told.
    pub(super) fn fetch_image(&self, context: &Context) -> Result<(), CliError> {
        if !arguments::pulls_by_itself(&self.options) {
            return Ok(());
        }
        let image = &self.options.image;
        let arguments = match self.options.pull {
            PullPolicy::Always => arguments::pull(self.cli.engine(), image),
            PullPolicy::Never | PullPolicy::Missing => arguments::image_inspect(image),
        };
        match self
            .cli
            .ask(context, &arguments, self.options.start_timeout)
        {
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
}
