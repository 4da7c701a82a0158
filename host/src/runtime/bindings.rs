//! The host's bindings to the contract, generated from `wit/`; nothing else names them outside
//! `runtime`.

wasmtime::component::bindgen!({
    path: "../wit",
    world: "tool",
    imports: { default: trappable },
});
