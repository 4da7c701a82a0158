//! What a component reaches: hosts, addresses, redirects, headers.

use belljar::{
    Sandbox,
    backends::{ComponentError, HttpGrant, OpenError},
};
use belljar_tests::{LendingServer, in_query};

use crate::{Lender, local, server};

/// Opens a session whose files are these requests.
fn asking(grants: Vec<HttpGrant>, requests: &[(&str, String)]) -> Sandbox {
    let mut lender = Lender::new("lends_requests");
    lender.options.http = grants;
    for (name, request) in requests {
        lender = lender.setting(name, request.clone());
    }
    lender.opened()
}

async fn came(session: &Sandbox, name: &str) -> String {
    let content = session.read(name).await.expect("the request was made");
    String::from_utf8_lossy(&content.bytes).into_owned()
}

/// What comes of one request.
async fn one(grants: Vec<HttpGrant>, request: String) -> String {
    came(&asking(grants, &[("request", request)]), "request").await
}

fn get(server: &LendingServer, path: &str) -> String {
    format!("GET {}{path}", server.url())
}

#[tokio::test]
async fn what_is_granted_is_answered() {
    let server = server();
    let grants = vec![local(&server, "127.0.0.1")];
    let answer = one(grants, get(&server, "/echo") + "\nx-key: k").await;
    assert!(answer.starts_with("200 GET"), "{answer}");
    assert!(answer.contains("x-key: k"), "{answer}");
}

#[tokio::test]
async fn nothing_is_granted_by_itself() {
    let server = server();
    assert_eq!(one(Vec::new(), get(&server, "/echo")).await, "denied");
}

#[tokio::test]
async fn each_part_of_a_grant_is_needed() {
    let server = server();
    let grant = || local(&server, "127.0.0.1");
    let cases = [
        (
            "another host",
            HttpGrant {
                hosts: vec!["127.0.0.2".into()],
                ..grant()
            },
        ),
        (
            "another port",
            HttpGrant {
                ports: Some(vec![1]),
                ..grant()
            },
        ),
        (
            "another method",
            HttpGrant {
                methods: Some(vec!["POST".into()]),
                ..grant()
            },
        ),
        (
            "only https",
            HttpGrant {
                http: false,
                ..grant()
            },
        ),
        (
            "only public addresses",
            HttpGrant {
                private: false,
                ..grant()
            },
        ),
    ];
    for (what, grant) in cases {
        assert_eq!(
            one(vec![grant], get(&server, "/echo")).await,
            "denied",
            "{what}"
        );
    }
}

#[tokio::test]
async fn a_name_is_judged_by_its_addresses() {
    let server = server();
    let url = format!("GET http://localhost:{}/echo", server.port());
    let granted = local(&server, "localhost");
    let public = HttpGrant {
        private: false,
        ..granted.clone()
    };
    assert_eq!(one(vec![public], url.clone()).await, "denied");
    assert!(one(vec![granted], url).await.starts_with("200 "));
}

#[tokio::test]
async fn every_spelling_of_an_address_is_that_address() {
    let server = server();
    let public = |host: &str| HttpGrant {
        private: false,
        ..local(&server, host)
    };
    for (spelt, host) in [
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("[::ffff:127.0.0.1]", "[::ffff:127.0.0.1]"),
        ("[::1]", "[::1]"),
        ("0", "0.0.0.0"),
    ] {
        let url = format!("GET http://{spelt}:{}/echo", server.port());
        assert_eq!(one(vec![public(host)], url).await, "denied", "{spelt}");
    }
}

#[tokio::test]
async fn a_redirect_is_judged_as_a_request_of_its_own() {
    let server = server();
    // The same server by another name, which is not granted.
    let other = format!("http://localhost:{}/echo", server.port());
    let to = get(&server, &format!("/to?{}", in_query(&other)));
    let only = vec![local(&server, "127.0.0.1")];
    assert_eq!(one(only.clone(), to.clone()).await, "denied");
    // Granted, and at an address that is not.
    let public = HttpGrant {
        private: false,
        ..local(&server, "localhost")
    };
    let grants = vec![local(&server, "127.0.0.1"), public];
    assert_eq!(one(grants, to.clone()).await, "denied");
    for metadata in [
        "http://169.254.169.254/",
        "https://[fd00:ec2::254]/",
        "file:///etc/passwd",
    ] {
        let to = get(&server, &format!("/to?{}", in_query(metadata)));
        assert_eq!(one(only.clone(), to).await, "denied", "{metadata}");
    }
    let grants = vec![local(&server, "127.0.0.1"), local(&server, "localhost")];
    assert!(one(grants, to).await.starts_with("200 GET"));
}

