//! Sessions that are lost: every call in flight ends in bounded time, with what became of the Pod.

use belljar_tests::SHAKY_NODE;

use super::*;

/// What a session's patience is in these tests.
const SILENCE: Duration = Duration::from_secs(6);

fn impatient(place: &KubernetesPlace) -> KubernetesOptions {
    KubernetesOptions {
        patience: SILENCE,
        keep_alive: Duration::from_secs(3),
        ..place.options()
    }
}

/// Every call ends within this, and says the same.
#[track_caller]
fn end(calls: Vec<std::thread::JoinHandle<Error>>, within: Duration) -> Vec<PodFate> {
    let ended = || calls.into_iter().map(|call| call.join().expect("no panic"));
    let (errors, took) = timed(|| ended().collect::<Vec<_>>());
    assert!(took < within, "{took:?}: {errors:?}");
    errors.iter().map(fate).collect()
}

#[test]
fn a_node_that_is_cut_off() {
    let Some(place) = KubernetesPlace::on(SHAKY_NODE) else {
        return;
    };
    let sandbox = started(impatient(&place));
    let calls = in_flight(&sandbox, 4);
    place.cluster().cut(SHAKY_NODE);
    // Nobody is told: it is the silence that says it, and then the cluster is asked.
    let fates = end(calls, SILENCE + Duration::from_secs(30));
    is_dead(&sandbox);
    let told = |fate: &PodFate| {
        matches!(
            fate,
            PodFate::Runs | PodFate::NodeLost { .. } | PodFate::Deleted
        )
    };
    assert!(fates.iter().all(told), "{fates:?}");
    // The cluster gives the node up, and knows what became of a session that ends there then.
    until("the cluster misses the node", || {
        let each = r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
        let node = ["get", "node", SHAKY_NODE, "--output", each];
        place.cluster().ask(node) == "Unknown"
    });
    // Closing asks the cluster to remove a Pod whose node does not answer, and does not wait for that.
    let (_, took) = timed(|| wait(sandbox.close()));
    assert!(took < Duration::from_secs(40), "{took:?}");
    place.cluster().mend(SHAKY_NODE);
    until("nothing is left", || place.pods().is_empty());
    // The node is as good as before.
    let again = started(place.options());
    assert_eq!(printed(&again, "echo back"), "back");
    close(&again);
}

#[test]
fn a_pod_that_somebody_deletes() {
    let Some(place) = place() else { return };
    let sandbox = started(place.options());
    let calls = in_flight(&sandbox, 3);
    let [pod] = place.pods().try_into().expect("one Pod");
    let pod: String = pod;
    let _ = place.ask(&["delete", "pod", &pod, "--wait=false"]);
    let fates = end(calls, Duration::from_secs(30));
    let deleted = |fate: &PodFate| matches!(fate, PodFate::Deleted | PodFate::Completed);
    assert!(fates.iter().all(deleted), "{fates:?}");
    is_dead(&sandbox);
    close(&sandbox);
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn a_pod_that_is_over_its_storage() {
    let Some(place) = place() else { return };
    let options = KubernetesOptions {
        workspace_bytes: 8 << 20,
        ..place.options()
    };
    let sandbox = started(options);
    let calls = in_flight(&sandbox, 2);
    // The node measures now and then.
    let much = printed(&sandbox, "head -c 67108864 /dev/zero > much; wc -c < much");
    assert_eq!(much, "67108864");
    let fates = end(calls, PATIENCE);
    let evicted = |fate: &PodFate| matches!(fate, PodFate::Evicted { .. });
    assert!(fates.iter().all(evicted), "{fates:?}");
    is_dead(&sandbox);
    close(&sandbox);
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn more_memory_than_the_pod_has() {
    let Some(place) = place() else { return };
    let options = KubernetesOptions {
        memory: Some(64 << 20),
        ..place.options()
    };
    let sandbox = started(options);
    // Whoever takes too much is killed, and that is told as what became of a program or of the session.
    let much = "head -c 300000000 /dev/zero | tail -c 299999999 | wc -c";
    match run(&sandbox, much) {
        Ok(execution) => {
            let counted = execution.stdout.to_text().trim().to_owned();
            assert_ne!(counted, "299999999", "it had no such memory");
            assert_eq!(printed(&sandbox, "echo here"), "here");
        }
        Err(error) => {
            let fate = fate(&error);
            assert!(matches!(fate, PodFate::OutOfMemory), "{fate:?}");
            is_dead(&sandbox);
        }
    }
    close(&sandbox);
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn an_api_server_that_goes_while_it_is_used() {
    let Some(place) = place() else { return };
    let sandbox = started(impatient(&place));
    let calls = in_flight(&sandbox, 4);
    place.link().cut();
    // Its end is seen at once; what became of the Pod cannot be asked.
    let fates = end(calls, Duration::from_secs(20));
    let unknown = |fate: &PodFate| matches!(fate, PodFate::Unknown(_));
    assert!(fates.iter().all(unknown), "{fates:?}");
    is_dead(&sandbox);
    let (closed, took) = timed(|| wait(sandbox.close()));
    let closed = closed.expect_err("it may be left behind");
    assert_eq!(closed.kind, ErrorKind::BackendUnavailable, "{closed:?}");
    assert!(took < Duration::from_secs(40), "{took:?}");
    // The Pod hears nothing of its owner, and ends by itself.
    place.link().mend();
    until("nothing runs", || place.pods().is_empty());
}

#[test]
fn an_api_server_that_falls_silent_while_it_is_used() {
    let Some(place) = place() else { return };
    let sandbox = started(impatient(&place));
    let calls = in_flight(&sandbox, 4);
    place.link().freeze();
    let fates = end(calls, SILENCE + Duration::from_secs(20));
    let unknown = |fate: &PodFate| matches!(fate, PodFate::Unknown(_));
    assert!(fates.iter().all(unknown), "{fates:?}");
    is_dead(&sandbox);
    place.link().mend();
    let _ = wait(sandbox.close());
    until("nothing runs", || place.pods().is_empty());
}
