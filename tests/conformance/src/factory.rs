//! Where a case's sandbox comes from.

use std::{
    any::Any,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_contract::{Context, Sandbox, async_trait};

use crate::{check::Failure, outside::Outside};

/// Opens a sandbox for each case.
#[async_trait]
pub trait Factory: Send + Sync {
    /// Opens a sandbox with an empty workspace, or an empty directory in one.
    ///
    /// # Errors
    /// A [`Failure`]: of the sandbox that does not open, or of what is needed to open it.
    async fn open(&self, context: &Context) -> Result<Workspace, Failure>;
}

/// A sandbox for one case.
pub struct Workspace {
    pub(crate) sandbox: Sandbox,
    pub(crate) outside: Option<Arc<dyn Outside>>,
    pub(crate) directory: Option<String>,
    _kept: Box<dyn Any + Send + Sync>,
}

impl fmt::Debug for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workspace")
            .field("sandbox", &self.sandbox)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Workspace {
    /// A sandbox whose workspace is empty and which the case may close.
    #[must_use]
    pub fn fresh(sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            outside: None,
            directory: None,
            _kept: Box::new(()),
        }
    }

    /// Gives the host's own way to the workspace.
    #[must_use]
    pub fn with_outside(mut self, outside: Arc<dyn Outside>) -> Self {
        self.outside = Some(outside);
        self
    }

    /// Keeps something (a temporary directory) until the case is done.
    #[must_use]
    pub fn keeping(mut self, kept: impl Any + Send + Sync) -> Self {
        self._kept = Box::new(kept);
        self
    }
}

/// One sandbox for all cases, each in a directory of its own: for a sandbox that a user has.
///
/// Cases that need a workspace or a session of their own are skipped. Ignore files at the
/// workspace's root count for the cases as they do for everybody.
#[derive(Debug)]
pub struct Shared {
    sandbox: Sandbox,
    next: AtomicU64,
}

impl Shared {
    /// Uses this sandbox for all cases.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            next: AtomicU64::new(1),
        }
    }
}

#[async_trait]
impl Factory for Shared {
    async fn open(&self, context: &Context) -> Result<Workspace, Failure> {
        let sandbox = self.sandbox.within(context.clone());
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            // The process keeps two runs at once apart.
            let directory = format!("belljar-conformance-{}-{number}", std::process::id());
            if sandbox.stat(&directory).await.is_ok() {
                continue;
            }
            sandbox.make_directory(&directory).await?;
            return Ok(Workspace {
                directory: Some(directory),
                ..Workspace::fresh(sandbox)
            });
        }
    }
}
