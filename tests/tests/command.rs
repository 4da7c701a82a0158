//! The `belljar` command with components: `run`, `tools`, `inspect`, and what each kind of end is.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

use belljar_test_guests::{coding, component};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The command: where the build task says, or beside this test.
fn belljar() -> PathBuf {
    let named = std::env::var_os("BELLJAR_BIN").map(PathBuf::from);
    let path = named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        test.ancestors()
            .nth(2)
            .expect("cargo's target folder")
            .join("belljar")
    });
    assert!(
        path.is_file(),
        "{} is not there; build it with `cargo build --package belljar`",
        path.display()
    );
    path
}

/// A folder with components, a workspace and configurations.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a temporary folder"));
        std::fs::create_dir(folder.path("work")).expect("a workspace");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("a file is written");
    }

    fn guest(self, name: &str) -> Self {
        self.put(&format!("{name}.wasm"), component(name));
        self
    }

    fn coding(self, table: &str) -> Self {
        self.put("coding.wasm", coding());
        let text = format!(
            "version = 1\n[sandbox]\nworkspace = \"work\"\n[tools.coding]\ncomponent = \"coding.wasm\"\n{table}\n"
        );
        self.put("belljar.toml", text);
        self
    }

    /// Runs the command here, its cache here too.
    fn belljar(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new(belljar())
            .args(arguments)
            .current_dir(self.0.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input).expect("the input is taken");
        drop(stdin);
        child.wait_with_output().expect("the command ends")
    }

    fn code(&self, arguments: &[&str]) -> Option<i32> {
        self.belljar(arguments, b"").status.code()
    }

    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let output = self.belljar(arguments, b"");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.belljar(&[&["--json"], arguments].concat(), b"");
        serde_json::from_slice(&output.stdout).expect("one JSON value")
    }
}

