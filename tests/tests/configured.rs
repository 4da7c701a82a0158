//! A `belljar.toml` made real: its policy, its limits and the guard, through the standard tools.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

use std::{collections::BTreeMap, fs, path::PathBuf};

use belljar::{
    CallError, Capability, ErrorKind, Host, HostOptions, OpenOptions, Sandbox, Tool, config::Config,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with the standard tools, a workspace and a configuration; the sandbox and the
/// tools of that configuration.
struct Configured {
    folder: TempDir,
    sandbox: Sandbox,
    tools: BTreeMap<String, Tool>,
}

impl Configured {
    /// With files of the workspace, and the `[tools]` tables.
    fn new(files: &[(&str, &str)], tables: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("work")).expect("a workspace");
        for (name, content) in files {
            let path = at("work").join(name);
            let parent = path.parent().expect("a folder");
            fs::create_dir_all(parent).expect("the folder is made");
            fs::write(path, content).expect("the file is written");
        }
        fs::write(at("coding.wasm"), belljar_test_guests::coding()).expect("the tools");
        let text = format!("version = 1\n[sandbox]\nworkspace = \"work\"\n{tables}");
        fs::write(at("belljar.toml"), text).expect("the configuration");
        let config = Config::load(&at("belljar.toml")).expect("it is right");
        let sandbox = Sandbox::open_ambient(&config, OpenOptions::default());
        let host = Host::new(HostOptions {
            concurrent_calls: 4,
            ..HostOptions::for_config(&config)
        });
        let tools = host
            .expect("the engine starts")
            .load_configured_ambient(&config);
        Self {
            sandbox: sandbox.expect("it opens"),
            tools: tools.expect("they load"),
            folder,
        }
    }

    fn call(&self, component: &str, name: &str, arguments: Value) -> Result<String, CallError> {
        let answer =
            self.tools[component].call_blocking(&self.sandbox, name, &arguments.to_string());
        answer.map(|answer| answer.text())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("the file")
    }
}

/// The contract's kind, where the tool told one.
#[track_caller]
fn kind(result: Result<String, CallError>) -> ErrorKind {
    match result {
        Err(CallError::Tool {
            kind: Some(kind), ..
        }) => kind,
        other => panic!("no kind: {other:?}"),
    }
}

#[test]
fn a_policy_narrows_paths_for_reading_and_writing_apart() {
    let files = [("src/a", "old"), ("docs/b", "text"), ("secret/c", "key")];
    let configured = Configured::new(
        &files,
        r#"
[tools.coding]
component = "coding.wasm"
allow = ["read", "write"]
read = ["src/**", "docs/**"]
write = ["src/**"]
"#,
    );
    let call = |name: &str, arguments: Value| configured.call("coding", name, arguments);
    assert_eq!(
        call("read", json!({ "path": "docs/b" })).expect("it may"),
        "1\ttext\n[no line end after the last line]"
    );
    assert_eq!(
        kind(call("read", json!({ "path": "secret/c" }))),
        ErrorKind::AccessDenied
    );
    let found = call("search", json!({ "pattern": "key|text" })).expect("it may");
    assert!(
        found.contains("docs/b") && !found.contains("secret"),
        "{found}"
    );
    let edit =
        |path: &str| json!({ "path": path, "edits": [{ "old": "t", "new": "T", "all": true }] });
    assert_eq!(kind(call("edit", edit("docs/b"))), ErrorKind::AccessDenied);
    call("read", json!({ "path": "src/a" })).expect("it may");
    call("write", json!({ "path": "src/a", "content": "new" })).expect("it may");
    assert_eq!(
        kind(call("write", json!({ "path": "top", "content": "" }))),
        ErrorKind::AccessDenied
    );
    assert_eq!(configured.content("src/a"), "new");
    assert_eq!(configured.content("docs/b"), "text");
    assert!(!configured.path("top").exists());
}

