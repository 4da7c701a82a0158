//! Why there is no session in a Pod, or none any more.

use std::fmt;

use belljar_contract::{Error, ErrorKind, Operation, Stop};
use belljar_protocol::OpenError;

use super::fate::PodFate;
use crate::backends::{Gap, install::InstallError};

/// A cluster did not do what was asked of it, or a Pod did not.
///
/// It is displayed with the cluster's own words, which are somebody else's text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{failure}{}", Of(pod.as_deref()), Said(words))]
pub struct KubernetesError {
    /// The Pod, as `NAMESPACE/NAME`; none when it is about none.
    pub pod: Option<String>,
    /// What went wrong.
    pub failure: KubernetesFailure,
    /// What the cluster, or what runs in the Pod, said of it; empty when nothing was said.
    pub words: String,
}

/// What went wrong between this host and a session in a Pod.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KubernetesFailure {
    /// The API server does not answer.
    #[error("the cluster's API server cannot be reached")]
    Unreachable,
    /// The API server does not answer in time.
    #[error("the cluster's API server does not answer")]
    Silent,
    /// It does not know who asks.
    #[error("the cluster does not accept who asks; look at the kubeconfig's user")]
    Unauthorized,
    /// Who asks may not.
    #[error("the cluster's Role does not allow to {verb} {resource}; grant it")]
    Forbidden {
        /// As a Role has it: `create`.
        verb: &'static str,
        /// The same: `pods/exec`.
        resource: &'static str,
    },
    /// The namespace's quota is used up.
    #[error("the namespace's quota is used up")]
    Quota,
    /// The cluster does not admit such a Pod.
    #[error("the cluster does not admit the Pod")]
    NotAdmitted,
    /// The cluster does not take such a Pod for one.
    #[error("the cluster does not accept the Pod")]
    Invalid,
    /// There is no such namespace, or what the Pod names is not there.
    #[error("something that was named is not in the cluster")]
    NotFound,
    /// The cluster fails.
    #[error("the cluster fails with code {code}")]
    Cluster {
        /// The HTTP status.
        code: u16,
    },
    /// No node takes the Pod.
    #[error("no node takes the Pod")]
    Unschedulable,
    /// The image is not had.
    #[error("the node does not get the image")]
    Image,
    /// The container cannot be made as it is asked for.
    #[error("the node does not start the container")]
    Container,
    /// There was no session in time; the Pod was removed.
    #[error("no session within {} ms; raise start-timeout", after.as_millis())]
    TooLong {
        /// The time that it had.
        after: std::time::Duration,
    },
    /// The Pod has ended, or has no node any more.
    #[error(transparent)]
    Ended(Box<PodFate>),
    /// There is no such program in the image.
    #[error(
        "the image has no such program; for resident = \"copy\" it needs a POSIX shell, for \"image\" the resident"
    )]
    ProgramMissing,
    /// No resident was started.
    #[error(transparent)]
    Install(InstallError),
    /// What answers does not speak the protocol of this version.
    #[error("what answers is no resident; it began with {began:?}")]
    NotOurs {
        /// The first bytes, shortened.
        began: String,
    },
    /// A resident of another version of the protocol answers.
    #[error("the resident there speaks version {theirs} of the protocol; use this installation's")]
    OtherVersion {
        /// The resident's version.
        theirs: u8,
    },
    /// The resident there does not open the session.
    #[error("the resident there does not open the session: {reason}")]
    Refused {
        /// What it says, which is its text.
        reason: String,
    },
    /// The workspace can only be read, and was to be written.
    #[error("the workspace there cannot be written")]
    NotWritable,
    /// The Pod lacks what the configuration requires, as its resident sees it.
    #[error("the Pod lacks what the configuration requires: {}", Lacks(gaps))]
    Unmet {
        /// What is missing.
        gaps: Vec<Gap>,
    },
    /// The session's variables are more than an opening may have.
    #[error("the variables for processes are too large")]
    VariablesTooLarge,
    /// The stream ended, broke or fell silent.
    #[error("the stream is lost: {how}")]
    Lost {
        /// How.
        how: String,
    },
    /// This machine gives no socket, or no random number.
    #[error("this machine does not give what a session needs: {how}")]
    Here {
        /// What it says.
        how: String,
    },
    /// The call that needed it was stopped.
    #[error("stopped")]
    Stopped(#[source] Stop),
}

impl KubernetesError {
    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        if let KubernetesFailure::Stopped(stop) = self.failure {
            return stop.during(operation);
        }
        Error::new(self.failure.kind(), operation, self.to_string()).because(self)
    }
}

/// What went wrong with which words, before it is known of which Pod.
pub(super) type Why = (KubernetesFailure, String);

impl KubernetesFailure {
    /// Without a word of the cluster's.
    pub(super) fn silent(self) -> Why {
        (self, String::new())
    }

    /// What a caller of the contract can do about it.
    fn kind(&self) -> ErrorKind {
        match self {
            // There is no way to a session, now.
            Self::Unreachable
            | Self::Silent
            | Self::Unauthorized
            | Self::Forbidden { .. }
            | Self::Quota
            | Self::NotFound
            | Self::Cluster { .. }
            | Self::Unschedulable
            | Self::Image
            | Self::TooLong { .. }
            | Self::Ended(_)
            | Self::Lost { .. } => ErrorKind::BackendUnavailable,
            // There is, and what is there cannot do this.
            Self::NotAdmitted
            | Self::Invalid
            | Self::Container
            | Self::ProgramMissing
            | Self::Install(_)
            | Self::NotOurs { .. }
            | Self::OtherVersion { .. }
            | Self::Refused { .. }
            | Self::NotWritable
            | Self::Unmet { .. }
            | Self::VariablesTooLarge
            | Self::Here { .. } => ErrorKind::BackendFailed,
            Self::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
        }
    }
}

impl From<OpenError> for KubernetesFailure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NotOurs(began) => Self::NotOurs { began },
            OpenError::OtherVersion(theirs) => Self::OtherVersion { theirs },
            OpenError::Refused(reason) => Self::Refused { reason },
            OpenError::TooLarge => Self::VariablesTooLarge,
            OpenError::TimedOut => Self::Stopped(Stop::TimedOut),
            OpenError::Cancelled => Self::Stopped(Stop::Cancelled),
            other => Self::Lost {
                how: other.to_string(),
            },
        }
    }
}

impl From<InstallError> for KubernetesFailure {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Stopped(stop) => Self::Stopped(stop),
            InstallError::Lost { how } => Self::Lost { how },
            other => Self::Install(other),
        }
    }
}

impl From<std::io::Error> for KubernetesFailure {
    fn from(error: std::io::Error) -> Self {
        Self::Here {
            how: error.to_string(),
        }
    }
}

struct Lacks<'a>(&'a [Gap]);

impl fmt::Display for Lacks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, gap) in self.0.iter().enumerate() {
            let before = if index == 0 { "" } else { "; " };
            write!(f, "{before}{gap}")?;
        }
        Ok(())
    }
}

struct Of<'a>(Option<&'a str>);

impl fmt::Display for Of<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pod) => write!(f, "Pod {pod}: "),
            None => Ok(()),
        }
    }
}

struct Said<'a>(&'a str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => Ok(()),
            words => write!(f, "; it said: {words}"),
        }
    }
}