#[tokio::test]
async fn secrets_do_not_go_along_to_another_host() {
    let server = server();
    let other = format!("http://localhost:{}/echo", server.port());
    let headers = "\nauthorization: Bearer t\nx-api-key: k\ncookie: c\naccept: text/plain";
    let grants = || vec![local(&server, "127.0.0.1"), local(&server, "localhost")];
    let away = get(&server, &format!("/to?{}", in_query(&other))) + headers;
    let away = one(grants(), away).await;
    assert!(away.contains("accept: text/plain"), "{away}");
    for secret in ["authorization", "x-api-key", "cookie"] {
        assert!(!away.contains(secret), "{away}");
    }
    let same = get(&server, &format!("/to?{}", in_query("/echo"))) + headers;
    let same = one(grants(), same).await;
    for kept in ["authorization: Bearer t", "x-api-key: k", "cookie: c"] {
        assert!(same.contains(kept), "{same}");
    }
}

#[tokio::test]
async fn redirects_have_an_end() {
    let server = server();
    // To itself, by a path that is the same each time.
    let to_itself = get(&server, "/to?%2f%74%6f%3f");
    let grants = vec![local(&server, "127.0.0.1")];
    let came = one(grants, to_itself).await;
    assert!(came == "unreachable" || came.starts_with("422"), "{came}");
}

#[tokio::test]
async fn a_request_smuggles_nothing() {
    let server = server();
    let grants = || vec![local(&server, "127.0.0.1")];
    for header in [
        "host: other.example",
        "transfer-encoding: chunked",
        "content-length: 5",
        "connection: upgrade",
        "proxy-authorization: Basic x",
        "x: a\rinjected: b",
    ] {
        let request = get(&server, "/echo") + "\n" + header;
        assert_eq!(one(grants(), request).await, "invalid", "{header}");
    }
    let user = get(&server, "/echo").replace("http://", "http://user:password@");
    assert_eq!(one(grants(), user).await, "invalid");
    let echo = one(grants(), get(&server, "/echo?\rx: y")).await;
    assert!(echo.starts_with("200 ") && !echo.contains("x: y"), "{echo}");
}

#[tokio::test]
async fn a_body_has_a_limit() {
    let server = server();
    let mut lender = Lender::new("lends_requests")
        .setting("fits", get(&server, "/large?1000"))
        .setting("is-over", get(&server, "/large?1001"))
        .grant(local(&server, "127.0.0.1"));
    lender.options.component_limits.body_bytes = 1000;
    let session = lender.opened();
    assert_eq!(came(&session, "fits").await.len(), 1004);
    assert_eq!(came(&session, "is-over").await, "too-large");
}

#[tokio::test]
async fn a_certificate_is_believed_when_it_is_said_to_be() {
    let (server, certificate) = LendingServer::start_tls();
    let grant = HttpGrant {
        http: false,
        ..local(&server, "localhost")
    };
    let url = format!("GET https://localhost:{}/echo", server.port());
    let mut lender = Lender::new("lends_requests")
        .setting("request", url)
        .setting(
            "by-address",
            format!("GET https://127.0.0.1:{}/echo", server.port()),
        )
        .grant(grant)
        .grant(local(&server, "127.0.0.1"));
    assert_eq!(came(&lender.opened(), "request").await, "unreachable");
    let file = lender.folder.path().join("ca.pem");
    std::fs::write(&file, certificate).expect("it is written");
    lender.options.ca = Some(file.clone());
    let session = lender.opened();
    assert!(came(&session, "request").await.starts_with("200 GET"));
    assert_eq!(
        came(&session, "by-address").await,
        "unreachable",
        "it is of another name"
    );
    std::fs::write(&file, "no certificate").expect("it is written");
    assert!(matches!(
        lender.open(),
        Err(OpenError::Component(ComponentError::Certificates { .. }))
    ));
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let port = {
        let bound = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        bound.local_addr().expect("an address").port()
    };
    let grant = HttpGrant {
        ports: Some(vec![port]),
        private: true,
        http: true,
        ..HttpGrant::to(["127.0.0.1"])
    };
    let url = format!("GET http://127.0.0.1:{port}/");
    assert_eq!(one(vec![grant], url).await, "unreachable");
}
