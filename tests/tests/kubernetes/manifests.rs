//! The API server and a node take the manifest of each option.

use std::collections::BTreeMap;

use belljar::backends::{PodResident, PodToleration};

use super::*;

/// What the image of the resident is called, which a node gets first.
fn resident_image(place: &KubernetesPlace) -> String {
    let name = format!("belljar-test:resident-{}", std::process::id());
    place.cluster().image_of_resident(&name);
    name
}

#[track_caller]
fn works(place: &KubernetesPlace, what: &str, options: KubernetesOptions) -> Sandbox {
    let sandbox = open(options);
    match wait(sandbox.list(".", None)) {
        Ok(_) => sandbox,
        Err(error) => {
            let pods = place.ask(&["get", "pods", "--output=yaml"]);
            panic!("{what}: {error:?}\n{pods}")
        }
    }
}

#[test]
fn a_resident_comes_by_each_way() {
    let Some(place) = place() else { return };
    let image = resident_image(&place);
    let path = "/belljar-resident".to_owned();
    // An image of nothing but the resident has no shell, and does without.
    let alone = KubernetesOptions {
        image: image.clone(),
        resident: PodResident::Image { path: path.clone() },
        residents: Vec::new(),
        ..place.options()
    };
    let sandbox = works(&place, "by image", alone);
    close(&sandbox);
    let init = KubernetesOptions {
        resident: PodResident::Init { image, path },
        residents: Vec::new(),
        ..place.options()
    };
    let sandbox = works(&place, "by init", init);
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
    place
        .cluster()
        .forget_image(&format!("belljar-test:resident-{}", std::process::id()));
}

#[test]
fn each_option_is_one_that_the_cluster_takes() {
    let Some(place) = place() else { return };
    let labels = |pairs: &[(&str, &str)]| {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect::<BTreeMap<_, _>>()
    };
    let options = KubernetesOptions {
        node_selector: labels(&[("kubernetes.io/os", "linux")]),
        tolerations: vec![PodToleration {
            key: "spot".to_owned(),
            value: Some("yes".to_owned()),
            effect: Some("NoSchedule".to_owned()),
        }],
        pull_secrets: vec!["there-is-none".to_owned()],
        cwd: "/srv/work".to_owned(),
        user: 1234,
        group: 4321,
        readonly_rootfs: false,
        dns: true,
        environment: labels(&[("GREETING", "hello")]),
        lifetime: Duration::from_secs(600),
        ..place.options()
    };
    let sandbox = works(&place, "all at once", options);
    let inside = printed(&sandbox, "id -u; id -g; pwd; echo $GREETING");
    assert_eq!(inside, "1234\n4321\n/srv/work\nhello");
    assert!(printed(&sandbox, "cat /etc/resolv.conf").contains("10.96.0.10"));
    close(&sandbox);
    let root = KubernetesOptions {
        user: 0,
        group: 0,
        ..place.options()
    };
    let sandbox = works(&place, "as root", root);
    assert_eq!(printed(&sandbox, "id -u"), "0");
    close(&sandbox);
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn a_pod_is_narrow() {
    let Some(place) = place() else { return };
    let sandbox = started(place.options());
    let status = printed(&sandbox, "cat /proc/self/status");
    for line in [
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "NoNewPrivs:\t1",
        "Seccomp:\t2",
        "Uid:\t65532\t65532\t65532\t65532",
    ] {
        assert!(
            status.lines().any(|found| found == line),
            "{line}\n{status}"
        );
    }
    // The namespace's account has a token, and it is not here.
    let token = run(&sandbox, "ls /var/run/secrets").expect("it runs");
    assert!(!token.outcome.success(), "{token:?}");
    let variables = printed(&sandbox, "env");
    assert!(!variables.contains("KUBERNETES"), "{variables}");
    let outside = run(&sandbox, "touch /here").expect("it runs");
    assert!(!outside.outcome.success());
    close(&sandbox);
}
