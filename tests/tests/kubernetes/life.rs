//! A session in a Pod that nothing happens to.

use belljar::WriteOptions;

use super::*;

#[test]
fn a_session_is_a_pod_that_goes_with_it() {
    let Some(place) = place() else { return };
    let sandbox = open(place.options());
    // Nothing is asked of the cluster until something is asked of the session.
    assert!(place.pods().is_empty());
    let description = sandbox.describe();
    assert_eq!(description.backend, "kubernetes");
    assert!(description.writable && !description.durable);
    let bytes: Vec<u8> = (0..3 << 20_u32)
        .map(|at: u32| at.to_le_bytes()[at as usize % 4])
        .collect();
    wait(sandbox.write("a", bytes.clone(), WriteOptions::default())).expect("it writes");
    assert_eq!(wait(sandbox.read("a")).expect("it reads").bytes, bytes);
    assert_eq!(printed(&sandbox, "wc -c < a; echo err >&2"), "3145728");
    assert_eq!(place.pods().len(), 1);
    close(&sandbox);
    until("the Pod is gone", || place.pods().is_empty());
}
