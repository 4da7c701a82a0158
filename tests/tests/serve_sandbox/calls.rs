//! What is answered: results, failed operations, and refusals of what is none of these.

use std::io::{Read as _, Write as _};

use belljar_tests::{SandboxServer, TOKEN};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::{code, kind, local};

#[tokio::test]
async fn an_operation_is_answered_as_the_contract_has_it() {
    let server = local();
    let client = server.client();
    let (status, opened) = client.ask(Method::POST, "", None).await;
    assert_eq!(status, 201);
    assert_eq!(opened["description"]["backend"], "local");
    assert_eq!(opened["idle"], 600_000);
    let session = opened["session"].as_str().unwrap();
    assert_eq!(session.len(), 32);
    let written = client
        .call(
            session,
            "files.write",
            json!({ "path": "d/a", "bytes": "aGk=", "options": { "make-parents": true } }),
        )
        .await;
    assert_eq!(written.0, 200, "{}", written.1);
    let read = client
        .call(session, "files.read", json!({ "path": "d/a" }))
        .await;
    assert_eq!(read.1["result"]["bytes"], "aGk=");
    assert_eq!(read.1["result"]["version"], written.1["result"]);
    let ran = client
        .call(
            session,
            "processes.run",
            json!({ "command": { "shell": "cat d/a; exit 3" } }),
        )
        .await;
    assert_eq!(ran.1["result"]["outcome"], json!({ "exited": 3 }));
    assert_eq!(ran.1["result"]["stdout"]["head"], "aGk=");
    let failed = client
        .call(session, "files.read", json!({ "path": "gone" }))
        .await;
    assert_eq!((failed.0, kind(&failed.1)), (422, "not-found"));
    assert_eq!(failed.1["error"]["operation"], "files.read");
    assert_eq!(failed.1["error"]["path"], "gone");
    let left = client
        .call(session, "files.read", json!({ "path": "../a" }))
        .await;
    assert_eq!((left.0, kind(&left.1)), (422, "access-denied"));
    // Each answer of the session has another caller.
    let (_, looked) = client.ask(Method::GET, &format!("/{session}"), None).await;
    assert_ne!(looked["caller"], opened["caller"]);
    assert_eq!(looked["description"], opened["description"]);
}

#[tokio::test]
async fn what_is_no_call_is_refused() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    let calls = format!("/{session}/calls");
    for (body, status, expected) in [
        (json!([]), 400, "malformed"),
        (json!({}), 400, "malformed"),
        (json!({ "method": 1 }), 400, "malformed"),
        (
            json!({ "method": "files.read", "more": 1 }),
            400,
            "malformed",
        ),
        (
            json!({ "method": "files.read", "call": "" }),
            400,
            "malformed",
        ),
        (
            json!({ "method": "files.read", "call": "a b" }),
            400,
            "malformed",
        ),
        (
            json!({ "method": "files.read", "call": "a".repeat(65) }),
            400,
            "malformed",
        ),
        (
            json!({ "method": "files.read", "timeout": -1 }),
            400,
            "malformed",
        ),
        (json!({ "method": "files.nothing" }), 400, "unknown-method"),
        (json!({ "method": "session.open" }), 400, "unknown-method"),
        (json!({ "method": "session.close" }), 400, "unknown-method"),
        (json!({ "method": "files.read" }), 400, "bad-parameters"),
        (
            json!({ "method": "files.read", "params": [] }),
            400,
            "bad-parameters",
        ),
        (
            json!({ "method": "files.read", "params": { "path": 1 } }),
            400,
            "bad-parameters",
        ),
        (
            json!({ "method": "files.write", "params": { "path": "a", "bytes": "?" } }),
            400,
            "bad-parameters",
        ),
    ] {
        let answer = client.ask(Method::POST, &calls, Some(body.clone())).await;
        assert_eq!((answer.0, code(&answer.1)), (status, expected), "{body}");
    }
    for (method, path, status, expected) in [
        (Method::GET, String::new(), 405, "no-such-method"),
        (Method::PUT, format!("/{session}"), 405, "no-such-method"),
        (Method::GET, calls.clone(), 405, "no-such-method"),
        (
            Method::GET,
            format!("/{session}/more"),
            404,
            "no-such-address",
        ),
        (Method::GET, "/..".into(), 404, "no-such-address"),
        (
            Method::GET,
            format!("/{}", "0".repeat(32)),
            404,
            "no-such-session",
        ),
        (
            Method::DELETE,
            format!("/{}", "x".repeat(3000)),
            404,
            "no-such-session",
        ),
        (Method::POST, "/x/calls".into(), 404, "no-such-session"),
        (Method::DELETE, format!("{calls}/none"), 404, "no-such-call"),
    ] {
        let answer = client.ask(method, &path, None).await;
        assert_eq!((answer.0, code(&answer.1)), (status, expected), "{path}");
    }
}

