//! What became of a container whose session is dead.

use std::time::Duration;

use belljar_contract::Context;

use super::{CliError, CliFailure, ContainerState, cli::Cli};

/// How long an engine may take to say it. The call that is told has failed already, and waits for nothing else.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a container whose stream has ended may be said to run: its engine learns of its end a little later
/// than the stream does.
const SETTLE: Duration = Duration::from_millis(500);
/// How often it is looked meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// What an engine says of a container whose session is dead: the source of that session's errors.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContainerFate {
    /// It is there.
    #[error("the container is {0}")]
    There(ContainerState),
    /// It is not there any more.
    #[error("the container has ended: it was killed or removed from outside, or ran out of memory")]
    Gone,
    /// The engine does not say.
    #[error("what became of the container is not known: {0}")]
    Unknown(#[source] CliError),
}

impl Cli {
    /// What the engine says of a container whose resident is lost.
    pub(super) fn fate(&self, container: &str) -> ContainerFate {
        let context = Context::new();
        let settled = context.now().saturating_add(SETTLE);
        loop {
            let fate = self.look(container);
            let runs = matches!(fate, ContainerFate::There(ContainerState::Running));
            if !runs || context.now() >= settled {
                return fate;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What became of a container that does not run as far as the engine says, or of which it says nothing.
    pub(super) fn ended(&self, container: &str) -> Option<ContainerFate> {
        match self.look(container) {
            ContainerFate::There(ContainerState::Running) => None,
            fate => Some(fate),
        }
    }

    fn look(&self, container: &str) -> ContainerFate {
        let bounded = Context::new().with_timeout(ASK_TIMEOUT);
        match self.state(&bounded, container) {
            Ok(Some(state)) => ContainerFate::There(state),
            Ok(None) => ContainerFate::Gone,
            Err(mut error) => {
                if let CliFailure::Stopped(_) = error.failure {
                    error.failure = CliFailure::Hangs { after: ASK_TIMEOUT };
                }
                ContainerFate::Unknown(error)
            }
        }
    }
}
