//! One client on standard streams.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Place, Server, call, initialize, processes, wait_for_processes};

fn list(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"})
}

#[test]
fn tools_have_their_schemas_and_hints() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    server.send(&list(1));
    let answer = server.answer(&json!(1));
    let tools = answer["result"]["tools"].as_array().expect("a list");
    let find = |name| {
        tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("it is there")
    };
    let stat = find("stat");
    assert_eq!(stat["inputSchema"]["type"], "object");
    assert_eq!(stat["outputSchema"]["type"], "object");
    assert_eq!(stat["annotations"]["readOnlyHint"], true);
    assert_eq!(stat["annotations"]["openWorldHint"], false);
    let shell = find("shell");
    assert_eq!(shell["annotations"]["destructiveHint"], true);
    assert_eq!(shell["annotations"]["openWorldHint"], true);
}

#[test]
fn what_a_sandbox_lacks_is_not_offered() {
    let place = Place::files();
    let mut server = Server::ready(&place);
    server.send(&list(1));
    let answer = server.answer(&json!(1));
    let tools = answer["result"]["tools"].as_array().expect("a list");
    assert!(tools.iter().any(|tool| tool["name"] == "read"));
    assert!(!tools.iter().any(|tool| tool["name"] == "shell"));
}

#[test]
fn answers_and_failures_are_what_the_protocol_has_for_them() {
    let place = Place::new();
    let mut server = Server::start(&mut place.command());
    let begun = server.initialize();
    server.load();
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert!(
        begun["result"]["instructions"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    server.call(1, "write", json!({"path": "a.txt", "content": "hi"}));
    assert_eq!(server.answer(&json!(1))["result"]["isError"], false);
    server.call(2, "stat", json!({"path": "a.txt"}));
    assert_eq!(
        server.answer(&json!(2))["result"]["structuredContent"]["size"],
        2
    );
    // What the tool says, and arguments that do not fit, are for the model.
    for (id, arguments) in [(3, json!({"path": "none"})), (4, json!({"pth": 1}))] {
        server.call(id, "read", arguments);
        assert_eq!(server.answer(&json!(id))["result"]["isError"], true);
    }
    server.call(5, "no-such-tool", json!({}));
    assert_eq!(server.answer(&json!(5))["error"]["code"], -32602);
    server.send(&json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": 1}}));
    assert_eq!(server.answer(&json!(6))["error"]["code"], -32602);
    server.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "no/method"}));
    assert_eq!(server.answer(&json!(7))["error"]["code"], -32601);
}

#[test]
fn progress_comes_before_the_answer_and_grows() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    let mut message = call(json!(1), "report_many", json!({"path": "", "count": 5}));
    message["params"]["_meta"] = json!({"progressToken": "p"});
    server.send(&message);
    let mut told = Vec::new();
    loop {
        let message = server.next();
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["params"]["progressToken"], "p");
        told.push(message["params"]["progress"].as_f64().expect("a number"));
    }
    assert_eq!(told, [0.0, 1.0, 2.0, 3.0, 4.0]);
    // Who gives no token is told nothing.
    server.call(2, "report_many", json!({"path": "", "count": 5}));
    assert_eq!(server.next()["id"], 2);
}

#[test]
fn logs_come_at_the_level_that_was_set() {
    let place = Place::new();
    place.put(
        "more.wasm",
        &belljar_test_guests::component("progress_flood"),
    );
    let mut server = Server::start(place.command().args(["more"]));
    server.initialize();
    server.call(1, "run", json!({}));
    let first = server.next();
    assert_eq!(first["method"], "notifications/message");
    assert_eq!(first["params"]["level"], "info");
    server.answer(&json!(1));
    let level = json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": "warning"}});
    server.send(&level);
    server.answer(&json!(2));
    server.call(3, "run", json!({}));
    assert_eq!(server.next()["id"], 3);
}

#[test]
fn a_cancelled_call_ends_with_its_processes_and_is_not_answered() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    server.call(
        1,
        "shell",
        json!({"command": "sleep 7401 & sleep 7401; wait"}),
    );
    wait_for_processes(&["sleep", "7401"], 2);
    let cancel = |id| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    for id in [json!(99), json!(0), json!(1), json!(1)] {
        server.send(&cancel(id));
    }
    assert!(wait_for_processes(&["sleep", "7401"], 0) < Duration::from_secs(5));
    server.call(2, "list", json!({}));
    // The next answer is the next call's.
    assert_eq!(server.next()["id"], 2);
}

#[test]
fn quick_calls_pass_a_slow_one_and_ids_come_back_as_they_were() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    server.call("slow", "shell", json!({"command": "sleep 7402"}));
    wait_for_processes(&["sleep", "7402"], 1);
    let odd = [
        json!(0),
        json!("a"),
        json!(""),
        json!(9_007_199_254_740_993_u64),
        json!(1_784_000_000_000_000_000_u64),
    ];
    for id in &odd {
        server.call(id.clone(), "echo", json!({"text": id.to_string()}));
    }
    for id in 100..132 {
        server.call(id, "echo", json!({"text": id.to_string()}));
    }
    for _ in 0..odd.len() + 32 {
        let answer = server.next();
        assert_eq!(
            answer["result"]["content"][0]["text"],
            answer["id"].to_string()
        );
    }
    assert_eq!(processes(&["sleep", "7402"]), 1);
}

#[test]
fn the_end_of_the_input_ends_the_server_and_all_processes() {
    let place = Place::new();
    let mut idle = Server::start(&mut place.command());
    drop(idle.input.take());
    let (status, time) = idle.end();
    assert!(
        status.success() && time < Duration::from_secs(2),
        "{status} {time:?}"
    );

    let place = Place::new();
    let mut server = Server::ready(&place);
    server.call(1, "shell", json!({"command": "sleep 7403"}));
    wait_for_processes(&["sleep", "7403"], 1);
    drop(server.input.take());
    let (status, time) = server.end();
    assert!(
        status.success() && time < Duration::from_secs(3),
        "{status} {time:?}"
    );
    assert_eq!(processes(&["sleep", "7403"]), 0);
}

#[test]
fn two_components_with_a_tool_of_one_name_are_refused() {
    let place = Place::new();
    place.put("more.wasm", &belljar_test_guests::coding());
    let mut server = Server::start(&mut place.command());
    let (status, _) = server.end();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_component_that_is_refused_ends_the_server_and_the_client_is_told() {
    let place = Place::new();
    place.put("more.wasm", b"no component");
    let mut server = Server::start(&mut place.command());
    let (status, _) = server.end();
    assert_eq!(status.code(), Some(4));
}

#[test]
fn the_handshake_does_not_wait_for_the_compiler() {
    let place = Place::new();
    let mut times = Vec::new();
    for _ in 0..5 {
        let mut server = Server::start(place.command().arg("--no-cache"));
        let start = Instant::now();
        server.send(&initialize(json!(0)));
        server.answer(&json!(0));
        times.push(start.elapsed());
        server.load();
    }
    eprintln!("handshakes without a cache, from the start of the process: {times:?}");
    // Compiling these takes a debug build a second and more.
    let best = times.iter().min().expect("some");
    assert!(*best < Duration::from_millis(500), "{times:?}");
}
