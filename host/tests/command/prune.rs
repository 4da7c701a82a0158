//! `belljar prune` with a stand-in for an engine's program.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    process::{Command, Output},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A program that lists three containers of ours, and notes what it was called with.
struct StandIn {
    folder: TempDir,
}

impl StandIn {
    /// `removes` says how the removal ends.
    fn new(removes: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let container = |id: &str, state: &str, owner: &str, lease: u64| {
            json!({
                "Id": id,
                "Name": format!("/belljar-{id}"),
                "State": { "Status": state },
                "Config": { "Labels": {
                    "belljar.session": id,
                    "belljar.owner": owner,
                    "belljar.image": "debian:12",
                    "belljar.lease": lease.to_string(),
                } },
            })
        };
        let all = json!([
            container("left", "exited", "another-boot/1/7/7", 0),
            container("runs", "running", "another-boot/1/7/7", 0),
            container("leased", "created", "another-boot/1/7/7", u64::MAX),
        ]);
        fs::write(folder.path().join("all.json"), all.to_string()).unwrap();
        let script = format!(
            "#!/bin/sh\ncd {0:?}\necho \"$@\" >> calls\n\
             case $1 in ps) echo left; echo runs; echo leased ;; container) cat all.json ;; rm) {removes} ;; esac\n",
            folder.path()
        );
        let program = folder.path().join("engine");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn prune(&self, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_belljar"))
            .args(["prune", "--engine", "docker", "--program"])
            .arg(self.program())
            .args(more)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("engine")
    }

    /// What was removed, by id.
    fn removed(&self) -> Vec<String> {
        let calls = fs::read_to_string(self.folder.path().join("calls")).unwrap_or_default();
        let removals = calls.lines().filter(|call| call.starts_with("rm "));
        removals
            .map(|call| call.rsplit(' ').next().unwrap().to_owned())
            .collect()
    }
}

fn outcomes(output: &Output) -> Vec<(String, String)> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let containers = report["containers"].as_array().unwrap().iter();
    containers
        .map(|one| (text(&one["outcome"]), text(&one["reason"])))
        .collect()
}

fn pairs(right: [(&str, &str); 3]) -> Vec<(String, String)> {
    let owned = |(outcome, reason): (&str, &str)| (outcome.to_owned(), reason.to_owned());
    right.map(owned).into()
}

#[test]
fn what_is_left_is_removed_and_what_may_live_is_not() {
    let engine = StandIn::new("exit 0");
    let output = engine.prune(&["--dry-run", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let right = pairs([
        ("would-remove", "lease-ended"),
        ("kept", "unseen-and-running"),
        ("kept", "leased"),
    ]);
    assert_eq!(outcomes(&output), right);
    assert!(engine.removed().is_empty());

    assert_eq!(engine.prune(&[]).status.code(), Some(0));
    assert_eq!(engine.removed(), ["left"]);
    let output = engine.prune(&["--unseen", "--json"]);
    let right = pairs([
        ("removed", "lease-ended"),
        ("removed", "lease-ended"),
        ("kept", "leased"),
    ]);
    assert_eq!(outcomes(&output), right);
    assert_eq!(engine.removed(), ["left", "left", "runs"]);
}

#[test]
fn one_that_does_not_go_is_told_and_the_rest_goes_on() {
    let engine = StandIn::new("echo 'no space left on device' >&2; exit 1");
    let output = engine.prune(&["--unseen", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let right = pairs([
        ("failed", "lease-ended"),
        ("failed", "lease-ended"),
        ("kept", "leased"),
    ]);
    assert_eq!(outcomes(&output), right);
    assert_eq!(engine.removed(), ["left", "runs"]);
}

#[test]
fn an_engine_that_is_not_there_is_the_hosts_failure() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .args(["--json", "prune", "--engine", "podman", "--program"])
        .arg(folder.path().join("none"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(9));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["error"]["kind"], "host");
}

#[test]
fn the_configured_engine_is_asked() {
    let engine = StandIn::new("exit 0");
    let config = "version = 1\nsandbox.backend = 'container'\n\
                  sandbox.container = { image = 'debian:12', program = './engine' }\n";
    fs::write(engine.folder.path().join("belljar.toml"), config).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_belljar"))
        .arg("prune")
        .current_dir(engine.folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(engine.removed(), ["left"]);
}
