//! Programs of one behaviour each, as text.

/// What every module begins with: the imports, and a memory whose first bytes are `(address 64, length 1024)`.
const BEGINNING: &str = r#"
(import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
(memory (export "memory") 1)
(data (i32.const 0) "\40\00\00\00\00\04\00\00")
(func $print (result i32) (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
"#;

/// A module of WASI's first preview whose `_start` has this body.
pub(crate) fn module(body: &str) -> Vec<u8> {
    module_with("", body)
}

/// The same, with more fields.
pub(crate) fn module_with(fields: &str, body: &str) -> Vec<u8> {
    let text =
        format!(r#"(module {BEGINNING} {fields} (func (export "_start") (local $n i32) {body}))"#);
    wat::parse_str(text).expect("the text is WebAssembly")
}

pub(crate) fn exit(code: i32) -> Vec<u8> {
    module(&format!("(call $exit (i32.const {code}))"))
}

/// Computes for ever.
pub(crate) fn spin() -> Vec<u8> {
    module("(loop $again (br $again))")
}

/// Sleeps for an hour.
pub(crate) fn sleep() -> Vec<u8> {
    // A subscription to the monotonic clock, relative.
    let hour = "(i64.const 3600000000000)";
    module(&format!(
        "(i32.store (i32.const 528) (i32.const 1))
         (i64.store (i32.const 536) {hour})
         (drop (call $poll (i32.const 512) (i32.const 600) (i32.const 1) (i32.const 700)))"
    ))
}

/// Copies its input to its output.
pub(crate) fn copy() -> Vec<u8> {
    module(
        "(block $end (loop $again
           (i32.store (i32.const 4) (i32.const 1024))
           (br_if $end (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))
           (br_if $end (i32.eqz (i32.load (i32.const 4))))
           (br_if $end (call $print))
           (br $again)))",
    )
}

/// Prints so many times 1,024 bytes; for ever with 0.
pub(crate) fn print(times: u32) -> Vec<u8> {
    module(&format!(
        "(loop $again
           (br_if 1 (call $print))
           (local.set $n (i32.add (local.get $n) (i32.const 1)))
           (br_if $again (i32.ne (local.get $n) (i32.const {times}))))"
    ))
}

/// Takes memory for ever.
pub(crate) fn grow() -> Vec<u8> {
    module("(loop $again (drop (memory.grow (i32.const 16))) (br $again))")
}

/// A component that exports `wasi:cli/run`, which succeeds, or does not.
pub(crate) fn component(succeeds: bool) -> Vec<u8> {
    let text = format!(
        r#"(component
            (core module $m (func (export "run") (result i32) i32.const {}))
            (core instance $i (instantiate $m))
            (func $run (result (result)) (canon lift (core func $i "run")))
            (component $c (import "f" (func $f (result (result)))) (export "run" (func $f)))
            (instance $e (instantiate $c (with "f" (func $run))))
            (export "wasi:cli/run@0.2.0" (instance $e)))"#,
        u8::from(!succeeds)
    );
    wat::parse_str(text).expect("the text is WebAssembly")
}
