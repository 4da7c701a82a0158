//! Opens a session only to see what it gives of what was asked.

use std::sync::Arc;

use belljar_contract::{Backend as _, Context};

use super::{
    super::{ExamineError, Report},
    ContainerOptions,
    backend::ContainerBackend,
    doctor,
};

impl ContainerOptions {
    /// Starts a container, asks its resident what it sees, removes it, and judges.
    ///
    /// The container is always a new one, whatever name the options have, so that nothing ran in it before; and
    /// it starts whatever is required, so that the report can say what is missing.
    ///
    /// # Ambient authority
    /// As [`open_ambient`](Self::open_ambient).
    ///
    /// # Errors
    /// [`ExamineError`] when the session does not open, the container does not start or cannot be removed.
    pub async fn examine_ambient(self, context: &Context) -> Result<Report, ExamineError> {
        let mut options = self;
        let require = std::mem::take(&mut options.require);
        options.name = None;
        options.reconnect = false;
        let (starter, description) = options.prepare_ambient()?;
        let session = ContainerBackend::new(Arc::clone(&starter), description, None);
        let probed = session.probe(context).await;
        let closed = session.close().await;
        let facts = probed?;
        closed?;
        let options = ContainerOptions {
            require,
            ..starter.options.clone()
        };
        Ok(Report {
            backend: session.describe().backend.clone(),
            rows: doctor::rows(&options, &starter.expected, &facts),
        })
    }
}
