//! The component as a host sees it.

use belljar_guest::{
    CallError, ErrorKind,
    processes::Command,
    session::Capability,
    testing::{MemorySandbox, exited, with_sandbox},
};

use crate::TOOLS;

fn call(
    memory: &MemorySandbox,
    name: &str,
    arguments: serde_json::Value,
) -> Result<String, CallError> {
    with_sandbox(memory, || TOOLS.call(name, &arguments.to_string())).map(|answer| answer.text())
}

#[test]
fn every_tool_is_described() {
    let described = TOOLS.describe();
    let names: Vec<&str> = described.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "read", "write", "edit", "list", "tree", "glob", "search", "stat", "move", "remove",
            "run", "shell"
        ]
    );
    for tool in &described {
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(
            tool.input_schema["additionalProperties"], false,
            "{}",
            tool.name
        );
        let properties = tool.input_schema["properties"].as_object().unwrap();
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{}.{name}", tool.name);
        }
        let runs = matches!(tool.name.as_str(), "run" | "shell");
        assert_eq!(tool.needs.contains(&Capability::Run), runs, "{}", tool.name);
        assert!(tool.read_only != tool.destructive, "{}", tool.name);
    }
}

#[test]
fn arguments_that_do_not_fit_name_the_field() {
    let memory = MemorySandbox::new();
    let wrong = call(
        &memory,
        "edit",
        serde_json::json!({ "path": "a", "edits": [{ "old": 1 }] }),
    );
    match wrong {
        Err(CallError::InvalidArguments(message)) => {
            assert!(message.starts_with("edits[0].old: "), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_gets_what_the_call_says() {
    let memory = MemorySandbox::new().directory("sub").on_run(|launch| {
        assert_eq!(launch.directory.as_str(), "sub");
        assert_eq!(launch.environment, [("A".to_owned(), "b".to_owned())]);
        assert_eq!(launch.stdin, b"in");
        assert_eq!(launch.timeout.map(|limit| limit.as_secs()), Some(7));
        assert_eq!(launch.output_limit, 30_000);
        let text = match &launch.command {
            Command::Argv(argv) => argv.join("|"),
            Command::Shell(text) => text.clone(),
        };
        Ok(exited(1).with_stdout(text))
    });
    for (tool, key, value) in [
        ("run", "argv", serde_json::json!(["a b", "c"])),
        ("shell", "command", serde_json::json!("a b|c")),
    ] {
        let mut arguments = serde_json::json!({
            "directory": "sub",
            "environment": { "A": "b" },
            "stdin": "in",
            "timeout_seconds": 7,
        });
        arguments[key] = value;
        let text = call(&memory, tool, arguments).unwrap();
        assert_eq!(text, "exit code 1 (0.0 s)\nstdout:\na b|c");
    }
}

#[test]
fn without_processes_a_program_is_a_failure_that_says_so() {
    let memory = MemorySandbox::new();
    let failed = call(&memory, "run", serde_json::json!({ "argv": ["true"] }));
    match failed {
        Err(CallError::Failed(error)) => assert_eq!(error.kind, Some(ErrorKind::Unsupported)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_path_that_leaves_is_denied() {
    let memory = MemorySandbox::new();
    for path in ["../x", "/etc/passwd"] {
        let failed = call(&memory, "read", serde_json::json!({ "path": path }));
        match failed {
            Err(CallError::Failed(error)) => assert_eq!(error.kind, Some(ErrorKind::AccessDenied)),
            other => panic!("{other:?}"),
        }
    }
}
