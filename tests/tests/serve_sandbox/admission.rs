//! Who is let in: the token, TLS, and where it listens.

use std::process::{Command, Output};

use belljar_tests::{SandboxClient, SandboxServer, SandboxServerOptions, TOKEN, belljar_command};
use reqwest::{Client, Method};
use tempfile::TempDir;

use crate::{code, local};

#[tokio::test]
async fn without_the_token_nothing_is_told() {
    let server = local();
    let session = server.client().open().await;
    let client = Client::new();
    for path in [
        "",
        "/v1/sessions",
        "/nothing",
        &format!("/v1/sessions/{session}"),
    ] {
        let url = format!("{}{path}", server.url());
        for request in [
            client.get(&url),
            client.post(&url),
            client.delete(&url),
            client.get(&url).bearer_auth(""),
            client.get(&url).bearer_auth(&TOKEN[1..]),
            client.get(&url).bearer_auth(format!("{TOKEN}x")),
            client.get(&url).basic_auth("user", Some(TOKEN)),
            client.get(format!("{url}?token={TOKEN}")),
        ] {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 401);
            assert_eq!(answer.headers()["www-authenticate"], "Bearer");
            let body = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!(code(&body), "unauthorized");
        }
    }
    let (status, _) = server
        .client()
        .ask(Method::GET, &format!("/{session}"), None)
        .await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn tls_is_spoken_with_the_given_certificate() {
    let options = SandboxServerOptions {
        tls: true,
        ..SandboxServerOptions::local()
    };
    let server = SandboxServer::start(&options);
    assert!(server.url().starts_with("https://127.0.0.1:"));
    server.client().open().await;
    // Who does not know the certificate does not send the token.
    let stranger = SandboxClient::new(server.url(), None);
    assert!(
        stranger
            .send(Method::POST, "", None)
            .await
            .unwrap_err()
            .is_connect()
    );
    // Without TLS there is no answer of any kind.
    let plain = SandboxClient::new(&server.url().replace("https", "http"), None);
    assert!(plain.send(Method::POST, "", None).await.is_err());
}

/// Runs the command to its end, which comes at once when it refuses its arguments.
fn refused(folder: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(belljar_command());
    command
        .current_dir(folder.path())
        .env("SHORT", "tooshort")
        .arg("serve-sandbox")
        .args(arguments);
    command.output().expect("the command runs")
}

#[test]
fn what_is_not_safe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("token", TOKEN),
        ("short", "0123456789abcde\n"),
        ("spaces", "0123456789 abcdef"),
        ("none.pem", "nothing"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let here = ["--listen", "127.0.0.1:0"];
    let token = ["--token-file", "token"];
    for arguments in [
        // No token, two, and none that can be one.
        &here[..],
        &[&here[..], &token, &["--token-env", "HOME"]].concat(),
        &[&here[..], &["--token-file", "short"]].concat(),
        &[&here[..], &["--token-file", "spaces"]].concat(),
        &[&here[..], &["--token-env", "SHORT"]].concat(),
        &[&here[..], &["--token-env", "NOBODY_HAS_SET_THIS"]].concat(),
        &[&here[..], &["--token-env", "TOKEN=0123456789abcdef"]].concat(),
        // Where others can listen too.
        &[&["--listen", "0.0.0.0:0"], &token[..]].concat(),
        &[&["--listen", "[::]:0"], &token[..]].concat(),
        // Half a certificate, and none.
        &[&here[..], &token, &["--tls-key", "none.pem"]].concat(),
        &[
            &here[..],
            &token,
            &["--tls-key", "none.pem", "--tls-certificate", "none.pem"],
        ]
        .concat(),
        &[&here[..], &token, &["--sessions", "0"]].concat(),
    ] {
        let output = refused(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("0123456789abcde"), "{said}");
    }
    let missing = refused(&folder, &[&here[..], &["--token-file", "missing"]].concat());
    assert_eq!(missing.status.code(), Some(9), "{missing:?}");
}
