//! Why a container did not start.

use std::{io, sync::Arc, time::Duration};

use belljar_contract::{Error, ErrorKind, Operation, Stop};
use belljar_protocol::OpenError;

use super::{super::OpenError as OpenFailed, CliError, CliFailure, Gap, standing::StandingError};

/// Why a container did not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error(transparent)]
    Cli(#[from] CliError),
    #[error(
        "the container started, and its resident did not connect; is the image for this machine's architecture, and the engine on this machine?"
    )]
    Silent,
    #[error(
        "the container did not start within {} ms; raise start-timeout, or look whether the engine hangs",
        .0.as_millis()
    )]
    TooLong(Duration),
    #[error("the resident in the container: {0}")]
    Resident(#[from] OpenError),
    #[error("the call was ended")]
    Stopped(Stop),
    #[error("the resident in the container does not tell what it sees: {}", .0.message)]
    Probe(Error),
    #[error("the container lacks what the configuration requires")]
    Unmet(Vec<Gap>),
    #[error("the host has no room for a session: {0}")]
    Host(Arc<io::Error>),
    #[error(transparent)]
    Standing(#[from] StandingError),
    #[error(
        "there are {} containers of the name {name} ({}); remove all but one",
        ids.len(),
        ids.join(", ")
    )]
    Several { name: String, ids: Vec<String> },
    #[error(
        "the container {id} of the name {name} is another than the configuration wants ({}); remove it, or use another name",
        differences.join("; ")
    )]
    Different {
        name: String,
        id: String,
        differences: Vec<String>,
    },
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
    pub(super) fn may_leave_a_container(&self) -> bool {
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
            // What lacks something was removed where it should be.
            Self::Unmet(_) | Self::Standing(_) | Self::Several { .. } | Self::Different { .. } => {
                false
            }
            Self::Silent
            | Self::TooLong(_)
            | Self::Resident(_)
            | Self::Stopped(_)
            | Self::Probe(_)
            | Self::Host(_) => true,
        }
    }

    /// Whether a limit in time ended it.
    pub(super) const fn is_timeout(&self) -> bool {
        match self {
            Self::Stopped(Stop::TimedOut) | Self::Resident(OpenError::TimedOut) => true,
            Self::Cli(error) => {
                matches!(error.failure, CliFailure::Stopped(Stop::TimedOut))
            }
            _ => false,
        }
    }

    /// Whether nothing failed but the time, or the caller's interest.
    pub(super) const fn is_stop(&self) -> bool {
        matches!(
            self,
            Self::Stopped(_) | Self::Resident(OpenError::TimedOut | OpenError::Cancelled)
        )
    }

    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        let kind = match self {
            Self::Cli(error) => return error.during(operation),
            Self::Stopped(stop) => return stop.during(operation),
            Self::Probe(error) => return error.during(operation),
            Self::Unmet(gaps) => {
                let unmet = OpenFailed::RequirementsUnmet { gaps };
                let error = Error::new(ErrorKind::BackendUnavailable, operation, unmet.to_string());
                return error.because(unmet);
            }
            Self::Resident(OpenError::TimedOut) => return Stop::TimedOut.during(operation),
            Self::Resident(OpenError::Cancelled) => return Stop::Cancelled.during(operation),
            Self::Standing(StandingError::Taken) => ErrorKind::Busy,
            Self::Silent | Self::TooLong(_) | Self::Resident(_) => ErrorKind::BackendUnavailable,
            Self::Host(_)
            | Self::Standing(StandingError::NotPrivate { .. } | StandingError::Io { .. })
            | Self::Several { .. }
            | Self::Different { .. } => ErrorKind::BackendFailed,
        };
        Error::new(kind, operation, self.to_string()).because(self)
    }
}
