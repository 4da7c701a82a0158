//! Opens a session in a container.

use std::sync::Arc;

use belljar_contract::Backend;

use super::{super::OpenError, ContainerOptions};

impl ContainerOptions {
    /// Starts a container, or finds it again.
    ///
    /// # Ambient authority
    /// It runs the engine's program; the workspace's path and the binds are the host's.
    ///
    /// # Errors
    /// [`OpenError`] when the options are wrong, or the container does not start.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        let _options = self.validated()?;
        Err(OpenError::NotInThisBuild {
            name: "container".into(),
        })
    }
}
