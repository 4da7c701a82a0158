//! What a case works with: a sandbox, an empty directory in it, and a way around it.

use std::{
    fmt,
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar_contract::{Context, Sandbox, blocking, session::Capability};

use crate::{
    case::Need,
    check::Failure,
    factory::{Commands, Workspace},
    outside::{Nothing, Outside},
    outside_processes::Processes,
    threads,
};

/// A sandbox with an empty directory, for one case. Cheap to clone.
///
/// Its methods take paths in that directory, and give results as if it were the root; what a
/// case says is the same for a workspace of its own and for a directory in a shared one.
#[derive(Clone)]
pub struct Fixture {
    /// The sandbox, in the case's context. Its paths begin at the workspace's root.
    pub sandbox: Sandbox,
    pub(crate) outside: Arc<dyn Outside>,
    /// Empty, or the case's directory with a slash.
    pub(crate) prefix: Arc<str>,
    commands: Arc<Commands>,
    host: bool,
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture")
            .field("sandbox", &self.sandbox)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

/// Keeps what the processes of two cases make outside the workspace apart.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Fixture {
    pub(crate) fn new(workspace: &Workspace, context: &Context) -> Self {
        let sandbox = workspace.sandbox.within(context.clone());
        let outside: Arc<dyn Outside> = match &workspace.outside {
            Some(outside) => Arc::clone(outside),
            None if sandbox.describe().can(Capability::Run) => {
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                let unique = format!("{}-{number}", std::process::id());
                Arc::new(Processes::new(sandbox.clone(), &unique))
            }
            None => Arc::new(Nothing),
        };
        let prefix = match &workspace.directory {
            Some(directory) => format!("{directory}/"),
            None => String::new(),
        };
        Self {
            sandbox,
            outside,
            prefix: prefix.into(),
            commands: Arc::clone(&workspace.commands),
            host: workspace.outside.is_some(),
        }
    }

    /// The context that the case runs in.
    #[must_use]
    pub const fn context(&self) -> &Context {
        self.sandbox.context()
    }

    /// The same directory, for calls in another context.
    #[must_use]
    pub fn within(&self, context: Context) -> Self {
        Self {
            sandbox: self.sandbox.within(context),
            ..self.clone()
        }
    }

    /// The path as the sandbox takes it.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        match path {
            "." if !self.prefix.is_empty() => self.prefix.trim_end_matches('/').to_owned(),
            path => format!("{}{path}", self.prefix),
        }
    }

    /// The absolute path as the sandbox takes it.
    #[must_use]
    pub fn absolute(&self, path: &str) -> String {
        let root = self.sandbox.describe().root.clone();
        format!("{}/{}{path}", root.trim_end_matches('/'), self.prefix)
    }

    /// A path relative to the root, as the case sees it.
    pub(crate) fn seen<'a>(&self, path: &'a str) -> &'a str {
        path.strip_prefix(&*self.prefix).unwrap_or(path)
    }

    /// Requires each need.
    pub(crate) async fn meets(&self, needs: &[Need]) -> Result<(), Failure> {
        let description = self.sandbox.describe();
        for need in needs {
            let met = match *need {
                Need::Can(capability) => description.can(capability),
                Need::Writable => description.writable,
                Need::Command(name) => self.commands.has(&self.sandbox, name).await?,
                Need::Outside => self.host || description.can(Capability::Run),
                Need::Host => self.host,
                Need::FreshRoot | Need::OwnSession => self.prefix.is_empty(),
            };
            if !met {
                return Err(Failure::unmet(format!("needs {need}")));
            }
        }
        Ok(())
    }

    /// Cleans up after a case: its directory, or its session.
    pub(crate) async fn finish(&self, workspace: &Workspace) -> Result<(), Failure> {
        let directory = workspace.directory.as_deref();
        if !self.sandbox.is_closed() {
            self.outside.finish().await;
        }
        match directory {
            Some(directory) => self.sandbox.remove(directory, true).await?,
            None => self.sandbox.close().await?,
        }
        Ok(())
    }

    /// Does `work` `count` times at once, each on a thread of its own, and waits for all.
    ///
    /// # Errors
    /// The first failure.
    pub async fn at_once<T, F>(
        &self,
        count: usize,
        work: impl Fn(usize, Self) -> F + Send + Sync + 'static,
    ) -> Result<Vec<T>, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>>,
    {
        let work = Arc::new(work);
        let running: Vec<_> = (0..count)
            .map(|index| {
                let (work, fixture) = (Arc::clone(&work), self.clone());
                threads::spawn(move || {
                    let context = fixture.context().clone();
                    blocking::block_on(&context, work(index, fixture))
                        .map_err(|stop| Failure::wrong(format!("hangs: {stop}")))?
                })
            })
            .collect();
        let mut values = Vec::with_capacity(count);
        for thread in running {
            values.push(thread.await?);
        }
        Ok(values)
    }

    /// Does something on a thread of its own, from now on; the future is its end.
    pub fn meanwhile<T, F, W>(
        &self,
        work: W,
    ) -> impl Future<Output = Result<T, Failure>> + Send + use<T, F, W>
    where
        W: FnOnce(Self) -> F + Send + 'static,
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>>,
    {
        let fixture = self.clone();
        threads::spawn(move || {
            let context = fixture.context().clone();
            blocking::block_on(&context, work(fixture))
                .map_err(|stop| Failure::wrong(format!("hangs: {stop}")))?
        })
    }

    /// Waits.
    ///
    /// # Errors
    /// [`Failure::Unmet`] without threads.
    pub async fn delay(&self, milliseconds: u64) -> Result<(), Failure> {
        threads::delay(Duration::from_millis(milliseconds)).await
    }
}