#[test]
fn what_is_not_allowed_is_not_offered() {
    let configured = Configured::new(
        &[],
        "[tools.coding]\ncomponent = \"coding.wasm\"\nallow = [\"read\"]\n",
    );
    let offers = configured.tools["coding"].offers(&configured.sandbox);
    let missing = |name: &str| {
        let offer = offers.iter().find(|offer| offer.tool.name == name);
        offer.expect("the tool").missing.clone()
    };
    assert_eq!(missing("glob"), []);
    assert_eq!(missing("write"), [Capability::Write]);
    let refused = configured.call("coding", "write", json!({ "path": "a", "content": "" }));
    assert!(
        matches!(refused, Err(CallError::NotOffered { .. })),
        "{refused:?}"
    );
}

#[test]
fn two_components_of_a_session_share_one_guard() {
    let configured = Configured::new(
        &[("a", "old\n"), ("b", "old\n")],
        r#"
[tools.reader]
component = "coding.wasm"
allow = ["read"]
[tools.writer]
component = "coding.wasm"
allow = ["read", "write"]
[tools.free]
component = "coding.wasm"
allow = ["read", "write"]
guard = false
"#,
    );
    let write = |tool: &str, path: &str| {
        configured.call(tool, "write", json!({ "path": path, "content": "new\n" }))
    };
    assert_eq!(kind(write("writer", "a")), ErrorKind::Stale);
    // Another spelling, by another tool of the session, is the same file.
    let read = configured.call("reader", "read", json!({ "path": "./x/..//a" }));
    assert_eq!(read.expect("it may"), "1\told\n");
    write("writer", "a").expect("it was read");
    write("writer", "a").expect("it was written by the session itself");
    // Somebody else's change ends that.
    fs::write(configured.path("a"), "other\n").expect("the file changes");
    assert_eq!(kind(write("writer", "a")), ErrorKind::Stale);
    assert_eq!(configured.content("a"), "other\n");
    // An application may do without.
    write("free", "b").expect("it is not guarded");
    assert_eq!(configured.content("b"), "new\n");
}

#[test]
fn who_has_seen_a_part_does_not_overwrite_the_whole() {
    let configured = Configured::new(
        &[("a", "one\ntwo\nthree\n")],
        "[tools.coding]\ncomponent = \"coding.wasm\"\nallow = [\"read\", \"write\"]\n",
    );
    let call = |name: &str, arguments: Value| configured.call("coding", name, arguments);
    let overwrite = || call("write", json!({ "path": "a", "content": "new\n" }));
    let part = call("read", json!({ "path": "a", "start_line": 1, "lines": 2 }));
    assert_eq!(
        part.expect("it may"),
        "1\tone\n2\ttwo\n[lines 1-2 of 3; go on with start_line 3]"
    );
    assert_eq!(kind(overwrite()), ErrorKind::Stale);
    assert_eq!(configured.content("a"), "one\ntwo\nthree\n");
    let rest = call("read", json!({ "path": "a", "start_line": 3 }));
    assert_eq!(rest.expect("it may"), "3\tthree\n[lines 3-3 of 3]");
    overwrite().expect("all of it was read");
    assert_eq!(configured.content("a"), "new\n");
}

#[test]
fn another_session_has_read_nothing() {
    let configured = Configured::new(
        &[("a", "old")],
        "[tools.coding]\ncomponent = \"coding.wasm\"\nallow = [\"read\", \"write\"]\n",
    );
    let read = configured.call("coding", "read", json!({ "path": "a" }));
    read.expect("it may");
    let config = Config::load(&configured.folder.path().join("belljar.toml"));
    let other = Sandbox::open_ambient(&config.expect("it is right"), OpenOptions::default());
    let write = configured.tools["coding"].call_blocking(
        &other.expect("it opens"),
        "write",
        r#"{"path": "a", "content": "new"}"#,
    );
    assert_eq!(kind(write.map(|answer| answer.text())), ErrorKind::Stale);
}
