//! Pods that run before a session needs one.

use std::sync::Arc;

use belljar_contract::{Backend, Context, session::Description};
use kube::api::{Patch, PatchParams};
use serde_json::json;

use super::{
    KubernetesError, KubernetesOptions,
    backend::KubernetesBackend,
    classify::Asked,
    cluster::ask,
    failure::{KubernetesFailure, Why},
    fate,
    marks::{READY, STATE, TAKEN},
    running::Running,
    start::Starter,
};
use crate::backends::{
    OpenError,
    pool::{Pool, PoolOptions, Stock},
};

/// How many are started at once: a Pod starts in seconds, of which this host only waits.
const AT_ONCE: u32 = 8;

/// Sessions in Pods of the same options, each in one of its own.
///
/// With a [`size`](PoolOptions::size), that many Pods run before a session needs one, each with its stream and its
/// resident; they are as clean as one that was just started, since nothing but the resident ran there. A session takes
/// one by a change of its label, which the cluster makes once. None is used for two sessions. Where none is ready, a
/// session starts its own at its first call.
///
/// ```no_run
/// use belljar::{Sandbox, backends::{KubernetesOptions, KubernetesPool, PoolOptions}};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let pool = PoolOptions { size: 4, ..PoolOptions::default() };
/// let pool = KubernetesPool::open_ambient(KubernetesOptions::new("debian:12"), pool)?;
/// let sandbox = Sandbox::new(pool.session());
/// sandbox.list(".", None).await?;
/// sandbox.close().await?;
/// pool.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KubernetesPool {
    starter: Arc<Starter>,
    description: Arc<Description>,
    /// None where nothing stands ready.
    pool: Option<Pool<Starter>>,
}

impl KubernetesPool {
    /// Prepares the way to the cluster, and begins to fill the pool, on threads of the pool's.
    ///
    /// # Ambient authority
    /// As [`KubernetesOptions::open_ambient`].
    ///
    /// # Errors
    /// [`OpenError`] as [`KubernetesOptions::open_ambient`].
    pub fn open_ambient(options: KubernetesOptions, pool: PoolOptions) -> Result<Self, OpenError> {
        let (starter, description) = options.prepare_ambient()?;
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

    /// A new session. It has its Pod from its first call on.
    #[must_use]
    pub fn session(&self) -> Arc<dyn Backend> {
        let (starter, description) = (Arc::clone(&self.starter), Arc::clone(&self.description));
        let shelf = self.pool.as_ref().map(Pool::shelf);
        Arc::new(KubernetesBackend::new(starter, description, shelf))
    }

    /// How many Pods stand ready now.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.pool.as_ref().map_or(0, Pool::ready)
    }

    /// Removes the Pods that stand ready, and waits until they are gone. Sessions go on; one that has none yet starts
    /// its own.
    pub async fn close(&self) {
        if let Some(pool) = &self.pool {
            pool.close().await;
        }
    }
}

impl Stock for Starter {
    type Item = Running;
    type Error = KubernetesError;

    fn start(&self, context: &Context) -> Result<Running, KubernetesError> {
        Self::start(self, context, true)
    }

    fn hand_out(&self, context: &Context, running: &Running) -> bool {
        running.resident.is_alive(context) && self.claim(context, running).is_ok()
    }

    fn end(&self, running: &Running) -> Result<(), KubernetesError> {
        running.end()
    }
}

impl Starter {
    /// Takes a Pod that stands ready: of all who try, one succeeds.
    fn claim(&self, context: &Context, running: &Running) -> Result<(), Why> {
        let (pods, name) = (self.cluster.pods(), running.pod.clone());
        // Usually nothing was changed since, and one question is enough.
        let mut version = Some(running.version.clone());
        self.cluster.run(context, async move {
            loop {
                // The cluster refuses it where anything was changed meanwhile.
                let change = json!({ "metadata": {
                    "resourceVersion": version,
                    "labels": { STATE: TAKEN },
                }});
                let parameters = PatchParams::default();
                let change = Patch::Merge(&change);
                match ask(
                    Asked::pods("patch"),
                    pods.patch(&name, &parameters, &change),
                )
                .await
                {
                    Ok(_) => return Ok(()),
                    Err((KubernetesFailure::Cluster { code: 409 }, _)) => {}
                    Err(why) => return Err(why),
                }
                let gone = |pod| KubernetesFailure::Ended(Box::new(fate::fate(pod))).silent();
                let told = ask(Asked::pods("get"), pods.get_opt(&name)).await?;
                let Some(pod) = told else {
                    return Err(gone(None));
                };
                let labels = pod.metadata.labels.as_ref();
                let is_ready = labels
                    .and_then(|labels| labels.get(STATE))
                    .map(String::as_str);
                if is_ready != Some(READY) || pod.metadata.deletion_timestamp.is_some() {
                    return Err(gone(Some(&pod)));
                }
                version = pod.metadata.resource_version;
            }
        })
    }
}
