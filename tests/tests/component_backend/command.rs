//! The command over a component: its configuration, its secrets, its exit codes.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use belljar_tests::LendingServer;
use tempfile::TempDir;

use crate::server;

/// The command: where the build task says, or beside this test.
fn belljar() -> PathBuf {
    let named = std::env::var_os("BELLJAR_BIN").map(PathBuf::from);
    let path = named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let target = test.ancestors().nth(2).expect("cargo's target folder");
        target.join("belljar")
    });
    assert!(path.is_file(), "{} is not there", path.display());
    path
}

/// A folder with a component and its configuration.
fn folder(server: &LendingServer) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let component = belljar_test_guests::component("lends_over_http");
    std::fs::write(folder.path().join("vendor.wasm"), component).expect("it is written");
    let text = format!(
        r#"
version = 1
[sandbox]
backend = "component"
[sandbox.component]
component = "vendor.wasm"
settings = {{ url = "{}" }}
secrets = {{ token = {{ env = "VENDOR_TOKEN" }} }}
[[sandbox.component.http]]
hosts = ["127.0.0.1"]
ports = [{}]
private = true
http = true
"#,
        server.url(),
        server.port()
    );
    std::fs::write(folder.path().join("belljar.toml"), text).expect("it is written");
    folder
}

fn call(folder: &Path, token: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(belljar());
    command
        .args(arguments)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env_remove("VENDOR_TOKEN");
    if let Some(token) = token {
        command.env("VENDOR_TOKEN", token);
    }
    command.output().expect("it runs")
}

#[test]
fn a_program_runs_where_the_component_lends() {
    let server = server();
    let folder = folder(&server);
    let token = Some(LendingServer::TOKEN);
    let ran = call(
        folder.path(),
        token,
        &["exec", "--", "sh", "-c", "echo $((40 + 2)); exit 3"],
    );
    assert_eq!(
        (ran.status.code(), ran.stdout.as_slice()),
        (Some(3), &b"42\n"[..]),
        "{ran:?}"
    );
    let doctor = call(folder.path(), token, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{doctor:?}");
}

#[test]
fn what_does_not_open_is_not_opened() {
    let server = server();
    let folder = folder(&server);
    for (token, why) in [(None, "without"), (Some("not-the-token"), "with another")] {
        let ran = call(folder.path(), token, &["doctor"]);
        assert_eq!(ran.status.code(), Some(7), "{why}: {ran:?}");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!said.contains("not-the-token"), "{said}");
    }
}

#[test]
fn a_component_is_inspected() {
    let server = server();
    let folder = folder(&server);
    for (guest, world) in [
        ("lends_over_http", "client"),
        ("lends_badly", "backend"),
        ("echo", "tool"),
    ] {
        let file = folder.path().join("inspected.wasm");
        std::fs::write(&file, belljar_test_guests::component(guest)).expect("it is written");
        let told = call(
            folder.path(),
            None,
            &["--json", "inspect", "inspected.wasm"],
        );
        assert_eq!(told.status.code(), Some(0), "{guest}: {told:?}");
        let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON");
        assert_eq!(told["world"], world, "{guest}");
    }
}
