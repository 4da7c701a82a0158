//! Clients that do not keep to the protocol: each is told, and what runs goes on.

use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{Place, Server, initialize, wait_for_processes};

fn ping(id: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

#[test]
fn requests_before_initialize_are_refused_and_pings_answered() {
    let place = Place::new();
    let mut server = Server::start(&mut place.command());
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    server.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(server.answer(&json!(1))["error"]["code"], -32600);
    server.send(&ping(2));
    assert_eq!(server.answer(&json!(2))["result"], json!({}));
    server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}}));
    assert_eq!(server.answer(&json!(3))["error"]["code"], -32602);
    server.send(&initialize(json!(4)));
    assert!(server.answer(&json!(4))["result"].is_object());
    server.send(&initialize(json!(6)));
    assert_eq!(server.answer(&json!(6))["error"]["code"], -32600);
}

#[test]
fn garbage_is_told_and_what_runs_goes_on() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    server.call(1, "shell", json!({"command": "sleep 7501; echo done"}));
    wait_for_processes(&["sleep", "7501"], 1);
    let lines: [(&[u8], i64); 5] = [
        (b"garbage", -32700),
        (b"{\"jsonrpc\":", -32700),
        (b"\xff\xfe", -32700),
        (b"[]", -32600),
        (b"{\"id\":7}", -32600),
    ];
    for (line, code) in lines {
        server.line(line);
        assert_eq!(server.next()["error"]["code"], code);
    }
    server.line(b"");
    server.line(b"{\"jsonrpc\":\"2.0\",\"method\":\"no/notification\"}");
    server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    let twice = server.next();
    assert_eq!(twice["error"]["code"], -32600);
    // With the id it would be taken for the answer of the call.
    assert_eq!(twice.get("id"), None);
    server.send(&ping(2));
    assert_eq!(server.next()["id"], 2);
    wait_for_processes(&["sleep", "7501"], 1);
}

#[test]
fn a_line_without_end_is_refused_and_the_next_one_read() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    server.line(&vec![b'x'; (128 << 20) + 10]);
    assert_eq!(server.next()["error"]["code"], -32700);
    server.send(&ping(1));
    assert_eq!(server.next()["id"], 1);
}

#[test]
fn half_a_message_at_the_end_is_no_message() {
    let place = Place::new();
    let mut server = Server::ready(&place);
    let input = server.input.as_mut().expect("it is open");
    std::io::Write::write_all(input, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"meth").expect("it is read");
    drop(server.input.take());
    let (status, time) = server.end();
    assert!(
        status.success() && time < Duration::from_secs(3),
        "{status} {time:?}"
    );
}
