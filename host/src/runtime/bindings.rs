//! The host's bindings to the contract, generated from `wit/`; nothing else names them outside
//! `runtime`.

#![expect(
    clippy::missing_errors_doc,
    reason = "generated; the contract's .wit files are the documentation"
)]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "tool",
    imports: { default: trappable },
});
