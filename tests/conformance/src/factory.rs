//! Where a case's sandbox comes from.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_contract::{Context, Result, Sandbox, async_trait};

use crate::{check::Failure, outside::Outside};

/// Opens a sandbox for each case.
#[async_trait]
pub trait Factory: Send + Sync {
    /// Opens a sandbox with an empty workspace, or an empty directory in one.
    ///
    /// # Errors
    /// A [`Failure`]: of the sandbox that does not open, or of what is needed to open it.
    async fn open(&self, context: &Context) -> std::result::Result<Workspace, Failure>;
}

/// A sandbox for one case.
pub struct Workspace {
    pub(crate) sandbox: Sandbox,
    pub(crate) outside: Option<Arc<dyn Outside>>,
    pub(crate) directory: Option<String>,
    pub(crate) commands: Arc<Commands>,
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
            commands: Arc::default(),
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

/// Which commands a sandbox was found to have: looked for once for all cases of one.
#[derive(Debug, Default)]
pub(crate) struct Commands(Mutex<BTreeMap<&'static str, bool>>);

impl Commands {
    /// Whether a command is in the PATH of a sandbox's processes.
    pub(crate) async fn has(&self, sandbox: &Sandbox, name: &'static str) -> Result<bool> {
        let known = self.known().get(name).copied();
        if let Some(has) = known {
            return Ok(has);
        }
        let found = sandbox.find_commands(vec![name.to_owned()]).await?;
        let has = found.iter().any(|command| command.path.is_some());
        self.known().insert(name, has);
        Ok(has)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<&'static str, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    commands: Arc<Commands>,
}

impl Shared {
    /// Uses this sandbox for all cases.
    #[must_use]
    pub fn new(sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            next: AtomicU64::new(1),
            commands: Arc::default(),
        }
    }
}

#[async_trait]
impl Factory for Shared {
    async fn open(&self, context: &Context) -> std::result::Result<Workspace, Failure> {
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
                commands: Arc::clone(&self.commands),
                ..Workspace::fresh(sandbox)
            });
        }
    }
}
