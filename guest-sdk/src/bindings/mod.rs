//! The generated bindings, a file a world.

#[rustfmt::skip]
pub mod backend;
#[rustfmt::skip]
pub mod client;
#[rustfmt::skip]
pub mod tool;
