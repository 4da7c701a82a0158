//! Components whose files change while they are served.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::server::{PATIENCE, Place, Server, wait_for_processes};

fn names(server: &mut Server, id: i64) -> Vec<String> {
    server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
    let answer = server.answer(&json!(id));
    let tools = answer["result"]["tools"].as_array().expect("a list").iter();
    tools
        .map(|tool| tool["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn a_changed_component_is_told_and_calls_in_flight_go_on() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    assert!(names(&mut server, 1).contains(&"report_many".to_owned()));
    server.call(
        2,
        "shell",
        json!({"command": "sleep 7601 & wait; echo late"}),
    );
    wait_for_processes(&["sleep", "7601"], 1);
    place.put("more.wasm", &belljar_test_guests::component("panic_on_a"));
    // `run` is the coding tools' too: the new file is refused, and the old tools stay.
    assert_eq!(server.next_within(Duration::from_secs(4)), None);
    assert!(names(&mut server, 3).contains(&"report_many".to_owned()));
    place.put("more.wasm", b"\0asm and nothing of it");
    assert_eq!(server.next_within(Duration::from_secs(4)), None);
    server.call(4, "echo", json!({"text": "still here"}));
    assert_eq!(
        server.answer(&json!(4))["result"]["content"][0]["text"],
        "still here"
    );
}

#[test]
fn a_client_that_has_a_list_is_told_of_another() {
    let place = Place::new();
    place.put("coding.wasm", &belljar_test_guests::component("figures"));
    let mut server = Server::start(place.command().arg("coding"));
    server.initialize();
    assert!(names(&mut server, 1).contains(&"report_many".to_owned()));
    server.call(2, "report_many", json!({"path": "", "count": 100_000_000}));
    place.put("coding.wasm", &belljar_test_guests::component("echo"));
    let start = Instant::now();
    // The call may have been answered before.
    while server.next()["method"] != "notifications/tools/list_changed" {
        assert!(start.elapsed() < PATIENCE);
    }
    assert_eq!(names(&mut server, 3), ["run"]);
    server.call(4, "run", json!({"text": "new"}));
    assert_eq!(
        server.answer(&json!(4))["result"]["content"][0]["text"],
        "new"
    );
}
