//! The server of the tests is as strict as its protocol.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_tests::{E2B_KEY, E2bServer};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};

/// A server, and who asks it.
struct Asker {
    server: E2bServer,
    client: Client,
}

impl Asker {
    fn new() -> Self {
        // Another test may have said it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Self {
            server: E2bServer::start().expect("it starts"),
            client: Client::new(),
        }
    }

    fn control(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.server.api_url());
        self.client
            .request(method, url)
            .header("x-api-key", E2B_KEY)
    }

    /// Makes a sandbox; its id and its token.
    async fn make(&self, seconds: u64) -> (String, String) {
        let asked = json!({"templateID": "base", "timeout": seconds, "secure": true});
        let asked = self
            .control(Method::POST, "/sandboxes")
            .body(asked.to_string());
        let response = asked.send().await.expect("an answer");
        assert_eq!(response.status(), 201);
        let told = json(response).await;
        let text = |name: &str| told[name].as_str().expect("a text").to_owned();
        (text("sandboxID"), text("envdAccessToken"))
    }

    fn inside(&self, id: &str, token: &str, path: &str) -> RequestBuilder {
        self.client
            .post(format!("{}{path}", self.server.sandbox_url()))
            .header("e2b-sandbox-id", id)
            .header("e2b-sandbox-port", "49983")
            .header("x-access-token", token)
            .header("connect-protocol-version", "1")
    }

    fn start(&self, id: &str, token: &str, asked: &Value) -> RequestBuilder {
        self.inside(id, token, "/process.Process/Start")
            .header("content-type", "application/connect+json")
            .body(framed(asked))
    }
}

async fn json(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.expect("a body")).expect("JSON")
}

fn framed(message: &Value) -> Vec<u8> {
    let content = message.to_string();
    let length = u32::try_from(content.len()).expect("it is short");
    [&[0], &length.to_be_bytes()[..], content.as_bytes()].concat()
}

/// The messages of a stream; the last one has the flag of the end.
async fn messages(response: Response) -> Vec<Value> {
    assert_eq!(response.status(), 200);
    let body = response.bytes().await.expect("a body");
    let (mut rest, mut messages) = (&body[..], Vec::new());
    while let Some((head, content)) = rest.split_at_checked(5) {
        let length = u32::from_be_bytes(head[1..].try_into().expect("four bytes"));
        let (content, after) = content.split_at(usize::try_from(length).expect("it fits"));
        assert_eq!(head[0] == 2, after.is_empty());
        messages.push(serde_json::from_slice(content).expect("JSON"));
        rest = after;
    }
    messages
}

#[tokio::test]
async fn a_program_is_told_as_published() {
    let asker = Asker::new();
    let (id, token) = asker.make(60).await;
    let asked = json!({"process": {"cmd": "sh", "args": ["-c", "echo a; exit 3"]}, "stdin": false});
    let told = messages(asker.start(&id, &token, &asked).send().await.unwrap()).await;
    assert!(told[0]["event"]["start"]["pid"].is_u64());
    assert_eq!(told[1]["event"]["data"]["stdout"], STANDARD.encode("a\n"));
    assert_eq!(
        told[2]["event"]["end"],
        json!({"exitCode": 3, "exited": true, "status": "exit status 3", "error": "exit status 3"})
    );
    assert_eq!(told[3], json!({}));
}

#[tokio::test]
async fn what_is_not_published_is_an_error() {
    let asker = Asker::new();
    let (id, token) = asker.make(60).await;
    for asked in [
        json!({"templateID": "base", "other": 1}),
        json!({"templateID": 1}),
        json!({"templateID": "base", "timeout": -1}),
        json!({}),
    ] {
        let asked = asker
            .control(Method::POST, "/sandboxes")
            .body(asked.to_string());
        assert_eq!(asked.send().await.unwrap().status(), 400);
    }
    for asked in [
        json!({"process": {"cmd": "true"}, "other": 1}),
        json!({"process": {"cmd": "true", "directory": "/"}}),
        json!({"process": {"cmd": "true", "cwd": "/there/is/none"}}),
    ] {
        let told = messages(asker.start(&id, &token, &asked).send().await.unwrap()).await;
        assert_eq!(told.len(), 1);
        assert_eq!(told[0]["error"]["code"], "invalid_argument", "{asked}");
    }
    let nobody = json!({"process": {"pid": 1}});
    let told = asker
        .inside(&id, &token, "/process.Process/CloseStdin")
        .header("content-type", "application/json")
        .body(nobody.to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(told.status(), 404);
    assert_eq!(json(told).await["code"], "not_found");
    let other = asker
        .inside(&id, &token, "/process.Process/Start")
        .header("content-type", "application/json")
        .body("{}");
    assert_eq!(other.send().await.unwrap().status(), 415);
    let none = asker.inside(&id, &token, "/other").body("");
    assert_eq!(none.send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn nobody_comes_in_without_the_key_and_the_token() {
    let asker = Asker::new();
    let url = format!("{}/sandboxes", asker.server.api_url());
    let without = asker.client.post(&url).body("{}");
    assert_eq!(without.send().await.unwrap().status(), 401);
    let wrong = asker.client.post(&url).header("x-api-key", "e2b_0");
    assert_eq!(wrong.body("{}").send().await.unwrap().status(), 401);
    let (id, token) = asker.make(60).await;
    let asked = json!({"process": {"cmd": "true"}});
    let wrong = asker.start(&id, "other", &asked);
    assert_eq!(wrong.send().await.unwrap().status(), 401);
    let user = asker.start(&id, &token, &asked);
    let user = user.basic_auth("nobody", Some(""));
    let told = messages(user.send().await.unwrap()).await;
    assert_eq!(told[0]["error"]["code"], "unauthenticated");
    let other = asker.start("i0", &token, &asked);
    assert_eq!(other.send().await.unwrap().status(), 502);
    let gone = asker.control(Method::DELETE, "/sandboxes/i0");
    assert_eq!(gone.send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_sandbox_ends_with_its_time_which_can_be_moved() {
    let asker = Asker::new();
    let (short, _) = asker.make(1).await;
    let (long, token) = asker.make(1).await;
    let path = format!("/sandboxes/{long}/timeout");
    let moved = asker
        .control(Method::POST, &path)
        .body(json!({"timeout": 60}).to_string());
    assert_eq!(moved.send().await.unwrap().status(), 204);
    let began = asker.start(
        &long,
        &token,
        &json!({"process": {"cmd": "cat"}, "tag": "t"}),
    );
    let stream = began.send().await.unwrap();
    let deadline = Duration::from_secs(20);
    tokio::time::timeout(deadline, async {
        while asker.server.sandboxes().contains(&short) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await
    .unwrap();
    assert_eq!(asker.server.sandboxes(), [long.as_str()]);
    // What runs in it ends with it, and its stream breaks off.
    assert!(asker.server.kill(&long));
    assert!(stream.bytes().await.is_err());
}
