//! What is seen of a Pod from inside, and what is required of it.

use std::collections::BTreeSet;

use belljar::backends::{Guarantee, OpenError, Standing};

use super::*;

fn requiring(place: &KubernetesPlace, guarantees: &[Guarantee]) -> KubernetesOptions {
    KubernetesOptions {
        require: guarantees.iter().copied().collect(),
        ..place.options()
    }
}

#[test]
fn a_pod_is_what_it_was_asked_to_be() {
    let Some(place) = place() else { return };
    let report = wait(place.options().examine_ambient(&Context::new())).expect("it opens");
    let failing: Vec<_> = report.rows.iter().filter(|row| row.fails()).collect();
    assert!(failing.is_empty(), "{failing:?}");
    let held = report
        .rows
        .iter()
        .filter(|row| row.standing == Standing::Held);
    let held: BTreeSet<_> = held.map(|row| row.guarantee.as_str()).collect();
    for name in [
        "no-new-privileges",
        "capabilities",
        "seccomp",
        "memory-limit",
        "cpu-limit",
        "readonly-rootfs",
        "workspace",
        "tmp",
    ] {
        assert!(held.contains(name), "{name}: {:?}", report.rows);
    }
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn what_is_required_is_had_or_opens_nothing() {
    let Some(place) = place() else { return };
    let had = [
        Guarantee::NoNewPrivileges,
        Guarantee::Capabilities,
        Guarantee::Seccomp,
        Guarantee::MemoryLimit,
        Guarantee::ReadonlyRootfs,
    ];
    let sandbox = started(requiring(&place, &had));
    close(&sandbox);
    // What no Pod can say is known before there is one.
    let unknown = requiring(&place, &[Guarantee::NoNetwork]).open_ambient();
    match unknown.err() {
        Some(OpenError::RequirementsUnmet { gaps }) => {
            assert_eq!(gaps[0].guarantee, Guarantee::NoNetwork);
        }
        other => panic!("{other:?}"),
    }
    // Of these nodes' limit a container sees nothing: it is its Pod's.
    let (error, why) = fails(requiring(&place, &[Guarantee::PidsLimit]));
    assert_eq!(error.kind, ErrorKind::BackendFailed);
    match why.failure {
        KubernetesFailure::Unmet { gaps } => {
            assert_eq!(gaps[0].guarantee, Guarantee::PidsLimit);
        }
        other => panic!("{other:?}"),
    }
    until("nothing is left", || place.pods().is_empty());
}
