//! What Kubernetes 1.20 and later say of Pods that start, cut down to what counts.

use serde_json::{Value, json};

use super::*;

fn of(status: Value) -> Progress {
    let pod = json!({ "status": status });
    progress(&serde_json::from_value(pod).expect("a Pod"))
}

fn container(name: &str, state: Value) -> Value {
    json!([{
        "name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": state,
    }])
}

fn waiting(reason: &str) -> Value {
    let waiting = json!({ "waiting": { "reason": reason, "message": "why" } });
    json!({ "phase": "Pending", "containerStatuses": container("session", waiting) })
}

#[test]
fn it_is_on_its_way_until_it_runs() {
    for status in [
        json!({}),
        waiting("ContainerCreating"),
        waiting("ErrImagePull"),
    ] {
        assert!(matches!(of(status), Progress::Waiting));
    }
    let running = json!({
        "phase": "Running", "containerStatuses": container("session", json!({ "running": {} })),
    });
    assert!(matches!(of(running), Progress::Running));
    // One that was put beside it is not it.
    let other = json!({
        "phase": "Pending", "containerStatuses": container("proxy", json!({ "running": {} })),
    });
    assert!(matches!(of(other), Progress::Waiting));
}

#[test]
fn what_will_not_be_is_said_at_once() {
    for reason in NO_IMAGE {
        let Progress::Failed((KubernetesFailure::Image, words)) = of(waiting(reason)) else {
            panic!("{reason}");
        };
        assert_eq!(words, format!("{reason}: why"));
    }
    for reason in NO_CONTAINER {
        let progress = of(waiting(reason));
        let failed = matches!(
            progress,
            Progress::Failed((KubernetesFailure::Container, _))
        );
        assert!(failed, "{reason}");
    }
}

#[test]
fn no_node_takes_it() {
    let status = json!({
        "phase": "Pending",
        "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/2 nodes are available: 2 Insufficient cpu.",
        }],
    });
    let Progress::Unschedulable(words) = of(status) else {
        panic!("no node takes it");
    };
    assert_eq!(words, "0/2 nodes are available: 2 Insufficient cpu.");
}

#[test]
fn one_that_ended_before_it_began_says_why() {
    let ended = |reason: &str, code: i32| json!({ "terminated": { "reason": reason, "exitCode": code, "message": "why" } });
    let cannot = json!({
        "phase": "Failed", "containerStatuses": container("session", ended("ContainerCannotRun", 127)),
    });
    let failed = of(cannot);
    assert!(matches!(
        failed,
        Progress::Failed((KubernetesFailure::ProgramMissing, _))
    ));
    let init = json!({
        "phase": "Failed",
        "initContainerStatuses": container("resident", ended("Error", 1)),
        "containerStatuses": container("session", json!({ "waiting": { "reason": "PodInitializing" } })),
    });
    let failed = of(init);
    assert!(matches!(
        failed,
        Progress::Failed((KubernetesFailure::Container, _))
    ));
    let evicted = json!({ "phase": "Failed", "reason": "Evicted" });
    let Progress::Failed((KubernetesFailure::Ended(fate), _)) = of(evicted) else {
        panic!("it has ended");
    };
    assert!(matches!(*fate, PodFate::Evicted { .. }));
}
