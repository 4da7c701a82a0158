//! Tiny guests, one behaviour each, most of them bad.
//!
//! A guest is a Rust example (`examples/`), a component as text where Rust cannot do it (`wat/`), or a
//! file that is no guest at all (`foreign/`). Its first comment says what it does. [`component`] gives its
//! bytes to a test, and [`for_each_guest!`] every name, so that a test file can prove that it has
//! a test for each. What a host must do with it is the test's business.

#[cfg(target_family = "wasm")]
mod guest;
#[cfg(target_family = "wasm")]
mod lent;
#[cfg(target_family = "wasm")]
pub use lent::description;

#[cfg(not(target_family = "wasm"))]
mod components;
#[cfg(not(target_family = "wasm"))]
mod text;
#[cfg(not(target_family = "wasm"))]
pub use components::{coding, component, names, shim};
