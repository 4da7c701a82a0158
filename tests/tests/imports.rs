//! What a component may import: the contract, and WASI only where it is granted, as stubs in a
//! world in which there is nothing.

#![expect(clippy::disallowed_methods, reason = "a test measures time")]

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use belljar::{
    CallError, CallLimits, Host, HostOptions, LimitKind, LoadError, Sandbox, Tool, WasiMode,
    backends::VirtualOptions,
};
use belljar_test_guests::{coding, component};

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let options = HostOptions {
        concurrent_calls: 4,
        ..HostOptions::default()
    };
    Host::new(options).expect("the engine starts")
});

/// A component that counts what WASI gives it: directories, environment variables, arguments.
fn counting_what_wasi_gives() -> Vec<u8> {
    const MEMORY: &str = include_str!("../guests/wat/include/memory.wat");
    const TOOLS: &str = include_str!("../guests/wat/include/tools.wat");
    let text = format!(
        r#"(component
  (import "wasi:filesystem/types@0.2.0" (instance $types
    (export "descriptor" (type (sub resource)))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $outer))
    (export "descriptor" (type $descriptor (eq $outer)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))
    (export "get-arguments" (func (result (list string))))))
{MEMORY}
  (alias export $preopens "get-directories" (func $get-directories))
  (alias export $environment "get-environment" (func $get-environment))
  (alias export $environment "get-arguments" (func $get-arguments))
  (core func $directories
    (canon lower (func $get-directories) (memory $memory) (realloc $realloc)))
  (core func $variables
    (canon lower (func $get-environment) (memory $memory) (realloc $realloc)))
  (core func $arguments
    (canon lower (func $get-arguments) (memory $memory) (realloc $realloc)))
  (core module $counting
    (import "wasi" "directories" (func $directories (param i32)))
    (import "wasi" "variables" (func $variables (param i32)))
    (import "wasi" "arguments" (func $arguments (param i32)))
    (import "described" "memory" (memory 1))
    ;; result<answer, call-error>: ok; one content, at 640; no structured value.
    (data (i32.const 600)
      "\00\00\00\00" "\80\02\00\00\01\00\00\00" "\00\00\00\00\00\00\00\00\00\00\00\00")
    ;; content: text, 3 bytes at 700.
    (data (i32.const 640)
      "\00\00\00\00" "\bc\02\00\00\03\00\00\00" "\00\00\00\00\00\00\00\00")
    ;; The length of the list at $list, as a digit at $digit.
    (func $count (param $list i32) (param $digit i32)
      (i32.store8 (local.get $digit)
        (i32.add (i32.const 48) (i32.load offset=4 (local.get $list)))))
    (func (export "call") (param i32 i32 i32 i32) (result i32)
      (call $directories (i32.const 512))
      (call $variables (i32.const 520))
      (call $arguments (i32.const 528))
      (call $count (i32.const 512) (i32.const 700))
      (call $count (i32.const 520) (i32.const 701))
      (call $count (i32.const 528) (i32.const 702))
      (i32.const 600)))
  (core instance $code (instantiate $counting
    (with "wasi" (instance
      (export "directories" (func $directories))
      (export "variables" (func $variables))
      (export "arguments" (func $arguments))))
    (with "described" (instance $described))))
{TOOLS}
)"#
    );
    wat::parse_str(text).expect("it assembles")
}

/// A component that waits an hour inside WASI: in `block`, or in `poll`.
fn waiting_in_wasi(poll: bool) -> Vec<u8> {
    const MEMORY: &str = include_str!("../guests/wat/include/memory.wat");
    const TOOLS: &str = include_str!("../guests/wat/include/tools.wat");
    let how = if poll { "$poll" } else { "$block" };
    let text = format!(
        r#"(component
  (import "wasi:io/poll@0.2.0" (instance $io
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))
    (export "poll" (func (param "in" (list (borrow $pollable))) (result (list u32))))))
  (alias export $io "pollable" (type $pollable))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock
    (alias outer 1 $pollable (type $outer))
    (export "pollable" (type $pollable (eq $outer)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
{MEMORY}
  (alias export $io "[method]pollable.block" (func $block))
  (alias export $io "poll" (func $poll))
  (alias export $clock "subscribe-duration" (func $subscribe))
  (core func $subscribe (canon lower (func $subscribe)))
  (core func $block (canon lower (func $block)))
  (core func $poll (canon lower (func $poll) (memory $memory) (realloc $realloc)))
  (core module $waiting
    (import "wasi" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "wasi" "block" (func $one (param i32)))
    (import "wasi" "poll" (func $several (param i32 i32 i32)))
    (import "described" "memory" (memory 1))
    (func $block (call $one (call $subscribe (i64.const 3600000000000))))
    (func $poll
      (i32.store (i32.const 512) (call $subscribe (i64.const 3600000000000)))
      (call $several (i32.const 512) (i32.const 1) (i32.const 520)))
    (func (export "call") (param i32 i32 i32 i32) (result i32)
      (call {how})
      unreachable))
  (core instance $code (instantiate $waiting
    (with "wasi" (instance
      (export "subscribe" (func $subscribe))
      (export "block" (func $block))
      (export "poll" (func $poll))))
    (with "described" (instance $described))))
{TOOLS}
)"#
    );
    wat::parse_str(text).expect("it assembles")
}

