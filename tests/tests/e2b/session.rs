//! A session that nothing happens to.

use belljar::{ScopeOptions, WriteOptions, config::Config, processes::Outcome};

use super::*;

#[test]
fn a_configuration_leads_to_a_sandbox_and_its_end() {
    let place = place();
    let sandbox = open(&place);
    let [id] = &place.server.sandboxes()[..] else {
        panic!("one sandbox");
    };
    let metadata = place.server.metadata(id).expect("it is there");
    assert_eq!(metadata.get("who").map(String::as_str), Some("tests"));
    let description = sandbox.describe();
    assert_eq!(description.backend, "component");
    assert!(description.writable && !description.durable);
    assert!(description.instructions.contains("E2B"));

    // Every byte, more than a pipe holds, both ways.
    let bytes: Vec<u8> = (0..3 << 20)
        .map(|at: u32| at.to_le_bytes()[at as usize % 4])
        .collect();
    wait(sandbox.write("a", bytes.clone(), WriteOptions::default())).expect("it writes");
    assert_eq!(fs::read(place.path("work/a")).expect("it is there"), bytes);
    assert_eq!(wait(sandbox.read("a")).expect("it reads").bytes, bytes);
    let whole = RunOptions {
        stdin: bytes.clone(),
        output_limit: Some(4 << 20),
        ..RunOptions::default()
    };
    let execution = run(&sandbox, "cat; echo >&2 err; exit 3", whole).expect("it runs");
    assert_eq!(execution.outcome, Outcome::Exited(3));
    assert!(execution.stdout.head.len() + execution.stdout.tail.len() == bytes.len());
    assert_eq!(
        [execution.stdout.head, execution.stdout.tail].concat(),
        bytes
    );
    assert_eq!(execution.stderr.to_text(), "err\n");

    assert_eq!(printed(&sandbox, "pwd"), description.root);
    let found = wait(sandbox.glob("*", ScopeOptions::default())).expect("it globs");
    assert_eq!(found.total, 1);
    wait(sandbox.remove("a", false)).expect("it removes");

    close(&sandbox);
    assert!(place.server.sandboxes().is_empty());
    let requests = place.server.requests();
    assert_eq!(
        requests.first().map(String::as_str),
        Some("POST /sandboxes")
    );
    let last = format!("DELETE /sandboxes/{id}");
    assert_eq!(requests.last(), Some(&last));
}

#[test]
fn the_documented_configuration_is_one() {
    let text = include_str!("../../../guest-sdk/shims/e2b/README.md");
    let text = text.split("```").find_map(|part| part.strip_prefix("toml"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("belljar.toml");
    fs::write(&path, text.expect("it has one")).expect("it is written");
    let config = Config::load(&path).expect("it is right");
    assert_eq!(
        config.secret_variables().collect::<Vec<_>>(),
        ["E2B_API_KEY"]
    );
}

#[test]
fn calls_at_once_do_not_meet() {
    let place = place();
    let sandbox = open(&place);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6)
            .map(|at| {
                let sandbox = &sandbox;
                scope.spawn(move || {
                    let options = RunOptions {
                        stdin: format!("{at}").into_bytes(),
                        ..RunOptions::default()
                    };
                    let ran = run(sandbox, "sleep 0.2; cat", options).expect("it runs");
                    assert_eq!(ran.stdout.to_text(), at.to_string());
                })
            })
            .collect();
        for call in calls {
            call.join().expect("no panic");
        }
    });
    close(&sandbox);
}

#[test]
fn a_call_may_last_longer_than_the_sandboxs_time() {
    let place = place();
    let sandbox = place
        .open(&place.config("timeout = \"6\""))
        .expect("it opens");
    assert_eq!(printed(&sandbox, "sleep 8; echo there"), "there");
    let renewed = |request: &String| request.ends_with("/timeout");
    assert!(place.server.requests().iter().any(renewed));
    close(&sandbox);
}
