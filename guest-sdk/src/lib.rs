//! Write Belljar tools in Rust: a function with a typed argument becomes a tool in a WebAssembly component.
