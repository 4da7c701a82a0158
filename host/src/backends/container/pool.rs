//! Containers that run before anyone asks for one.
//!
//! To start a container takes an engine tenths of a second, and to hand out one that runs takes a question to its
//! resident. One is handed out once: it ends with its session, and another takes its place on the shelf.

use std::sync::Arc;

use belljar_contract::{Backend, Context, session::Description};

use super::{
    super::OpenError, ContainerOptions, ContainerOptionsError, backend::ContainerBackend,
    not_started::Failed, running::Running, start::Starter,
};
use crate::backends::pool::{Pool, PoolOptions, Stock};

/// How many are started at once. An engine does one after the other anyway, and sessions want it too.
const AT_ONCE: u32 = 1;

impl Stock for Starter {
    type Item = Running;
    type Error = Failed;

    fn start(&self, context: &Context) -> Result<Running, Failed> {
        Self::start(self, context)
    }

    /// It may have been ended from outside, or stand still.
    fn hand_out(&self, context: &Context, running: &Running) -> bool {
        running.resident.is_alive(context)
    }

    fn end(&self, running: &Running) -> Result<(), Failed> {
        Ok(running.end(&self.cli)?)
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
    pool: Option<Pool<Starter>>,
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
        let pool = match pool.size {
            0 => None,
            _ => Some(Pool::open(pool, &starter, AT_ONCE).map_err(OpenError::Pool)?),
        };
        Ok(Self {
            starter,
            description,
            pool,
        })
    }

    /// A new session. It has its container from its first call on.
    #[must_use]
    pub fn session(&self) -> Arc<dyn Backend> {
        let (starter, description) = (Arc::clone(&self.starter), Arc::clone(&self.description));
        Arc::new(ContainerBackend::new(
            starter,
            description,
            self.pool.as_ref().map(Pool::shelf),
        ))
    }

    /// How many containers stand ready now.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.pool.as_ref().map_or(0, Pool::ready)
    }

    /// Removes the containers that stand ready, and waits until they are gone. Sessions go on; one that has
    /// none yet starts its own.
    pub async fn close(&self) {
        if let Some(pool) = &self.pool {
            pool.close().await;
        }
    }
}
