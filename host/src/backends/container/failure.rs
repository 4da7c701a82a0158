//! Why an engine's program did not do what it was asked to.

use std::{path::PathBuf, sync::Arc, time::Duration};

use belljar_contract::{Error, ErrorKind, Operation, Stop};

use super::ContainerEngine;

/// A call of an engine's program that failed.
///
/// It is displayed with the engine's own words, which are somebody else's text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{engine} {command}: {failure}{}", Said(words))]
pub struct CliError {
    /// The engine.
    pub engine: ContainerEngine,
    /// What was to be done: `run`, `inspect`, … without what it was done to.
    pub command: String,
    /// What went wrong.
    pub failure: CliFailure,
    /// What the program said of it, the end of it where it said much; empty when it said nothing.
    pub words: String,
}

/// What went wrong with a call of an engine's program.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliFailure {
    /// There is no such program.
    #[error("there is no program {}; {}, or name it in [sandbox.container] program", program.display(), engine.install())]
    ProgramMissing {
        /// The program.
        program: PathBuf,
        /// Whose it is.
        engine: ContainerEngine,
    },
    /// The program is there and does not start.
    #[error("the program {} does not start", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The program gave no answer in time, and was killed.
    #[error("no answer within {} ms; the engine may hang", after.as_millis())]
    Hangs {
        /// The time that it had.
        after: Duration,
    },
    /// The call that needed it was stopped.
    #[error("stopped")]
    Stopped(#[source] Stop),
    /// The answer is over the most that is read.
    #[error("the answer is over {most} bytes")]
    AnswerTooLarge {
        /// The most bytes.
        most: usize,
    },
    /// The answer is none that is understood.
    #[error("the answer is not understood")]
    AnswerNotUnderstood,
    /// The engine's daemon is not there.
    #[error("the engine cannot be reached; start it, or set DOCKER_HOST or CONTAINER_HOST")]
    EngineDown,
    /// The engine's socket refuses this user.
    #[error(
        "the engine's socket refuses this user; a rootless engine does not need its permission"
    )]
    EngineRefuses,
    /// The image is not there, and is not to be fetched.
    #[error("the image is not there; pull it, or set pull = \"missing\"")]
    ImageUnknown,
    /// The image cannot be fetched.
    #[error(
        "the image cannot be pulled; look at its name, and whether its registry can be reached"
    )]
    PullFailed,
    /// The image's name is none.
    #[error("the image's name is none")]
    ImageNameInvalid,
    /// There is a container of this name.
    #[error("there is a container of this name; remove it, or set reconnect = true")]
    NameInUse,
    /// The container is not there any more.
    #[error("the container is gone")]
    ContainerGone,
    /// The container is there and has stopped.
    #[error("the container does not run")]
    ContainerNotRunning,
    /// The container is paused.
    #[error("the container is paused")]
    ContainerPaused,
    /// The program for process 1 is not in the image.
    #[error("the image lacks the program that starts in it")]
    ProgramNotInImage,
    /// The program for process 1 cannot be executed.
    #[error("the program that starts in the container cannot be executed")]
    NotExecutable,
    /// The program for process 1 is for another machine.
    #[error(
        "the program that starts in the container is for another architecture than its machine's"
    )]
    WrongArchitecture,
    /// The user is not in the image.
    #[error("the image has no such user")]
    UserUnknown,
    /// There is no such network.
    #[error("there is no such network")]
    NetworkUnknown,
    /// What is to be bound is not there, where the engine is.
    #[error("what is to be bound is not there, on the machine where the engine is")]
    BindSourceMissing,
    /// The engine's disk is full.
    #[error("the engine's disk is full")]
    OutOfDisk,
    /// The program does not know an option that it was given.
    #[error("the program does not know an option; a newer one may")]
    OptionUnknown,
    /// Something else.
    #[error("it failed with code {}", Code(*code))]
    Other {
        /// The program's exit code; none when a signal ended it.
        code: Option<i32>,
    },
}

impl CliError {
    /// The contract's error for it.
    #[must_use]
    pub fn during(self, operation: Operation) -> Error {
        if let CliFailure::Stopped(stop) = self.failure {
            return stop.during(operation);
        }
        let kind = kind(&self.failure);
        Error::new(kind, operation, self.to_string()).because(self)
    }
}

/// What a caller of the contract can do about it.
const fn kind(failure: &CliFailure) -> ErrorKind {
    match failure {
        // The session is dead, or never began.
        CliFailure::ProgramMissing { .. }
        | CliFailure::NotStarted { .. }
        | CliFailure::Hangs { .. }
        | CliFailure::EngineDown
        | CliFailure::EngineRefuses
        | CliFailure::ImageUnknown
        | CliFailure::PullFailed
        | CliFailure::ContainerGone
        | CliFailure::ContainerNotRunning
        | CliFailure::ContainerPaused => ErrorKind::BackendUnavailable,
        // It is there, and cannot do this.
        CliFailure::ImageNameInvalid
        | CliFailure::AnswerTooLarge { .. }
        | CliFailure::AnswerNotUnderstood
        | CliFailure::NameInUse
        | CliFailure::ProgramNotInImage
        | CliFailure::NotExecutable
        | CliFailure::WrongArchitecture
        | CliFailure::UserUnknown
        | CliFailure::NetworkUnknown
        | CliFailure::BindSourceMissing
        | CliFailure::OptionUnknown
        | CliFailure::Other { .. } => ErrorKind::BackendFailed,
        CliFailure::OutOfDisk => ErrorKind::NoSpace,
        CliFailure::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
        CliFailure::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
    }
}

struct Said<'a>(&'a str);

impl std::fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            "" => Ok(()),
            words => write!(f, "; it said: {words}"),
        }
    }
}

struct Code(Option<i32>);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(code) => code.fmt(f),
            None => f.write_str("none, by a signal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_keeps_its_kind_and_a_failure_its_words() {
        let error = |failure| CliError {
            engine: ContainerEngine::Docker,
            command: "run".into(),
            failure,
            words: "no space left on device".into(),
        };
        let kind = |failure| error(failure).during(Operation::Write).kind;
        assert_eq!(kind(CliFailure::OutOfDisk), ErrorKind::NoSpace);
        assert_eq!(
            kind(CliFailure::Stopped(Stop::Cancelled)),
            ErrorKind::Cancelled
        );
        assert_eq!(
            kind(CliFailure::Stopped(Stop::TimedOut)),
            ErrorKind::TimedOut
        );
        assert_eq!(kind(CliFailure::EngineDown), ErrorKind::BackendUnavailable);
        let shown = error(CliFailure::OutOfDisk).during(Operation::Write);
        assert!(shown.message.ends_with("no space left on device"));
    }
}
