//! Tiny guests, one behaviour each, as examples built for WebAssembly.