#[test]
fn an_answer_is_text_or_json() {
    let folder = Folder::new().guest("echo");
    let run = ["run", "echo.wasm", "run", r#"{"text": "hello"}"#];
    assert_eq!(folder.text(&run), "hello\n");
    assert_eq!(
        folder.json(&run),
        json!({ "content": [{ "text": "hello" }], "structured": null })
    );
}

#[test]
fn arguments_come_from_standard_input() {
    let folder = Folder::new().guest("echo");
    let output = folder.belljar(&["run", "echo.wasm", "run", "-"], br#"{"text": "piped"}"#);
    assert_eq!(output.stdout, b"piped\n");
}

#[test]
fn several_calls_share_a_session_and_the_guard() {
    let folder = Folder::new().coding("allow = [\"read\", \"write\"]");
    folder.put("work/a", "old");
    let write = ["write", r#"{"path": "a", "content": "new"}"#];
    let alone = folder.json(&[&["run", "coding"][..], &write].concat());
    assert_eq!(alone["error"]["contract-kind"], "stale");
    assert!(
        alone["error"]["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("--no-guard"))
    );
    assert_eq!(
        std::fs::read(folder.path("work/a")).expect("the file"),
        b"old"
    );
    let read = ["read", r#"{"path": "a"}"#];
    folder.text(&[&["run", "coding"][..], &read, &write].concat());
    assert_eq!(
        std::fs::read(folder.path("work/a")).expect("the file"),
        b"new"
    );
    folder.put("work/a", "other");
    folder.text(&[&["run", "--no-guard", "coding"][..], &write].concat());
    assert_eq!(
        std::fs::read(folder.path("work/a")).expect("the file"),
        b"new"
    );
}

#[test]
fn a_policy_holds_however_the_component_is_named() {
    let folder = Folder::new().coding("allow = [\"read\"]");
    let write = ["write", r#"{"path": "a", "content": "new"}"#];
    for name in ["coding", "coding.wasm", "./work/../coding.wasm"] {
        let refused = folder.belljar(&[&["run", name][..], &write].concat(), b"");
        assert_eq!(refused.status.code(), Some(8), "{name}");
    }
    assert!(!folder.path("work/a").exists());
}

#[test]
fn each_end_has_its_code() {
    let folder = Folder::new()
        .guest("echo")
        .guest("panic_on_a")
        .guest("endless_loop");
    let run = |component: &str, tool: &str, arguments: &str| {
        folder.code(&["run", component, tool, arguments])
    };
    assert_eq!(run("echo.wasm", "nope", "{}"), Some(2));
    assert_eq!(run("echo.wasm", "run", "not JSON"), Some(2));
    assert_eq!(run("echo.wasm", "run", r#"{"text": 1}"#), Some(2));
    assert_eq!(run("missing.wasm", "run", "{}"), Some(4));
    assert_eq!(run("panic_on_a.wasm", "run", r#"{"text": "a"}"#), Some(6));
    folder.put(
        "short.toml",
        "version = 1\n[limits]\ncall-timeout = \"100ms\"\n",
    );
    assert_eq!(
        folder.code(&["run", "--config", "short.toml", "endless_loop.wasm", "run"]),
        Some(5)
    );
    folder.put("bad.toml", "version = 2\n");
    assert_eq!(
        folder.code(&["run", "--config", "bad.toml", "echo.wasm", "run"]),
        Some(3)
    );
    folder.put(
        "gone.toml",
        "version = 1\n[sandbox]\nworkspace = \"gone\"\n",
    );
    let gone = [
        "run",
        "--config",
        "gone.toml",
        "echo.wasm",
        "run",
        r#"{"text": ""}"#,
    ];
    assert_eq!(folder.code(&gone), Some(7));
}

#[test]
fn arguments_that_do_not_fit_name_the_field() {
    let folder = Folder::new().guest("echo");
    let refused = folder.json(&["run", "echo.wasm", "run", r#"{"text": 1}"#]);
    assert_eq!(refused["error"]["kind"], "usage");
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|message| message.contains("/text"))
    );
}

#[test]
fn a_crash_has_the_tools_own_words() {
    let folder = Folder::new().guest("panic_on_a");
    let crashed = folder.json(&["run", "panic_on_a.wasm", "run", r#"{"text": "a"}"#]);
    assert_eq!(crashed["error"]["kind"], "crashed");
    assert!(
        crashed["error"]["message"]
            .as_str()
            .is_some_and(|message| message.contains("cannot stand an a"))
    );
}

#[test]
fn inspect_shows_imports_and_tools() {
    let folder = Folder::new().guest("echo");
    let inspected = folder.json(&["inspect", "echo.wasm"]);
    assert_eq!(
        (&inspected["loads"], &inspected["contract-version"]),
        (&json!(true), &json!("0.1.0"))
    );
    let imports = inspected["imports"].as_array().expect("imports");
    assert!(imports.iter().all(|import| import["contract"] == true));
    let tool = &inspected["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["read-only"]),
        (&json!("run"), &json!(true))
    );
    assert_eq!(tool["input-schema"]["properties"]["text"]["type"], "string");
}

#[test]
fn what_is_no_tool_is_refused_and_shown_with_its_reason() {
    for (guest, part) in [
        ("core_module", "core module"),
        ("empty", "empty"),
        ("not_wasm", "not WebAssembly"),
        ("corrupt", "malformed"),
        ("import_unknown", "imports"),
        ("import_wasi_sockets", "wasi:sockets"),
        ("no_tools", "another world"),
        ("older_version", "version"),
        ("newer_version", "version"),
    ] {
        let folder = Folder::new().guest(guest);
        let file = format!("{guest}.wasm");
        assert_eq!(folder.code(&["inspect", &file]), Some(4), "{guest}");
        let inspected = folder.json(&["inspect", &file]);
        let reason = inspected["refused"][0].as_str().expect("a reason");
        assert!(reason.contains(part), "{guest}: {reason}");
        assert_eq!(
            folder.code(&["run", &file, "run", "{}"]),
            Some(4),
            "{guest}"
        );
    }
}

#[test]
fn a_configured_component_that_is_not_there_is_told_with_its_table() {
    let folder = Folder::new().coding("allow = [\"read\"]");
    std::fs::remove_file(folder.path("coding.wasm")).expect("it goes away");
    let run = ["run", "coding", "list", "{}"];
    assert_eq!(folder.code(&run), Some(4));
    assert_eq!(folder.code(&["tools"]), Some(4));
    let told = folder.json(&run)["error"].clone();
    for (part, text) in [("message", "coding.wasm"), ("hint", "[tools.coding]")] {
        assert!(
            told[part].as_str().is_some_and(|said| said.contains(text)),
            "{told}"
        );
    }
}

#[test]
fn forbidden_imports_are_named() {
    let folder = Folder::new().guest("import_wasi_filesystem");
    let inspected = folder.json(&["inspect", "import_wasi_filesystem.wasm"]);
    let forbidden = inspected["forbidden"].as_array().expect("a list");
    let is_filesystem = |name: &Value| {
        name.as_str()
            .is_some_and(|name| name.starts_with("wasi:filesystem/"))
    };
    assert!(forbidden.iter().any(is_filesystem), "{forbidden:?}");
}

#[test]
fn tools_says_what_is_offered_and_why_the_rest_is_not() {
    let folder = Folder::new().coding("allow = [\"read\"]");
    let listed = folder.json(&["tools"]);
    let tool = |name: &str| {
        let tools = listed["tools"].as_array().expect("tools");
        tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("the tool")
            .clone()
    };
    assert_eq!(tool("read")["offered"], true);
    assert_eq!(
        (&tool("write")["offered"], &tool("write")["missing"][0]),
        (&json!(false), &json!("write"))
    );
    assert_eq!(tool("run")["missing"][0], "run");
}

#[test]
fn a_cache_that_cannot_be_used_stops_nothing() {
    let folder = Folder::new().guest("echo");
    let run = ["run", "echo.wasm", "run", r#"{"text": "hello"}"#];
    assert_eq!(folder.text(&run), "hello\n");
    let compiled = folder.path("cache/belljar/compiled");
    let entries: Vec<PathBuf> = std::fs::read_dir(&compiled)
        .expect("the cache")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert_eq!(entries.len(), 2, "the code and the tools of one component");
    // Cut in half, empty, and of another kind.
    for file in &entries {
        let whole = std::fs::read(file).expect("a file of the entry");
        for damaged in [&whole[..whole.len() / 2], b"", b"\x7fELF"] {
            std::fs::write(file, damaged).expect("the entry is damaged");
            assert_eq!(folder.text(&run), "hello\n");
        }
    }
    // A file where the folder should be.
    std::fs::remove_dir_all(&compiled).expect("the cache is removed");
    folder.put("cache/belljar/compiled", "");
    assert_eq!(folder.text(&run), "hello\n");
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new().guest("echo");
    let compiled = folder.path("cache/belljar/compiled");
    std::fs::create_dir_all(&compiled).expect("the cache");
    std::fs::set_permissions(&compiled, std::fs::Permissions::from_mode(0o777)).expect("its mode");
    assert_eq!(
        folder.text(&["run", "echo.wasm", "run", r#"{"text": "hello"}"#]),
        "hello\n"
    );
    assert_eq!(std::fs::read_dir(&compiled).expect("the cache").count(), 0);
}

#[test]
fn a_run_is_recorded_and_replayed() {
    let folder = Folder::new()
        .coding("allow = [\"read\", \"write\"]")
        .guest("echo");
    folder.put("work/a", "kept\n");
    let read = ["read", r#"{"path": "a"}"#];
    let run = [&["run", "--record", "recording", "coding"][..], &read].concat();
    assert_eq!(folder.text(&run), "1\tkept\n");
    // What is there is not written over.
    assert_eq!(folder.code(&run), Some(2));
    let mode = std::fs::metadata(folder.path("recording")).expect("it is there");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777,
        0o600
    );

    // The workspace is not looked at.
    folder.put("work/a", "changed");
    let replay = ["replay", "recording", "coding"];
    assert_eq!(folder.json(&replay), json!({ "calls": 1, "same": true }));
    let other = folder.belljar(&["replay", "recording", "echo.wasm"], b"");
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("call 1 (read)"));
    assert_eq!(folder.code(&["replay", "belljar.toml", "coding"]), Some(2));
}
