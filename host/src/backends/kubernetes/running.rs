//! A Pod with a session, and how it ends.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use belljar_contract::Context;
use kube::api::DeleteParams;

use super::{
    KubernetesError,
    classify::Asked,
    cluster::{Cluster, ask},
    failure::{KubernetesFailure, Why},
    fate::{self, PodFate},
    start::Starter,
    stream::Carrier,
};
use crate::backends::{keeper::Keeper, resident::Resident};

/// How long a cluster may take to remove a Pod at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a cluster may take to say what became of a Pod. The call that is told has failed already.
const ASK_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a Pod whose stream has ended may be said to run: the cluster learns of its end a second or two later.
const SETTLE: Duration = Duration::from_millis(2500);

/// How often it is looked meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// A Pod that runs, with its resident.
pub(super) struct Running {
    cluster: Arc<Cluster>,
    pub(super) pod: String,
    /// The Pod's version when it began to run, after which hardly anything is changed in it.
    pub(super) version: String,
    pub(super) resident: Resident,
    pub(super) carrier: Carrier,
    _keeper: Keeper,
    removed: AtomicBool,
}

impl Running {
    pub(super) fn new(
        cluster: Arc<Cluster>,
        pod: String,
        version: String,
        resident: Resident,
        carrier: Carrier,
        keeper: Keeper,
    ) -> Self {
        Self {
            cluster,
            pod,
            version,
            resident,
            carrier,
            _keeper: keeper,
            removed: AtomicBool::new(false),
        }
    }

    /// Ends the resident and with it the Pod, which is then removed; on this thread, which may block.
    ///
    /// # Errors
    /// [`KubernetesError`] when the Pod may be left behind.
    pub(super) fn end(&self) -> Result<(), KubernetesError> {
        self.resident.close_here();
        let context = Context::new().with_timeout(REMOVE_TIMEOUT);
        remove(&self.cluster, &context, &self.pod)
            .map_err(|why| self.cluster.failed(&self.pod, why))?;
        self.removed.store(true, Ordering::Release);
        Ok(())
    }
}

impl Drop for Running {
    /// A session that nobody closed ends with its stream. What is left of its Pod is removed, and not waited for.
    fn drop(&mut self) {
        if !self.removed.load(Ordering::Acquire) {
            let (cluster, pod) = (Arc::clone(&self.cluster), self.pod.clone());
            self.cluster.spawn(async move {
                let _ = delete(&cluster, &pod).await;
            });
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("pod", &self.pod)
            .finish_non_exhaustive()
    }
}

/// Removes a Pod at once; one that is gone already is removed.
pub(super) fn remove(cluster: &Arc<Cluster>, context: &Context, pod: &str) -> Result<(), Why> {
    let (of, pod) = (Arc::clone(cluster), pod.to_owned());
    cluster.run(context, async move { delete(&of, &pod).await })
}

pub(super) async fn delete(cluster: &Cluster, pod: &str) -> Result<(), Why> {
    let parameters = DeleteParams::default().grace_period(0);
    let asked = Asked::pods("delete");
    match ask(asked, cluster.pods().delete(pod, &parameters)).await {
        Ok(_) | Err((KubernetesFailure::NotFound, _)) => Ok(()),
        Err(why) => Err(why),
    }
}

impl Starter {
    pub(super) fn remove(&self, context: &Context, pod: &str) -> Result<(), Why> {
        remove(&self.cluster, context, pod)
    }

    /// What the cluster says of a Pod whose session is dead.
    pub(super) fn fate(&self, pod: &str) -> PodFate {
        let context = Context::new().with_timeout(ASK_TIMEOUT);
        let (pods, name) = (self.cluster.pods(), pod.to_owned());
        let asked = self.cluster.run(&context, async move {
            let settled = tokio::time::Instant::now() + SETTLE;
            loop {
                let told = ask(Asked::pods("get"), pods.get_opt(&name)).await?;
                let fate = fate::fate(told.as_ref());
                let runs = matches!(fate, PodFate::Runs | PodFate::Pending);
                if !runs || tokio::time::Instant::now() >= settled {
                    return Ok(fate);
                }
                tokio::time::sleep(LOOK).await;
            }
        });
        asked.unwrap_or_else(|(failure, words)| {
            let failure = match failure {
                KubernetesFailure::Stopped(_) => KubernetesFailure::Silent,
                failure => failure,
            };
            let error = self.cluster.failed(pod, (failure, words));
            PodFate::Unknown(Box::new(error))
        })
    }
}
