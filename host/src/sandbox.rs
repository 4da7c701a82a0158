//! An open session, as an application has it.

use std::{ops::Deref, sync::Arc};

use belljar_contract::{Backend, Sandbox as Handle};

use crate::layers::{Guard, GuardState, Policy, PolicyBackend, StartedPrograms};

/// An open session on a backend. Cheap to clone; every clone is the same session.
///
/// It derefs to the contract's handle, so an application reads, writes and runs with it directly; those calls
/// are not guarded. What tools do through it is: see [`Tool`](crate::Tool).
///
/// ```
/// use belljar::{Sandbox, WriteOptions, backends::VirtualOptions};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = Sandbox::new(VirtualOptions::default().open_ambient()?);
/// sandbox.write("notes.txt", "hello", WriteOptions::default()).await?;
/// assert_eq!(sandbox.read("notes.txt").await?.bytes, b"hello");
/// sandbox.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sandbox {
    handle: Handle,
    /// What tools have read in this session.
    seen: Arc<GuardState>,
    /// Which programs tools have started in this session.
    started: Arc<StartedPrograms>,
}

impl Sandbox {
    /// Opens a session on a backend that is ready: one of [`backends`](crate::backends), or your own.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self {
            handle: Handle::new(backend),
            seen: Arc::default(),
            started: Arc::default(),
        }
    }

    /// The same session for calls that run in another context.
    #[must_use]
    pub fn within(&self, context: belljar_contract::Context) -> Self {
        Self {
            handle: self.handle.within(context),
            seen: Arc::clone(&self.seen),
            started: Arc::clone(&self.started),
        }
    }

    /// The same session through a layer around its backend: closed with it, and never the other way.
    #[must_use]
    pub fn layered(&self, layer: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>) -> Self {
        Self {
            handle: self.handle.layered(layer),
            seen: Arc::clone(&self.seen),
            started: Arc::clone(&self.started),
        }
    }

    /// The session as a tool sees it: narrowed by its policy, and guarded.
    pub(crate) fn view(&self, policy: &Policy, guarded: bool) -> Handle {
        self.handle.layered(|backend| {
            let backend: Arc<dyn Backend> = match guarded {
                true => Arc::new(Guard::new(backend, Arc::clone(&self.seen))),
                false => backend,
            };
            // What takes nothing away is not asked at each call.
            if *policy == Policy::everything() {
                return backend;
            }
            let started = Arc::clone(&self.started);
            Arc::new(PolicyBackend::new(backend, policy.clone()).sharing(started))
        })
    }
}

impl Deref for Sandbox {
    type Target = Handle;

    fn deref(&self) -> &Handle {
        &self.handle
    }
}
