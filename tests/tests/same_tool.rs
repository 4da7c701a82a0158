//! The same component, the same calls, another backend: the answers are the same, and where there are
//! processes the component runs them.

use belljar::{
    CallError, Capability, Host, HostOptions, Sandbox, Tool, WasiMode,
    backends::{ContainerEngine, EngineEnvironment, LocalOptions, RemoteOptions, VirtualOptions},
};
use belljar_contract::{Context, blocking::block_on};
use belljar_tests::{
    BUSYBOX, KubernetesPlace, LentSandboxes, SandboxServer, SandboxServerOptions, SshServer,
    container_options, has_engine, static_resident,
};
use tempfile::TempDir;

fn coding() -> Tool {
    let host = Host::new(HostOptions::default()).expect("the engine starts");
    host.load(&belljar_test_guests::coding(), WasiMode::Deny)
        .expect("the standard tools load")
}

fn on_virtual() -> Sandbox {
    Sandbox::new(VirtualOptions::default().open_ambient().expect("it opens"))
}

fn on_local() -> Sandbox {
    let options = LocalOptions {
        allow_host_processes: true,
        ..LocalOptions::default()
    };
    Sandbox::new(options.open_ambient().expect("it opens"))
}

/// What `ssh` reaches, with a workspace there. The server lasts until the sandbox is closed.
fn on_ssh(server: &SshServer, workspace: &TempDir) -> Sandbox {
    let resident = static_resident().display().to_string();
    let root = workspace.path().to_str().expect("UTF-8");
    let options = RemoteOptions {
        program_environment: EngineEnvironment::from_variables(std::env::vars_os()),
        ..RemoteOptions::new(server.ssh(&[], &[&resident, "stdio"]), root)
    };
    Sandbox::new(options.open_ambient().expect("it opens"))
}

/// What a server lends, by the component for it. The server lasts until the sandbox is closed.
fn on_component(server: &SandboxServer) -> Sandbox {
    let lent = LentSandboxes::by(&belljar_test_guests::shim("serve_sandbox"));
    lent.open(server).expect("it opens")
}

/// A Pod, with a volume for a workspace. The place lasts until the sandbox is closed.
fn on_kubernetes(place: &KubernetesPlace) -> Sandbox {
    Sandbox::new(place.options().open_ambient().expect("it opens"))
}

/// A container of each engine that is here, with scratch for a workspace.
fn on_containers() -> Vec<Sandbox> {
    let engines = [ContainerEngine::Docker, ContainerEngine::Podman];
    let here = engines
        .into_iter()
        .filter(|engine| has_engine(*engine, BUSYBOX));
    let open = |engine| {
        container_options(engine, BUSYBOX)
            .open_ambient()
            .expect("it opens")
    };
    here.map(open).map(Sandbox::new).collect()
}

fn close(sandboxes: Vec<Sandbox>) {
    for sandbox in sandboxes {
        let closed = block_on(&Context::new(), sandbox.close());
        closed.expect("nobody cancels").expect("it closes");
    }
}

/// What a tool answered, or how it failed.
fn call(tool: &Tool, sandbox: &Sandbox, name: &str, arguments: &str) -> String {
    match tool.call_blocking(sandbox, name, arguments) {
        Ok(answer) => answer.text(),
        Err(error) => format!("{error:?}"),
    }
}

#[test]
fn files_are_the_same_on_each_backend() {
    let tool = coding();
    let calls = [
        (
            "write",
            r#"{"path": "src/a.rs", "content": "fn main() {\n    old();\n}\n"}"#,
        ),
        (
            "write",
            r#"{"path": "src/b.rs", "content": "fn old() {}\n"}"#,
        ),
        ("read", r#"{"path": "src/a.rs"}"#),
        (
            "edit",
            r#"{"path": "src/a.rs", "edits": [{"old": "old()", "new": "new()"}]}"#,
        ),
        (
            "edit",
            r#"{"path": "src/a.rs", "edits": [{"old": "absent", "new": "x"}]}"#,
        ),
        ("search", r#"{"pattern": "fn \\w+", "include": ["*.rs"]}"#),
        ("glob", r#"{"pattern": "**/*.rs"}"#),
        ("list", r#"{"path": "src"}"#),
        ("tree", "{}"),
        ("move", r#"{"source": "src/b.rs", "target": "lib/b.rs"}"#),
        ("remove", r#"{"path": "lib", "recursive": true}"#),
        ("read", r#"{"path": "lib/b.rs"}"#),
        ("read", r#"{"path": "../outside"}"#),
    ];
    let one = on_virtual();
    let mut others = on_containers();
    others.push(on_local());
    let (server, workspace) = (SshServer::start(), tempfile::tempdir().expect("a folder"));
    others.extend(server.as_ref().map(|server| on_ssh(server, &workspace)));
    let lending = SandboxServer::start(&SandboxServerOptions::local());
    others.push(on_component(&lending));
    let place = KubernetesPlace::make();
    others.extend(place.as_ref().map(on_kubernetes));
    for (name, arguments) in calls {
        let answer = call(&tool, &one, name, arguments);
        for other in &others {
            assert_eq!(
                answer,
                call(&tool, other, name, arguments),
                "{name} {arguments} on {}",
                other.describe().backend
            );
        }
    }
    close(others);
    // They did what they say, and not the same nothing.
    assert!(call(&tool, &one, "read", r#"{"path": "src/a.rs"}"#).contains("new();"));
}

#[test]
fn processes_run_where_there_are_some() {
    let tool = coding();
    let mut sandboxes = on_containers();
    sandboxes.push(on_local());
    let (server, workspace) = (SshServer::start(), tempfile::tempdir().expect("a folder"));
    sandboxes.extend(server.as_ref().map(|server| on_ssh(server, &workspace)));
    let lending = SandboxServer::start(&SandboxServerOptions::local());
    sandboxes.push(on_component(&lending));
    let place = KubernetesPlace::make();
    sandboxes.extend(place.as_ref().map(on_kubernetes));
    for sandbox in &sandboxes {
        let call = |name, arguments| call(&tool, sandbox, name, arguments);
        call(
            "write",
            r#"{"path": "a.txt", "content": "written by a tool\n"}"#,
        );
        let run = call("run", r#"{"argv": ["cat", "a.txt"]}"#);
        assert!(run.contains("written by a tool"), "{run}");
        let shell = call(
            "shell",
            r#"{"command": "tr a-z A-Z < a.txt > b.txt; exit 3"}"#,
        );
        assert!(shell.starts_with("exit code 3 ("), "{shell}");
        let read = call("read", r#"{"path": "b.txt"}"#);
        assert!(read.contains("WRITTEN BY A TOOL"), "{read}");
    }
    close(sandboxes);
    for (name, arguments) in [
        ("run", r#"{"argv": ["true"]}"#),
        ("shell", r#"{"command": "true"}"#),
    ] {
        assert!(matches!(
            tool.call_blocking(&on_virtual(), name, arguments),
            Err(CallError::NotOffered { missing, .. }) if missing == [Capability::Run]
        ));
    }
}
