//! What is a program, and what is refused.

use belljar::{OpenOptions, ProgramError, Sandbox, backends::OpenError, config::Loader};

use crate::{host, made_up};

fn refused(bytes: &[u8]) -> ProgramError {
    host().load_program(bytes).expect_err("it is refused")
}

fn text(wat: &str) -> Vec<u8> {
    wat::parse_str(wat).expect("the text is WebAssembly")
}

#[test]
fn what_is_no_program_is_refused_by_its_reason() {
    assert!(matches!(refused(b""), ProgramError::NotWasm));
    assert!(matches!(refused(b"#!/bin/sh\n"), ProgramError::NotWasm));
    assert!(matches!(
        refused(b"\0asm\x01\0\0"),
        ProgramError::Malformed(_)
    ));
    assert!(matches!(
        refused(&text("(module)")),
        ProgramError::NotACommand
    ));
    let tool = belljar_test_guests::component("echo");
    assert!(matches!(refused(&tool), ProgramError::NotACommand));
    let cut = &made_up::copy()[..100];
    assert!(matches!(refused(cut), ProgramError::Malformed(_)));
}

#[test]
fn more_than_a_command_lines_wasi_is_refused_by_name() {
    let foreign = text(r#"(module (import "env" "system" (func)) (func (export "_start")))"#);
    match refused(&foreign) {
        ProgramError::ForbiddenImports { names } => assert_eq!(names, ["env/system"]),
        other => panic!("{other}"),
    }
    let http = text(
        r#"(component
            (import "wasi:http/outgoing-handler@0.2.0" (instance))
            (component $c)
            (instance $e (instantiate $c))
            (export "wasi:cli/run@0.2.0" (instance $e)))"#,
    );
    match refused(&http) {
        ProgramError::ForbiddenImports { names } => {
            assert_eq!(names, ["wasi:http/outgoing-handler@0.2.0"]);
        }
        other => panic!("{other}"),
    }
    let unknown = text(
        r#"(module (import "wasi_snapshot_preview1" "fork" (func)) (func (export "_start")))"#,
    );
    assert!(matches!(refused(&unknown), ProgramError::Mismatch { .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_names_programs() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(folder.path().join("it.wasm"), made_up::exit(5)).expect("a file");
    let file = folder.path().join("belljar.toml");
    let write = |programs: &str| {
        let text = format!("version = 1\n[sandbox.virtual.programs]\n{programs}\n");
        std::fs::write(&file, text).expect("a file");
        Loader::new().load(&file)
    };
    let config = write("it = \"it.wasm\"\nsame = \"it.wasm\"").expect("it is right");
    let sandbox = Sandbox::open_ambient(&config, OpenOptions::default()).expect("it opens");
    for name in ["it", "same"] {
        let command = belljar::Command::Argv(vec![name.into()]);
        let ended = sandbox.run(command, belljar::RunOptions::default()).await;
        let ended = ended.expect("the program starts");
        assert_eq!(ended.outcome, belljar::processes::Outcome::Exited(5));
    }
    let config = write("it = \"nothing.wasm\"").expect("it is right so far");
    let refused = Sandbox::open_ambient(&config, OpenOptions::default());
    assert!(matches!(refused, Err(OpenError::Program { name, .. }) if name == "it"));
    for wrong in [
        "sh = \"it.wasm\"",
        "\"a b\" = \"it.wasm\"",
        "it = \"\"",
        "it = 1",
    ] {
        assert!(write(wrong).is_err(), "{wrong}");
    }
}
