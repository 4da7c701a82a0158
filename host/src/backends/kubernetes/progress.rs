//! How far a Pod has come that starts: a pure function of what the cluster says of it.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use super::{
    classify::words,
    failure::{KubernetesFailure, Why},
    fate::{self, PodFate},
    manifest::CONTAINER,
};

/// How far a Pod has come.
#[derive(Debug)]
pub(super) enum Progress {
    /// It is on its way.
    Waiting,
    /// No node takes it, as the scheduler says; it may change its mind.
    Unschedulable(String),
    /// Its container runs.
    Running,
    /// It will not come to be.
    Failed(Why),
}

/// The reasons of a container that waits for what will not be. A pull is tried again by itself, so the first that
/// fails (`ErrImagePull`) is waited out, and with the second the cluster says `ImagePullBackOff`.
const NO_IMAGE: [&str; 4] = [
    "ImagePullBackOff",
    "ErrImageNeverPull",
    "InvalidImageName",
    "ErrImageInspect",
];
const NO_CONTAINER: [&str; 5] = [
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "PreCreateHookError",
    "PreStartHookError",
];

pub(super) fn progress(pod: &Pod) -> Progress {
    let status = pod.status.clone().unwrap_or_default();
    let ended = fate::fate(Some(pod));
    if !matches!(ended, PodFate::Runs | PodFate::Pending) {
        if let Some(why) = status
            .init_container_statuses
            .iter()
            .flatten()
            .find_map(init_ended)
        {
            return Progress::Failed(why);
        }
        if let Some(why) = status.container_statuses.iter().flatten().find_map(not_run) {
            return Progress::Failed(why);
        }
        return Progress::Failed(KubernetesFailure::Ended(Box::new(ended)).silent());
    }
    let containers = status.init_container_statuses.iter().flatten();
    let containers = containers.chain(status.container_statuses.iter().flatten());
    for container in containers {
        let waiting = container
            .state
            .as_ref()
            .and_then(|state| state.waiting.as_ref());
        let Some(waiting) = waiting else {
            continue;
        };
        let reason = waiting.reason.as_deref().unwrap_or_default();
        let failure = if NO_IMAGE.contains(&reason) {
            KubernetesFailure::Image
        } else if NO_CONTAINER.contains(&reason) {
            KubernetesFailure::Container
        } else {
            continue;
        };
        return Progress::Failed((failure, said(reason, waiting.message.as_deref())));
    }
    let runs = |container: &ContainerStatus| {
        let state = container.state.as_ref();
        container.name == CONTAINER && state.is_some_and(|state| state.running.is_some())
    };
    if status.container_statuses.iter().flatten().any(runs) {
        return Progress::Running;
    }
    let mut conditions = status.conditions.iter().flatten();
    let refused = conditions.find(|condition| {
        condition.type_ == "PodScheduled"
            && condition.status == "False"
            && condition.reason.as_deref() == Some("Unschedulable")
    });
    match refused {
        Some(refused) => Progress::Unschedulable(words(refused.message.as_deref().unwrap_or(""))),
        None => Progress::Waiting,
    }
}

/// A container that ended without having run: its program is not there, or cannot be executed.
fn not_run(container: &ContainerStatus) -> Option<Why> {
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    let reason = ended.reason.as_deref().unwrap_or_default();
    let never_ran = matches!(reason, "ContainerCannotRun" | "StartError");
    never_ran.then(|| {
        let said = said(reason, ended.message.as_deref());
        (KubernetesFailure::ProgramMissing, said)
    })
}

fn init_ended(container: &ContainerStatus) -> Option<Why> {
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    (ended.exit_code != 0).then(|| {
        let reason = ended.reason.as_deref().unwrap_or_default();
        let said = said(reason, ended.message.as_deref());
        (KubernetesFailure::Container, said)
    })
}

fn said(reason: &str, message: Option<&str>) -> String {
    match message {
        Some(message) => words(&format!("{reason}: {message}")),
        None => words(reason),
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
