//! The Belljar sandbox protocol: the contract's requests over one stream.
//!
//! Two programs speak it: the host, with a [`Client`], and a resident beside the workspace, with
//! [`serve`]. The stream is a unix socket or two pipes, whatever carries bytes both ways. Messages are
//! the contract's own types in postcard's format ([`message`]), cut into frames so that calls share the
//! stream ([`frame`]). Beside the contract there is one question: what the resident sees of what it
//! runs in ([`facts`]).
//!
//! Neither end trusts the other: lengths are bounded before memory is taken, and what a message takes once
//! it is read ([`size`]); ids are checked, and what is malformed ends the session with an error that says so. The host's end is the one that matters:
//! what is in a container may have replaced the resident.
//!
//! It leaves to others: what a request means (`belljar-workspace`), how the stream comes about and what a
//! dead session means (the backends).

mod budget;
mod client;
mod encoded;
pub mod facts;
pub mod frame;
pub mod message;
mod output;
mod server;
pub mod size;
mod stream;
mod wake;

pub use client::{Client, OpenError, Patience};
pub use server::{Engine, ServeError, serve};
pub use stream::Stream;
