//! What an engine's program is asked about one container: what it does, to stop, to be gone.

use std::time::Duration;

use belljar_contract::Context;

use super::{
    CliError, CliFailure, ContainerState, arguments,
    cli::{CALL_TIMEOUT, Call, Cli},
};

/// How often it is looked whether a container is gone by now.
const LOOK: Duration = Duration::from_millis(50);

impl Cli {
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
        self.call(context, call).map(|answer| answer.stdout)
    }

    /// What a container does; none when it is gone.
    pub(super) fn state(
        &self,
        context: &Context,
        container: &str,
    ) -> Result<Option<ContainerState>, CliError> {
        let engine = self.engine();
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
        let arguments = arguments::remove(self.engine(), container);
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
                    if let Some(unpause) = arguments::unpause(self.engine(), container) {
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
}
