//! What Kubernetes 1.20 and later say of Pods in each state, cut down to what counts.

use serde_json::{Value, json};

use super::*;

fn of(pod: Value) -> PodFate {
    let pod = serde_json::from_value(pod).expect("a Pod");
    fate(Some(&pod))
}

fn ended(reason: &str, code: i32) -> Value {
    json!([{
        "name": "session", "image": "i", "imageID": "", "ready": false, "restartCount": 0,
        "state": { "terminated": { "reason": reason, "exitCode": code } },
    }])
}

fn running() -> Value {
    json!([{
        "name": "session", "image": "i", "imageID": "", "ready": true, "restartCount": 0,
        "state": { "running": {} },
    }])
}

#[test]
fn one_that_is_not_there_was_deleted() {
    assert!(matches!(fate(None), PodFate::Deleted));
    let going = json!({
        "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" },
        "status": { "phase": "Running", "containerStatuses": running() },
    });
    assert!(matches!(of(going), PodFate::Deleted));
}

#[test]
fn the_cluster_says_why_it_ended_it() {
    let evicted = of(json!({ "status": {
        "phase": "Failed", "reason": "Evicted",
        "message": "Usage of EmptyDir volume \"workspace\" exceeds the limit \"1Mi\". ",
    }}));
    let PodFate::Evicted { reason } = evicted else {
        panic!("{evicted:?}");
    };
    assert!(reason.starts_with("Usage of EmptyDir"));
    let late = of(json!({ "status": {
        "phase": "Failed", "reason": "DeadlineExceeded",
        "message": "Pod was active on the node longer than the specified deadline",
    }}));
    assert!(matches!(late, PodFate::DeadlineExceeded));
}

#[test]
fn a_container_that_ended_says_how() {
    let status = |phase: &str, containers| {
        of(json!({ "status": { "phase": phase, "containerStatuses": containers } }))
    };
    assert!(matches!(
        status("Succeeded", ended("Completed", 0)),
        PodFate::Completed
    ));
    assert!(matches!(
        status("Failed", ended("OOMKilled", 137)),
        PodFate::OutOfMemory
    ));
    // The container is known to have ended before the Pod is.
    assert!(matches!(
        status("Running", ended("Completed", 0)),
        PodFate::Completed
    ));
    let PodFate::Failed { reason } = status("Failed", ended("Error", 1)) else {
        panic!("it failed");
    };
    assert_eq!(reason, "Error, with code 1");
}

#[test]
fn a_node_that_is_not_heard_from_is_lost() {
    let status = |ready: &str, containers_ready: &str| {
        of(json!({
            "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" },
            "spec": { "nodeName": "k1", "containers": [] },
            "status": {
                "phase": "Running",
                "containerStatuses": running(),
                "conditions": [
                    { "type": "Ready", "status": ready },
                    { "type": "ContainersReady", "status": containers_ready },
                ],
            },
        }))
    };
    let PodFate::NodeLost { node } = status("False", "True") else {
        panic!("its node is lost");
    };
    assert_eq!(node, "k1");
    assert!(matches!(status("True", "True"), PodFate::Deleted));
    assert!(matches!(status("False", "False"), PodFate::Deleted));
}

#[test]
fn what_runs_or_waits_has_no_end() {
    let runs = of(json!({ "status": { "phase": "Running", "containerStatuses": running() } }));
    assert!(matches!(runs, PodFate::Runs));
    for status in [json!({}), json!({ "phase": "Pending" })] {
        assert!(matches!(of(json!({ "status": status })), PodFate::Pending));
    }
}
