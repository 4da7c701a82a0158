//! The bindings of the worlds that lend sandboxes; what a world shares with another is there once.

pub(super) mod backend {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "backend",
        imports: { default: trappable },
        with: {
            "belljar:sandbox/types": crate::runtime::bindings::belljar::sandbox::types,
            "belljar:sandbox/progress": crate::runtime::bindings::belljar::sandbox::progress,
        },
    });
}

pub(super) mod client {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "client",
        imports: { default: trappable },
        with: {
            "belljar:sandbox/types": crate::runtime::bindings::belljar::sandbox::types,
            "belljar:sandbox/progress": crate::runtime::bindings::belljar::sandbox::progress,
            "belljar:sandbox/outgoing-http": super::backend::belljar::sandbox::outgoing_http,
            "belljar:sandbox/settings": super::backend::belljar::sandbox::settings,
        },
    });
}
