//! What became of a Pod whose session is dead.

use k8s_openapi::api::core::v1::{ContainerStateTerminated, Pod};

use super::{KubernetesError, classify::words, manifest::CONTAINER};

/// What a cluster says of a Pod whose session is dead: the source of that session's errors.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PodFate {
    /// It has not started.
    #[error("the Pod has not started")]
    Pending,
    /// It runs, as far as the cluster knows.
    #[error("the Pod runs, as far as the cluster knows: its stream was cut")]
    Runs,
    /// Its resident has ended by itself.
    #[error("the Pod has ended")]
    Completed,
    /// It was over its memory.
    #[error("the Pod was over its memory, and was killed")]
    OutOfMemory,
    /// The node had too little of something, or the Pod was over its storage.
    #[error("the Pod was evicted from its node: {reason}")]
    Evicted {
        /// The cluster's words.
        reason: String,
    },
    /// It was there for longer than it may be.
    #[error("the Pod has reached its lifetime; raise lifetime in [sandbox.kubernetes]")]
    DeadlineExceeded,
    /// It has failed otherwise.
    #[error("the Pod has failed: {reason}")]
    Failed {
        /// The cluster's words.
        reason: String,
    },
    /// Somebody deletes it, or did.
    #[error("the Pod was deleted")]
    Deleted,
    /// Its node does not answer the cluster.
    #[error("the Pod's node {node} is lost")]
    NodeLost {
        /// The node.
        node: String,
    },
    /// The cluster does not say.
    #[error("what became of the Pod is not known: {0}")]
    Unknown(#[source] Box<KubernetesError>),
}

/// Reads it from what the cluster says; none where it has no such Pod.
pub(super) fn fate(pod: Option<&Pod>) -> PodFate {
    let Some(pod) = pod else {
        return PodFate::Deleted;
    };
    let status = pod.status.clone().unwrap_or_default();
    let reason = status.reason.as_deref().unwrap_or_default();
    let message = words(status.message.as_deref().unwrap_or(reason));
    let session = status.container_statuses.iter().flatten();
    let session = session.filter(|container| container.name == CONTAINER);
    let ended = session
        .filter_map(|one| one.state.clone()?.terminated)
        .next();
    match reason {
        "Evicted" => return PodFate::Evicted { reason: message },
        "DeadlineExceeded" => return PodFate::DeadlineExceeded,
        _ => {}
    }
    if let Some(ended) = &ended
        && ended.reason.as_deref() == Some("OOMKilled")
    {
        return PodFate::OutOfMemory;
    }
    if let Some(node) = lost(pod, reason, ended.is_some()) {
        return PodFate::NodeLost { node };
    }
    if pod.metadata.deletion_timestamp.is_some() {
        return PodFate::Deleted;
    }
    match (status.phase.as_deref(), ended) {
        (Some("Succeeded"), _) => PodFate::Completed,
        (_, Some(ended)) if ended.exit_code == 0 => PodFate::Completed,
        (Some("Failed"), ended) => PodFate::Failed {
            reason: match ended {
                Some(ended) => of_container(&ended),
                None => message,
            },
        },
        (_, Some(ended)) => PodFate::Failed {
            reason: of_container(&ended),
        },
        (Some("Running"), None) => PodFate::Runs,
        (_, None) => PodFate::Pending,
    }
}

/// The node, when the cluster does not hear from it: then it says of a Pod whose containers all run that it is not
/// ready, though nothing but their running makes it that.
fn lost(pod: &Pod, reason: &str, ended: bool) -> Option<String> {
    let status = pod.status.as_ref()?;
    let condition = |name: &str| {
        let mut conditions = status.conditions.iter().flatten();
        conditions.find(|condition| condition.type_ == name)
    };
    let is = |name: &str, status: &str| condition(name).is_some_and(|one| one.status == status);
    let unheard = is("Ready", "False") && is("ContainersReady", "True");
    let disrupted = condition("DisruptionTarget")
        .is_some_and(|one| one.reason.as_deref() == Some("DeletionByTaintManager"));
    let lost = !ended && (reason == "NodeLost" || unheard || disrupted);
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    lost.then(|| words(&node.unwrap_or_default()))
}

fn of_container(ended: &ContainerStateTerminated) -> String {
    let reason = ended.reason.as_deref().unwrap_or("Error");
    let message = ended.message.as_deref().unwrap_or_default();
    let text = format!("{reason}, with code {} {message}", ended.exit_code);
    words(&text)
}

#[cfg(test)]
#[path = "fate_tests.rs"]
mod tests;
