//! A session in a Pod that nothing happens to.

use belljar::{
    WriteOptions,
    backends::{KubernetesPool, PoolOptions},
};

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

#[test]
fn a_pool_has_pods_ready_and_each_is_of_one_session() {
    let Some(place) = place() else { return };
    let two = PoolOptions {
        size: 2,
        ..PoolOptions::default()
    };
    let pool = KubernetesPool::open_ambient(place.options(), two).expect("it opens");
    until("two stand ready", || pool.ready() == 2);
    let labelled = |state: &str| {
        let selector = format!("--selector=belljar.state={state}");
        let pods = place.ask(&["get", "pods", "--output=name", &selector]);
        pods.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let ready = labelled("ready");
    assert_eq!(ready.len(), 2);
    let (first, second) = (Sandbox::new(pool.session()), Sandbox::new(pool.session()));
    printed(&first, "echo secret > here");
    printed(&second, "test ! -e here");
    // Each took one of those, and says so in the cluster.
    let mut taken = labelled("taken");
    taken.sort();
    let mut ready = ready;
    ready.sort();
    assert_eq!(taken, ready);
    close(&first);
    close(&second);
    // Others took their places, and none of them is one that was used.
    until("two stand ready again", || pool.ready() == 2);
    assert!(labelled("ready").iter().all(|pod| !taken.contains(pod)));
    wait(pool.close());
    until("nothing is left", || place.pods().is_empty());
}

#[test]
fn a_pod_of_a_pool_that_is_gone_is_not_handed_out() {
    let Some(place) = place() else { return };
    let one = PoolOptions {
        size: 1,
        ..PoolOptions::default()
    };
    let pool = KubernetesPool::open_ambient(place.options(), one).expect("it opens");
    until("one stands ready", || pool.ready() == 1);
    let _ = place.ask(&["delete", "pods", "--all", "--grace-period=0", "--force"]);
    let sandbox = Sandbox::new(pool.session());
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
    wait(pool.close());
    until("nothing is left", || place.pods().is_empty());
}
