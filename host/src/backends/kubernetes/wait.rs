//! Waits until a Pod runs, or until it is known that it will not.

use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{WatchEvent, WatchParams},
};
use tokio::time::{Instant, sleep, timeout_at};

use super::{
    classify::Asked,
    cluster::ask,
    failure::{KubernetesFailure, Why},
    fate,
    progress::{Progress, progress},
};

/// How long a watch lasts until it is begun anew.
const WATCH_SECONDS: u32 = 60;

/// How long is waited after a watch that broke.
const AGAIN: Duration = Duration::from_millis(200);

/// Waits until the Pod runs, and gives its version then. It is as long as it may be: whoever calls has a limit.
///
/// # Errors
/// Why it will not: what no node takes is given `patience` to be taken.
pub(super) async fn until_it_runs(
    pods: &Api<Pod>,
    name: &str,
    created: Pod,
    patience: Duration,
) -> Result<String, Why> {
    let mut pod = created;
    let mut waits = Waits {
        patience,
        refused: None,
    };
    loop {
        let version = pod.metadata.resource_version.clone().unwrap_or_default();
        if waits.look(&pod)? {
            return Ok(version);
        }
        if let Some(version) = watch(pods, name, &version, &mut waits).await? {
            return Ok(version);
        }
        sleep(AGAIN).await;
        pod = match ask(Asked::pods("get"), pods.get_opt(name)).await? {
            Some(pod) => pod,
            None => {
                let gone = fate::fate(None);
                return Err(KubernetesFailure::Ended(Box::new(gone)).silent());
            }
        };
    }
}

/// Watches from a version on, and gives the one with which it runs; none when the watch is over, and begins anew.
async fn watch(
    pods: &Api<Pod>,
    name: &str,
    version: &str,
    waits: &mut Waits,
) -> Result<Option<String>, Why> {
    let parameters = WatchParams::default()
        .fields(&format!("metadata.name={name}"))
        .timeout(WATCH_SECONDS);
    let events = ask(Asked::pods("watch"), pods.watch(&parameters, version)).await?;
    pin_mut!(events);
    loop {
        let event = match waits.until() {
            Some(until) => match timeout_at(until, events.next()).await {
                Ok(event) => event,
                Err(_) => return Err(waits.unschedulable()),
            },
            None => events.next().await,
        };
        match event {
            Some(Ok(WatchEvent::Added(pod) | WatchEvent::Modified(pod))) => {
                if waits.look(&pod)? {
                    return Ok(Some(pod.metadata.resource_version.unwrap_or_default()));
                }
            }
            Some(Ok(WatchEvent::Deleted(_))) => {
                let gone = fate::fate(None);
                return Err(KubernetesFailure::Ended(Box::new(gone)).silent());
            }
            Some(Ok(WatchEvent::Bookmark(_))) => {}
            // The version is too old, or the connection broke: both are mended by asking anew, which says what cannot
            // be mended.
            Some(Ok(WatchEvent::Error(_)) | Err(_)) | None => return Ok(None),
        }
    }
}

/// How long it is waited for a node.
struct Waits {
    patience: Duration,
    /// Since when no node takes it, and in which words.
    refused: Option<(Instant, String)>,
}

impl Waits {
    /// Whether it runs.
    fn look(&mut self, pod: &Pod) -> Result<bool, Why> {
        match progress(pod) {
            Progress::Running => return Ok(true),
            Progress::Failed(why) => return Err(why),
            Progress::Waiting => self.refused = None,
            Progress::Unschedulable(words) => {
                let since = self
                    .refused
                    .take()
                    .map_or_else(Instant::now, |(since, _)| since);
                self.refused = Some((since, words));
                if self.until().is_some_and(|until| Instant::now() >= until) {
                    return Err(self.unschedulable());
                }
            }
        }
        Ok(false)
    }

    fn until(&self) -> Option<Instant> {
        let (since, _) = self.refused.as_ref()?;
        since.checked_add(self.patience)
    }

    fn unschedulable(&self) -> Why {
        let words = self.refused.as_ref().map(|(_, words)| words.clone());
        (KubernetesFailure::Unschedulable, words.unwrap_or_default())
    }
}
