//! Sessions that do not come to be: each failure has its type, comes in bounded time, and leaves no Pod.

use base64::Engine as _;
use belljar::backends::PullPolicy;

use super::*;

/// What the cluster takes to say no, on a machine that does other things as well.
const SOON: Duration = Duration::from_secs(30);

#[track_caller]
fn leaves_nothing(place: &KubernetesPlace) {
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn an_image_that_no_node_has() {
    let Some(place) = place() else { return };
    let options = KubernetesOptions {
        image: "belljar-test:no-such-image".to_owned(),
        ..place.options()
    };
    let ((error, why), took) = timed(|| fails(options));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(matches!(why.failure, KubernetesFailure::Image), "{why:?}");
    assert!(!why.words.is_empty());
    assert!(took < SOON, "{took:?}");
    leaves_nothing(&place);
}

#[test]
fn an_image_that_no_registry_gives() {
    let Some(place) = place() else { return };
    // A node has no way to this registry, nor to any.
    let options = KubernetesOptions {
        image: "127.0.0.1:9/belljar/no-such-image:1".to_owned(),
        pull: PullPolicy::Missing,
        ..place.options()
    };
    let ((error, why), took) = timed(|| fails(options));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(matches!(why.failure, KubernetesFailure::Image), "{why:?}");
    assert!(took < PATIENCE, "{took:?}");
    leaves_nothing(&place);
}

#[test]
fn a_quota_that_is_used_up() {
    let Some(place) = place() else { return };
    place.apply(
        "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: one}\nspec: {hard: {pods: '1'}}\n",
    );
    until("the quota is in force", || {
        let used = [
            "get",
            "quota",
            "one",
            "--output=jsonpath={.status.used.pods}",
        ];
        place.ask(&used) == "0"
    });
    let first = started(place.options());
    let ((error, why), took) = timed(|| fails(place.options()));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(matches!(why.failure, KubernetesFailure::Quota), "{why:?}");
    assert!(took < SOON, "{took:?}");
    // Who was there first is there still.
    assert_eq!(printed(&first, "echo here"), "here");
    close(&first);
    leaves_nothing(&place);
}

#[test]
fn what_the_role_does_not_allow() {
    let Some(place) = place() else { return };
    let rules = [
        // Nothing; all but to look; all but to come in.
        ("", "pods"),
        (
            "{apiGroups: [''], resources: [pods], verbs: [create, delete]}",
            "pods",
        ),
        (
            "{apiGroups: [''], resources: [pods], verbs: [create, delete, get, list, watch, patch]}",
            "pods/exec",
        ),
    ];
    for (allowed, refused) in rules {
        place.grant(&format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {{name: belljar}}\nrules: [{allowed}]\n"
        ));
        let ((error, why), took) = timed(|| fails(place.options()));
        assert_eq!(error.kind, ErrorKind::BackendUnavailable);
        match &why.failure {
            KubernetesFailure::Forbidden { resource, .. } => assert_eq!(*resource, refused),
            other => panic!("{allowed}: {other:?}"),
        }
        assert!(took < SOON, "{took:?}");
        leaves_nothing(&place);
    }
}

/// Puts something else for one thing that the kubeconfig says.
fn falsify(place: &KubernetesPlace, key: &str, value: &str) {
    let known = std::fs::read_to_string(place.kubeconfig()).expect("it is there");
    let (before, after) = known.split_once(&format!("{key}: \"")).expect("it says it");
    let (_, after) = after.split_once('"').expect("it ends");
    let false_one = format!("{before}{key}: \"{value}\"{after}");
    std::fs::write(place.kubeconfig(), false_one).expect("it is written");
}

#[test]
fn who_is_not_known() {
    let Some(place) = place() else { return };
    falsify(&place, "token", "nobodys");
    let (error, why) = fails(place.options());
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(
        matches!(why.failure, KubernetesFailure::Unauthorized),
        "{why:?}"
    );
}

#[test]
fn an_api_server_that_is_another() {
    let Some(place) = place() else { return };
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("it is made");
    let other = base64::engine::general_purpose::STANDARD.encode(other.cert.pem());
    falsify(&place, "certificate-authority-data", &other);
    let (error, why) = fails(place.options());
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(
        matches!(why.failure, KubernetesFailure::Unreachable),
        "{why:?}"
    );
    leaves_nothing(&place);
}

#[test]
fn an_api_server_that_cannot_be_reached() {
    let Some(place) = place() else { return };
    place.link().cut();
    let ((error, why), took) = timed(|| fails(place.options()));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(
        matches!(why.failure, KubernetesFailure::Unreachable),
        "{why:?}"
    );
    assert!(took < SOON, "{took:?}");
    // It was the way, and not the session's fault: another one comes to be.
    place.link().mend();
    let sandbox = started(place.options());
    close(&sandbox);
    leaves_nothing(&place);
}

#[test]
fn an_api_server_that_says_nothing() {
    let Some(place) = place() else { return };
    place.link().freeze();
    let ((error, why), took) = timed(|| fails(place.options()));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    let silent = matches!(
        why.failure,
        KubernetesFailure::Silent | KubernetesFailure::Unreachable
    );
    assert!(silent, "{why:?}");
    // The question, the attempt to remove what may have come of it, and what closing asks.
    assert!(took < Duration::from_secs(45), "{took:?}");
    place.link().mend();
    leaves_nothing(&place);
}

#[test]
fn more_than_any_node_has() {
    let Some(place) = place() else { return };
    let options = KubernetesOptions {
        memory: Some(1 << 50),
        schedule_patience: Duration::from_secs(1),
        ..place.options()
    };
    let ((error, why), took) = timed(|| fails(options));
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(
        matches!(why.failure, KubernetesFailure::Unschedulable),
        "{why:?}"
    );
    assert!(took < SOON, "{took:?}");
    leaves_nothing(&place);
}

#[test]
fn a_start_that_takes_too_long() {
    let Some(place) = place() else { return };
    let options = KubernetesOptions {
        memory: Some(1 << 50),
        start_timeout: Duration::from_secs(2),
        schedule_patience: PATIENCE,
        ..place.options()
    };
    let (error, why) = fails(options);
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(
        matches!(why.failure, KubernetesFailure::TooLong { .. }),
        "{why:?}"
    );
    leaves_nothing(&place);
}
