//! What the host does with each guest, good and bad: a test for each, of the guest's name.

#![expect(
    clippy::disallowed_methods,
    reason = "a test measures time, and looks at its own process"
)]

use std::{
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use belljar::{
    CallError, CallLimits, Capability, ErrorKind, Host, HostOptions, LimitKind, LoadError,
    Progress, Sandbox, Tool, WasiMode,
    backends::{LocalOptions, VirtualOptions},
};
use belljar_test_guests::component;

macro_rules! assert_test_exists {
    ($name:ident) => {
        #[expect(unused_imports, reason = "naming it is the proof that it is there")]
        use self::$name as _;
    };
}
belljar_test_guests::for_each_guest!(assert_test_exists);

static HOST: LazyLock<Host> = LazyLock::new(|| {
    let options = HostOptions {
        concurrent_calls: 16,
        ..HostOptions::default()
    };
    Host::new(options).expect("the engine starts")
});

fn load(name: &str) -> Result<Tool, LoadError> {
    HOST.load(&component(name), WasiMode::Deny)
}

fn tool(name: &str) -> Tool {
    load(name).expect("the guest loads")
}

fn files() -> Sandbox {
    Sandbox::new(
        VirtualOptions::default()
            .open_ambient()
            .expect("a temporary workspace"),
    )
}

fn processes() -> Sandbox {
    let options = LocalOptions {
        allow_host_processes: true,
        ..LocalOptions::default()
    };
    Sandbox::new(options.open_ambient().expect("a temporary workspace"))
}

fn limits(timeout: u64) -> CallLimits {
    CallLimits {
        timeout: Duration::from_millis(timeout),
        ..CallLimits::default()
    }
}

/// Calls the one tool of a guest, whatever its arguments.
fn run(tool: &Tool, sandbox: &Sandbox) -> Result<String, CallError> {
    tool.call_blocking(sandbox, "run", "{}")
        .map(|answer| answer.text())
}

fn ended_by(result: Result<String, CallError>) -> LimitKind {
    match result {
        Err(CallError::Limit(kind)) => kind,
        other => panic!("not ended by a limit: {other:?}"),
    }
}

/// After whatever happened, the host and the session still serve a good tool.
fn still_serves(sandbox: &Sandbox) {
    let answer = tool("echo").call_blocking(sandbox, "run", r#"{"text": "still here"}"#);
    assert_eq!(answer.expect("an answer").text(), "still here");
}

#[test]
fn echo() {
    let (echo, sandbox) = (tool("echo"), files());
    let answer = echo
        .call_blocking(&sandbox, "run", r#"{"text": "hello"}"#)
        .expect("an answer");
    assert_eq!(answer.text(), "hello");
    assert!(matches!(
        echo.call_blocking(&sandbox, "walk", "{}"),
        Err(CallError::UnknownTool { known, .. }) if known == "run"
    ));
    for arguments in ["", "{", "[]", "{}", r#"{"text": 1}"#] {
        let error = echo.call_blocking(&sandbox, "run", arguments);
        assert!(
            matches!(error, Err(CallError::InvalidArguments { .. })),
            "{arguments}: {error:?}"
        );
    }
    // A field with the wrong type is named.
    match echo.call_blocking(&sandbox, "run", r#"{"text": 1}"#) {
        Err(CallError::InvalidArguments { reason }) => {
            assert!(reason.contains("/text"), "{reason}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn figures() {
    let answer = tool("figures").call_blocking(&files(), "echo", r#"{"text": "hello"}"#);
    assert_eq!(answer.expect("an answer").text(), "hello");
}

#[test]
fn contract_tour() {
    let sandbox = processes();
    let lines = run(&tool("contract_tour"), &sandbox).expect("an answer");
    assert_eq!(lines.lines().count(), 22);
    for line in lines.lines() {
        assert!(line.ends_with(" ok"), "{line}");
    }
    // Without processes, each of their functions says so, and the files are all there.
    let lines = run(&tool("contract_tour"), &files()).expect("an answer");
    for line in lines.lines() {
        let without = line.starts_with("processes.")
            || line == "session.find-commands ErrorKind::Unsupported";
        let right = if without {
            "ErrorKind::Unsupported"
        } else {
            "ok"
        };
        assert!(line.ends_with(right), "{line}");
    }
}

#[test]
fn endless_loop() {
    let sandbox = files();
    let looping = tool("endless_loop").with_limits(limits(300));
    let start = Instant::now();
    let quick = std::thread::spawn({
        let sandbox = sandbox.clone();
        move || still_serves(&sandbox)
    });
    assert_eq!(ended_by(run(&looping, &sandbox)), LimitKind::Time);
    let took = start.elapsed();
    assert!(
        took >= Duration::from_millis(300) && took < Duration::from_millis(1500),
        "{took:?}"
    );
    quick.join().expect("the call beside it is unharmed");
    // A cancellation ends it as well, and is told from a limit.
    let sandbox = sandbox.within(belljar::Context::new());
    let cancel = sandbox.context().cancellation().clone();
    std::thread::spawn(move || cancel.cancel());
    let looping = tool("endless_loop");
    assert!(matches!(run(&looping, &sandbox), Err(CallError::Cancelled)));
    // And an already cancelled call never starts.
    assert!(matches!(
        run(&tool("echo"), &sandbox),
        Err(CallError::InvalidArguments { .. })
    ));
    let never = tool("echo").call_blocking(&sandbox, "run", r#"{"text": ""}"#);
    assert!(matches!(never, Err(CallError::Cancelled)));
}

#[test]
fn endless_describe() {
    assert!(matches!(
        load("endless_describe"),
        Err(LoadError::Describe(error)) if matches!(*error, CallError::Limit(LimitKind::Time))
    ));
}

#[test]
fn start_loop() {
    assert!(matches!(
        load("start_loop"),
        Err(LoadError::Describe(error)) if matches!(*error, CallError::Limit(LimitKind::Time))
    ));
}

#[test]
fn start_trap() {
    assert!(matches!(
        load("start_trap"),
        Err(LoadError::Describe(error)) if matches!(*error, CallError::Trap { .. })
    ));
}

#[test]
fn memory_bomb() {
    let sandbox = files();
    let bomb = tool("memory_bomb").with_limits(CallLimits {
        memory_bytes: 16 << 20,
        ..limits(20_000)
    });
    assert_eq!(ended_by(run(&bomb, &sandbox)), LimitKind::Memory);
    still_serves(&sandbox);
}

#[test]
fn table_bomb() {
    let sandbox = files();
    assert_eq!(
        ended_by(run(&tool("table_bomb"), &sandbox)),
        LimitKind::TableElements
    );
    still_serves(&sandbox);
}

#[test]
fn deep_recursion() {
    let sandbox = files();
    assert_eq!(
        ended_by(run(&tool("deep_recursion"), &sandbox)),
        LimitKind::Stack
    );
    still_serves(&sandbox);
}

/// A compiler's own stack is memory like other: leaving it is a trap, and no limit of ours.
#[test]
fn deep_frames() {
    let sandbox = files();
    let error = run(&tool("deep_frames"), &sandbox);
    assert!(matches!(error, Err(CallError::Trap { .. })), "{error:?}");
    still_serves(&sandbox);
}

#[test]
fn host_call_flood() {
    let sandbox = files();
    let flood = tool("host_call_flood").with_limits(CallLimits {
        host_calls: 1000,
        ..limits(20_000)
    });
    assert_eq!(ended_by(run(&flood, &sandbox)), LimitKind::HostCalls);
    still_serves(&sandbox);
}

#[test]
fn copied_bytes_flood() {
    let sandbox = files();
    let flood = tool("copied_bytes_flood").with_limits(CallLimits {
        copied_bytes: 64 << 20,
        ..limits(20_000)
    });
    assert_eq!(ended_by(run(&flood, &sandbox)), LimitKind::CopiedBytes);
    still_serves(&sandbox);
}

/// The largest resident size of this process so far, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux machine");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("the peak is told");
    let kilobytes: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .expect("a number");
    kilobytes << 10
}

#[test]
fn list_bomb() {
    let sandbox = processes();
    let bomb = tool("list_bomb").with_limits(CallLimits {
        memory_bytes: 16 << 20,
        ..limits(20_000)
    });
    let before = peak_memory();
    assert_eq!(ended_by(run(&bomb, &sandbox)), LimitKind::CopiedBytes);
    let grown = peak_memory() - before;
    assert!(
        grown < 64 << 20,
        "the host held {grown} bytes more for a guest with 16 MiB"
    );
    still_serves(&sandbox);
}

#[test]
fn handle_flood() {
    let sandbox = processes();
    let answer = run(&tool("handle_flood"), &sandbox).expect("an answer");
    let most = sandbox.describe().limits.processes;
    assert_eq!(answer, format!("{most} ErrorKind::Busy"));
    still_serves(&sandbox);
}

#[test]
fn progress_flood() {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let sink = Arc::new(move |_: Progress| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let flood = tool("progress_flood").with_progress(sink);
    assert_eq!(run(&flood, &files()).expect("an answer"), "done");
    assert_eq!(told.load(Ordering::Relaxed), 1_000);
}

#[test]
fn huge_result() {
    let sandbox = files();
    let huge = tool("huge_result");
    let text = huge
        .call_blocking(&sandbox, "run", r#"{"bytes": 1000000}"#)
        .expect("an answer")
        .text();
    assert_eq!(text.len(), 1_000_000);
    let short = huge.clone().with_limits(CallLimits {
        answer_bytes: 999_999,
        ..limits(20_000)
    });
    let result = short.call_blocking(&sandbox, "run", r#"{"bytes": 1000000}"#);
    assert_eq!(
        ended_by(result.map(|answer| answer.text())),
        LimitKind::AnswerBytes
    );
    let huge = huge.with_limits(CallLimits {
        memory_bytes: 16 << 20,
        ..limits(20_000)
    });
    let result = huge.call_blocking(&sandbox, "run", r#"{"bytes": 1000000000}"#);
    assert_eq!(
        ended_by(result.map(|answer| answer.text())),
        LimitKind::Memory
    );
    still_serves(&sandbox);
}

#[test]
fn huge_argument() {
    let sandbox = files();
    let huge = tool("huge_argument").with_limits(CallLimits {
        memory_bytes: 16 << 20,
        ..limits(20_000)
    });
    let arguments = |bytes: usize| format!(r#"{{"text": "{}"}}"#, "x".repeat(bytes));
    let small = arguments(1_000_000);
    let answer = huge
        .call_blocking(&sandbox, "run", &small)
        .expect("an answer");
    assert_eq!(answer.text(), small.len().to_string());
    let result = huge.call_blocking(&sandbox, "run", &arguments(64 << 20));
    assert_eq!(
        ended_by(result.map(|answer| answer.text())),
        LimitKind::Memory
    );
    still_serves(&sandbox);
}

#[test]
fn panic_on_a() {
    let (panics, sandbox) = (tool("panic_on_a"), files());
    for _ in 0..2 {
        let error = panics.call_blocking(&sandbox, "run", r#"{"text": "a"}"#);
        match error {
            Err(CallError::Trap {
                message: Some(message),
                ..
            }) => {
                assert!(message.contains("this tool cannot stand an a"), "{message}");
            }
            other => panic!("{other:?}"),
        }
        let answer = panics
            .call_blocking(&sandbox, "run", r#"{"text": "b"}"#)
            .expect("an answer");
        assert_eq!(answer.text(), "b");
    }
}

#[test]
fn invalid_utf8() {
    let sandbox = files();
    let error = run(&tool("invalid_utf8"), &sandbox);
    assert!(matches!(error, Err(CallError::Trap { .. })), "{error:?}");
    still_serves(&sandbox);
}

#[test]
fn bad_structured() {
    let error = run(&tool("bad_structured"), &files());
    assert!(
        matches!(error, Err(CallError::BadAnswer { .. })),
        "{error:?}"
    );
}

#[test]
fn slow_host_call() {
    let sandbox = processes();
    let slow = tool("slow_host_call").with_limits(limits(300));
    let start = Instant::now();
    assert_eq!(ended_by(run(&slow, &sandbox)), LimitKind::Time);
    let took = start.elapsed();
    assert!(
        took >= Duration::from_millis(300) && took < Duration::from_millis(1500),
        "{took:?}"
    );
    still_serves(&sandbox);
}

fn bad_description(name: &str) -> String {
    match load(name) {
        Err(LoadError::BadDescription { tool, .. }) => tool,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn bad_name() {
    assert_eq!(bad_description("bad_name"), "run; rm -rf /");
}

#[test]
fn bad_schema() {
    assert_eq!(bad_description("bad_schema"), "run");
}

#[test]
fn same_name_twice() {
    assert_eq!(bad_description("same_name_twice"), "run");
}

#[test]
fn impure_describe() {
    let tool = tool("impure_describe");
    let description = &tool.descriptions().next().expect("a tool").description;
    assert!(
        !description.ends_with(" bytes"),
        "it read a file: {description}"
    );
}

fn forbidden(name: &str) -> Vec<String> {
    match load(name) {
        Err(LoadError::ForbiddenImports { names }) => names,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn import_wasi_filesystem() {
    let names = forbidden("import_wasi_filesystem");
    assert!(
        names
            .iter()
            .all(|name| name.starts_with("wasi:filesystem/")),
        "{names:?}"
    );
}

#[test]
fn import_wasi_sockets() {
    let names = forbidden("import_wasi_sockets");
    assert!(
        names.iter().all(|name| name.starts_with("wasi:sockets/")),
        "{names:?}"
    );
}

#[test]
fn import_unknown() {
    assert_eq!(
        forbidden("import_unknown"),
        ["example:weather/forecast@1.0.0"]
    );
    // Also where stubs for WASI are granted: this is none of WASI's.
    let inert = HOST.load(&component("import_unknown"), WasiMode::Inert);
    assert!(
        matches!(inert, Err(LoadError::ForbiddenImports { .. })),
        "{inert:?}"
    );
}

fn other_version(name: &str) -> (String, &'static str) {
    match load(name) {
        Err(LoadError::OtherVersion {
            found, supported, ..
        }) => (found, supported),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn older_version() {
    assert_eq!(
        other_version("older_version"),
        ("0.0.9".to_owned(), "0.1.0")
    );
}

#[test]
fn newer_version() {
    assert_eq!(
        other_version("newer_version"),
        ("0.2.0".to_owned(), "0.1.0")
    );
}

#[test]
fn newer_function() {
    assert!(matches!(
        load("newer_function"),
        Err(LoadError::Mismatch { .. })
    ));
}

#[test]
fn no_tools() {
    assert!(matches!(load("no_tools"), Err(LoadError::NotATool { exports }) if exports.is_empty()));
}

#[test]
fn core_module() {
    assert!(matches!(load("core_module"), Err(LoadError::CoreModule)));
}

#[test]
fn corrupt() {
    assert!(matches!(load("corrupt"), Err(LoadError::Malformed(_))));
}

#[test]
fn empty() {
    assert!(matches!(load("empty"), Err(LoadError::Empty)));
}

#[test]
fn not_wasm() {
    assert!(matches!(load("not_wasm"), Err(LoadError::NotWasm)));
}

#[test]
fn a_tool_whose_need_is_missing_is_not_offered_and_says_why() {
    let coding = HOST
        .load(&belljar_test_guests::coding(), WasiMode::Deny)
        .expect("it loads");
    let sandbox = files();
    let offers = coding.offers(&sandbox);
    let missing = |name: &str| {
        let offer = offers
            .iter()
            .find(|offer| offer.tool.name == name)
            .expect("the tool");
        offer.missing.clone()
    };
    assert_eq!(missing("read"), []);
    assert_eq!(missing("run"), [Capability::Run]);
    let error = coding.call_blocking(&sandbox, "run", r#"{"argv": ["true"]}"#);
    assert!(
        matches!(&error, Err(CallError::NotOffered { missing, .. }) if *missing == [Capability::Run]),
        "{error:?}"
    );
}

#[test]
fn a_tools_error_is_the_tools_and_has_the_contracts_kind() {
    let coding = HOST
        .load(&belljar_test_guests::coding(), WasiMode::Deny)
        .expect("it loads");
    let error = coding.call_blocking(&files(), "read", r#"{"path": "../outside"}"#);
    assert!(
        matches!(
            &error,
            Err(CallError::Tool {
                kind: Some(ErrorKind::AccessDenied),
                ..
            })
        ),
        "{error:?}"
    );
}

#[test]
fn a_component_that_is_too_large_is_not_even_parsed() {
    let bytes = vec![0; (64 << 20) + 1];
    assert!(matches!(
        HOST.load(&bytes, WasiMode::Deny),
        Err(LoadError::TooLarge { most }) if most == 64 << 20
    ));
}

/// A backend is no tool: a tool's imports are not granted to it, nor its own to a tool.
macro_rules! a_backend_is_no_tool {
    ($($name:ident),*) => {
        $(#[test]
        fn $name() {
            let loaded = load(stringify!($name));
            assert!(matches!(
                loaded,
                Err(LoadError::UnknownInterface { .. } | LoadError::NotATool { .. })
            ));
        })*
    };
}
a_backend_is_no_tool!(lends_badly, lends_over_http, lends_requests);
