//! Components in a real registry: pushed, pulled, pinned, signed, and used when it is gone.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use belljar_test_guests::{coding, component};
use belljar_tests::{RegistryServer, Signer, belljar_command};
use serde_json::Value;
use tempfile::TempDir;

/// A project with a registry of its own.
struct Project {
    folder: TempDir,
    registry: RegistryServer,
}

impl Project {
    fn new() -> Option<Self> {
        if !RegistryServer::is_here() {
            return None;
        }
        let project = Self {
            folder: tempfile::tempdir().expect("a folder"),
            registry: RegistryServer::start(),
        };
        project.put("coding.wasm", coding());
        project.put("echo.wasm", component("echo"));
        project.configure("");
        Some(project)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("it is written");
    }

    /// A configuration with a tool of the registry.
    fn configure(&self, registry: &str) {
        let text = format!(
            "version = 1\n[registry]\nplain-http = [{:?}]\n{registry}\n[tools.tool]\nreference = {:?}\n",
            self.registry.name(),
            self.reference()
        );
        self.put("belljar.toml", text);
    }

    fn reference(&self) -> String {
        format!("{}/ada/tool:1.0", self.registry.name())
    }

    fn belljar(&self, arguments: &[&str]) -> Output {
        Command::new(belljar_command())
            .args(arguments)
            .current_dir(&self.folder)
            .env("XDG_CACHE_HOME", self.path("cache"))
            // Nobody's credentials.
            .env("DOCKER_CONFIG", self.path("docker"))
            .output()
            .expect("it runs")
    }

    #[track_caller]
    fn works(&self, arguments: &[&str]) -> Value {
        let output = self.belljar(&[&["--json"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        serde_json::from_str(&said).expect("JSON")
    }

    #[track_caller]
    fn fails(&self, arguments: &[&str], code: i32) -> String {
        let output = self.belljar(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }

    fn push(&self, file: &str) -> Value {
        self.works(&["push", file, &self.reference()])
    }

    fn lock(&self) -> String {
        std::fs::read_to_string(self.path("belljar.lock")).unwrap_or_default()
    }
}

const ECHO: [&str; 4] = ["run", "tool", "run", r#"{"text": "hello"}"#];

#[test]
fn a_component_is_pinned_and_needs_no_registry_afterwards() {
    let Some(mut project) = Project::new() else {
        return;
    };
    let said = project.fails(&ECHO, 3);
    assert!(said.contains("belljar pull"), "{said}");
    project.push("echo.wasm");
    let pulled = project.works(&["pull"]);
    assert!(
        project
            .lock()
            .contains(pulled["digest"].as_str().expect("a digest"))
    );

    project.registry.stop();
    let answer = project.works(&ECHO);
    assert_eq!(answer["content"][0]["text"], "hello");
    // Nor does it when it is asked again: what is pinned is here.
    assert_eq!(project.works(&["pull"]), pulled);
    // A new one does, and what was pinned is as it was.
    let lock = project.lock();
    let said = project.fails(&["pull", "--update"], 9);
    assert!(said.contains(project.registry.name()), "{said}");
    assert_eq!(project.lock(), lock);
    project.works(&ECHO);
}

#[test]
fn a_tag_that_moved_is_followed_only_when_asked() {
    let Some(project) = Project::new() else {
        return;
    };
    project.push("echo.wasm");
    let first = project.works(&["pull"]);
    project.push("coding.wasm");
    assert_eq!(project.works(&["pull"]), first);
    // Also where it must be fetched again.
    std::fs::remove_dir_all(project.path("cache/belljar/components")).expect("it was there");
    let said = project.fails(&ECHO, 1);
    assert!(said.contains("belljar pull"), "{said}");
    assert_eq!(project.works(&["pull"]), first);
    project.works(&ECHO);
    assert_ne!(project.works(&["pull", "--update"]), first);
    project.fails(&ECHO, 2);
}

#[test]
fn what_is_not_trusted_is_neither_kept_nor_run() {
    let Some(project) = Project::new() else {
        return;
    };
    let (ada, eve) = (Signer::new(), Signer::new());
    let signed = |signer: &Signer, comment: &str| {
        let signature = project.path("signature");
        signer.sign(&project.path("echo.wasm"), comment, &signature);
        project.works(&[
            "push",
            "echo.wasm",
            &project.reference(),
            "--signature",
            "signature",
        ]);
    };
    let trusting = format!(
        "require-signature = true\n[registry.keys]\nada = {:?}",
        ada.key()
    );
    project.configure(&trusting);
    project.push("echo.wasm");
    project.fails(&["pull"], 4);
    signed(&eve, "file:echo.wasm");
    project.fails(&["pull"], 4);
    signed(&ada, "expires:1000000000");
    let said = project.fails(&["pull"], 4);
    assert!(said.contains("expired"), "{said}");
    assert_eq!(project.lock(), "");

    signed(&ada, "file:echo.wasm");
    assert_eq!(project.works(&["pull"])["signed"], true);
    project.works(&ECHO);
    // Who trusts another key from now on, trusts this no longer.
    project.configure(&trusting.replace(&ada.key(), &eve.key()));
    project.fails(&ECHO, 4);
    // A signature that is there must be good, though none is required.
    let known = trusting.replace("require-signature = true", "");
    project.configure(&known.replace(&ada.key(), &eve.key()));
    project.fails(&ECHO, 4);
    project.configure(&known);
    project.works(&ECHO);
}

#[test]
fn what_was_changed_is_noticed_wherever_it_lies() {
    let Some(project) = Project::new() else {
        return;
    };
    project.push("echo.wasm");
    let pulled = project.works(&["pull"]);
    let digest = pulled["digest"].as_str().expect("a digest");
    let digits = digest.strip_prefix("sha256:").expect("of this kind");
    let kept = project.path(&format!("cache/belljar/components/sha256-{digits}.wasm"));
    damage(&kept);
    let said = project.fails(&ECHO, 4);
    assert!(said.contains(digest), "{said}");
    // It is fetched anew.
    assert_eq!(project.works(&["pull"]), pulled);
    project.works(&ECHO);

    damage(&kept);
    damage(
        &project
            .registry
            .blobs()
            .join(&digits[..2])
            .join(digits)
            .join("data"),
    );
    project.fails(&["pull"], 4);
    project.fails(&ECHO, 4);
}

fn damage(file: &Path) {
    let mut bytes = std::fs::read(file).expect("it is there");
    let last = bytes.last_mut().expect("it has some");
    *last ^= 1;
    std::fs::write(file, bytes).expect("it is written");
}

#[test]
fn one_is_fetched_into_a_file() {
    let Some(project) = Project::new() else {
        return;
    };
    project.push("coding.wasm");
    let pulled = project.works(&["pull", &project.reference()]);
    assert_eq!(pulled["file"], "tool.wasm");
    let bytes = std::fs::read(project.path("tool.wasm")).expect("it is there");
    assert!(bytes == coding());
    // What is there is not written over.
    project.fails(&["pull", &project.reference()], 2);
    let missing = format!("{}/ada/nothing:1", project.registry.name());
    let said = project.fails(&["pull", &missing], 1);
    assert!(said.contains(&missing), "{said}");
}

#[test]
fn what_would_not_load_is_not_pushed() {
    let Some(project) = Project::new() else {
        return;
    };
    project.put("not.wasm", "not a component");
    project.fails(&["push", "not.wasm", &project.reference()], 4);
    project.fails(&["pull"], 1);
    project.fails(&["push", "echo.wasm", "nowhere"], 2);
}
