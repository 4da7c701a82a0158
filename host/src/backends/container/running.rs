//! A container that runs with its resident, and how it ends.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_protocol::Client;

use super::{CliError, attached::Attached, cli::Cli, standing::Standing};
use crate::backends::resident::Resident;

/// How long the engine may take to remove a container at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long the program that carried the stream may take to end after it.
const ATTACHED_PATIENCE: Duration = Duration::from_secs(5);

/// A container that runs, with its resident.
pub(super) struct Running {
    pub(super) resident: Resident,
    /// The container's name, which is as good as its id: it has 128 random bits.
    pub(super) container: String,
    /// None once it was ended.
    held: Mutex<Option<Held>>,
}

/// What of the host's a container has while it runs.
struct Held {
    /// The program that carries its stream.
    attached: Option<Attached>,
    /// Its place, where it is to be found again.
    standing: Option<Standing>,
}

impl Running {
    pub(super) fn new(client: Client, container: &str, attached: Option<Attached>) -> Self {
        let held = Held {
            attached,
            standing: None,
        };
        Self {
            resident: Resident::new(client),
            container: container.to_owned(),
            held: Mutex::new(Some(held)),
        }
    }

    /// Keeps a place until the session ends.
    pub(super) fn hold(&self, standing: Option<Standing>) {
        if let Some(held) = &mut *self.held() {
            held.standing = standing;
        }
    }

    /// Ends the resident and with it the container, which is then removed; one that has a place is stopped.
    /// On this thread, which may block; once.
    ///
    /// # Errors
    /// [`CliError`] when the container may be left behind.
    pub(super) fn end(&self, cli: &Cli) -> Result<(), CliError> {
        // The resident ends its processes, then itself, and with it the container.
        self.resident.close_here();
        let Some(held) = self.held().take() else {
            return Ok(());
        };
        if let Some(attached) = held.attached {
            // However it ended: what counts is the container.
            let _ = attached.end(ATTACHED_PATIENCE);
        }
        let ended = match held.standing {
            Some(_) => cli.stop(&self.container, REMOVE_TIMEOUT),
            None => cli.remove(&self.container, REMOVE_TIMEOUT),
        };
        // From here on another session may have its place.
        drop(held.standing);
        ended
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("container", &self.container)
            .finish_non_exhaustive()
    }
}