/// What the server says to bytes that a well-behaved client does not send.
fn said_to(server: &SandboxServer, bytes: &[u8], is_whole: bool) -> String {
    let mut stream =
        std::net::TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    stream.write_all(bytes).expect("it is written");
    // Who ends its direction is taken for a client that went away, which no answer is for.
    if !is_whole {
        stream
            .shutdown(std::net::Shutdown::Write)
            .expect("it is ended");
    }
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    // It may also close the connection, in whichever way.
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        said.extend_from_slice(&piece[..count]);
        if said.windows(4).any(|end| end == b"\r\n\r\n") {
            break;
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn garbage_is_refused_and_the_next_one_is_served() {
    let server = local();
    let session = server.client().open().await;
    let head = format!(
        "POST /v1/sessions/{session}/calls HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"
    );
    let many = (0..200)
        .map(|n| format!("x-{n}: 1\r\n"))
        .collect::<String>();
    for (bytes, status) in [
        (b"\0\0\0\0\r\n\r\n".to_vec(), Some("400")),
        (b"GET / HTTP/1.1\r\n".to_vec(), None),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), None),
        (format!("{head}{many}\r\n").into_bytes(), Some("431")),
        (
            format!("{head}content-length: x\r\n\r\n").into_bytes(),
            Some("400"),
        ),
        (
            format!("{head}transfer-encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n").into_bytes(),
            Some("411"),
        ),
        (
            format!("{head}content-length: 999999999999\r\n\r\n").into_bytes(),
            Some("413"),
        ),
        (
            format!("{head}content-length: 2\r\n\r\n\u{1}\u{2}").into_bytes(),
            Some("400"),
        ),
    ] {
        let said = said_to(&server, &bytes, status.is_some());
        let got = said
            .strip_prefix("HTTP/1.1 ")
            .and_then(|rest| rest.get(..3));
        match status {
            Some(_) => assert_eq!(got, status, "{said}"),
            None => assert_ne!(got, Some("200"), "{said}"),
        }
    }
    let read = server
        .client()
        .call(&session, "files.list", json!({ "path": "." }))
        .await;
    assert_eq!(read.0, 200);
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let server = local();
    let session = server.client().open().await;
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    for _ in 0..3 {
        let request = format!(
            "GET /v1/sessions/{session} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut said = Vec::new();
        let mut byte = [0];
        // The id is the last that the answer says.
        while !said.ends_with(format!("\"{session}\"}}").as_bytes()) {
            stream.read_exact(&mut byte).unwrap();
            said.push(byte[0]);
        }
        assert!(said.starts_with(b"HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn a_call_can_be_narrowed() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    let made = client
        .call(
            &session,
            "processes.run",
            json!({ "command": { "shell": "mkdir d; echo x >d/a; echo x >b; ln -s d l" } }),
        )
        .await;
    assert_eq!(made.1["result"]["outcome"], json!({ "exited": 0 }));
    let ask = async |mut body: Value, more: Value| {
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        client
            .ask(Method::POST, &format!("/{session}/calls"), Some(body))
            .await
    };
    let glob = json!({ "method": "files.glob", "params": { "pattern": "**/*" } });
    let (_, all) = ask(glob.clone(), json!({})).await;
    assert_eq!(all["result"]["total"], 4);
    let (_, some) = ask(glob.clone(), json!({ "within": [["d/**", "b"], ["d/*"]] })).await;
    let names: Vec<_> = some["result"]["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|path| &path["path"]["text"])
        .collect();
    assert_eq!(names, ["d", "d/a"]);
    let (status, bad) = ask(glob, json!({ "within": [["/absolute"]] })).await;
    assert_eq!((status, kind(&bad)), (422, "invalid-argument"));
    let read = json!({ "method": "files.read", "params": { "path": "l/a" } });
    assert_eq!(ask(read.clone(), json!({})).await.0, 200);
    let (status, linked) = ask(read, json!({ "no-links": true })).await;
    assert_eq!((status, kind(&linked)), (422, "access-denied"));
}

#[tokio::test]
async fn sessions_are_apart() {
    let server = local();
    let client = server.client();
    let (one, other) = (client.open().await, client.open().await);
    assert_ne!(one, other);
    let write = json!({ "path": "a", "bytes": "" });
    assert_eq!(client.call(&one, "files.write", write).await.0, 200);
    let read = client
        .call(&other, "files.read", json!({ "path": "a" }))
        .await;
    assert_eq!(kind(&read.1), "not-found");
    // Without a name in it, an answer tells nothing that is for one session only.
    let plain = Client::new().get(format!("{}/v1/sessions/{one}", server.url()));
    assert_eq!(
        plain
            .bearer_auth(other)
            .send()
            .await
            .unwrap()
            .status()
            .as_u16(),
        401
    );
}
