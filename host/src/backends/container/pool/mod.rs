//! Containers that run before anyone asks for one.
//!
//! To start a container takes an engine tenths of a second, and to hand out one that runs takes a question to its
//! resident. One is handed out once: it ends with its session, and another takes its place on the shelf.

mod shelf;
mod state;

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use belljar_contract::{Backend, blocking, session::Description};

pub(super) use self::shelf::Shelf;
use super::{
    super::OpenError, ContainerOptions, ContainerOptionsError, backend::ContainerBackend,
    start::Starter,
};
use crate::backends::executor::Executor;

/// How many containers stand ready, and for how long.
///
/// ```
/// use belljar::backends::PoolOptions;
///
/// assert_eq!(PoolOptions::default().size, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// How many are kept running beside those in use. Default: none.
    pub size: u32,
    /// How long they are kept when no session is asked for; the next one that is fills the pool again. Default: five
    /// minutes.
    pub idle: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            size: 0,
            idle: Duration::from_secs(300),
        }
    }
}

/// Sessions in containers of the same options, each in one of its own.
///
/// The engine is asked once what it can hold. With a [`size`](PoolOptions::size), that many containers run before a
/// session needs one; they are as clean as one that was just started, since nothing but the resident ran
/// there. None is used for two sessions. Where none is ready, a session starts its own at its first call.
///
/// ```no_run
/// use belljar::{Sandbox, backends::{ContainerOptions, ContainerPool, PoolOptions}};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = PoolOptions { size: 4, ..PoolOptions::default() };
/// let pool = ContainerPool::open_ambient(ContainerOptions::new("debian:12"), pool)?;
/// let sandbox = Sandbox::new(pool.session());
/// sandbox.list(".", None).await?;
/// sandbox.close().await?;
/// pool.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ContainerPool {
    starter: Arc<Starter>,
    description: Arc<Description>,
    /// None where nothing stands ready.
    shelf: Option<Arc<Shelf>>,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl ContainerPool {
    /// Asks the engine what it can hold, and begins to fill the pool, on a thread of the pool's.
    ///
    /// # Ambient authority
    /// As [`ContainerOptions::open_ambient`].
    ///
    /// # Errors
    /// [`OpenError`] as [`ContainerOptions::open_ambient`]; and where containers are to be found again, or have no
    /// resident, since those cannot be kept ready.
    pub fn open_ambient(options: ContainerOptions, pool: PoolOptions) -> Result<Self, OpenError> {
        if options.reconnect {
            return Err(ContainerOptionsError::PoolWithReconnect.into());
        }
        let (starter, description) = options.prepare_ambient()?;
        if starter.resident.is_none() {
            return Err(ContainerOptionsError::PoolWithoutResident.into());
        }
        let mut opened = Self {
            starter,
            description,
            shelf: None,
            keeper: Mutex::new(None),
        };
        if pool.size > 0 {
            let shelf = Arc::new(Shelf::new(pool));
            let (kept, starter) = (Arc::clone(&shelf), Arc::clone(&opened.starter));
            let keeper = std::thread::Builder::new()
                .name("belljar-pool".into())
                .spawn(move || kept.keep(&starter))
                .map_err(OpenError::Pool)?;
            opened.shelf = Some(shelf);
            opened.keeper = Mutex::new(Some(keeper));
        }
        Ok(opened)
    }

    /// A new session. It has its container from its first call on.
    #[must_use]
    pub fn session(&self) -> Arc<dyn Backend> {
        let (starter, description) = (Arc::clone(&self.starter), Arc::clone(&self.description));
        Arc::new(ContainerBackend::new(
            starter,
            description,
            self.shelf.clone(),
        ))
    }

    /// How many containers stand ready now.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.shelf.as_ref().map_or(0, |shelf| shelf.ready())
    }

    /// Removes the containers that stand ready, and waits until they are gone. Sessions go on; one that has
    /// none yet starts its own.
    pub async fn close(&self) {
        if let Some(shelf) = &self.shelf {
            shelf.close();
        }
        let keeper = {
            let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            keeper.take()
        };
        let Some(keeper) = keeper else {
            return;
        };
        // The thread has nothing to say; if it panicked, it held nothing that does not end by itself.
        let joined = move || drop(keeper.join());
        let _ = blocking::run(&Executor, joined).await;
    }
}

impl Drop for ContainerPool {
    /// Those that stand ready are removed, by a thread that is not waited for.
    fn drop(&mut self) {
        if let Some(shelf) = &self.shelf {
            shelf.close();
        }
    }
}