fn names(tool: &Tool) -> Vec<&str> {
    let imports = tool.imports().iter();
    imports.map(|import| import.name.as_str()).collect()
}

fn run(tool: &Tool) -> Result<String, CallError> {
    let workspace = VirtualOptions::default().open_ambient();
    let sandbox = Sandbox::new(workspace.expect("a temporary workspace"));
    let answer = tool.call_blocking(&sandbox, "run", "{}");
    answer.map(|answer| answer.text())
}

#[test]
fn what_the_sdk_builds_imports_the_contract_alone() {
    let guests = ["echo", "contract_tour", "panic_on_a", "figures"].map(component);
    for bytes in guests.into_iter().chain([coding()]) {
        let tool = HOST.load(&bytes, WasiMode::Deny).expect("it loads");
        assert!(!tool.imports().is_empty());
        for import in tool.imports() {
            assert!(import.contract, "{}", import.name);
            assert!(
                import.name.starts_with("belljar:sandbox/") && import.name.ends_with("@0.1.0"),
                "{}",
                import.name
            );
        }
    }
}

#[test]
fn wasi_that_is_not_granted_is_refused_by_name() {
    match HOST.load(&counting_what_wasi_gives(), WasiMode::Deny) {
        Err(LoadError::ForbiddenImports { names }) => assert_eq!(
            names,
            [
                "wasi:filesystem/types@0.2.0",
                "wasi:filesystem/preopens@0.2.0",
                "wasi:cli/environment@0.2.0"
            ]
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn in_inert_wasi_there_is_nothing() {
    let tool = HOST.load(&counting_what_wasi_gives(), WasiMode::Inert);
    let tool = tool.expect("it loads");
    assert!(tool.imports().iter().all(|import| !import.contract));
    assert_eq!(run(&tool).expect("it answers"), "000");
}

#[test]
fn inert_wasi_is_listed() {
    for (guest, prefix) in [
        ("import_wasi_filesystem", "wasi:filesystem/"),
        ("import_wasi_sockets", "wasi:sockets/"),
    ] {
        let tool = HOST.load(&component(guest), WasiMode::Inert);
        let tool = tool.expect("it loads");
        let names = names(&tool);
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(
            names.iter().all(|name| name.starts_with(prefix)),
            "{names:?}"
        );
    }
}

#[test]
fn what_inert_wasi_does_not_have_is_refused() {
    let unknown = wat::parse_str(
        r#"(component
  (import "wasi:keyvalue/store@0.2.0" (instance (export "open" (func))))
  (instance (export "belljar:sandbox/tools@0.1.0")))"#,
    );
    let refused = HOST.load(&unknown.expect("it assembles"), WasiMode::Inert);
    assert!(
        matches!(refused, Err(LoadError::Mismatch { .. })),
        "{refused:?}"
    );
}

#[test]
fn waiting_in_inert_wasi_ends_with_the_call() {
    for poll in [false, true] {
        let tool = HOST.load(&waiting_in_wasi(poll), WasiMode::Inert);
        let tool = tool.expect("it loads").with_limits(CallLimits {
            timeout: Duration::from_millis(300),
            ..CallLimits::default()
        });
        let start = Instant::now();
        let ended = run(&tool);
        let took = start.elapsed();
        assert!(
            matches!(ended, Err(CallError::Limit(LimitKind::Time))),
            "{ended:?}"
        );
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}
