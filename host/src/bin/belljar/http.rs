//! What every subcommand that listens for HTTP has: where it listens, with what certificate, and for whom.
//!
//! | file | what |
//! |---|---|
//! | `listen` | the address, TLS, and the server's own bounds |
//! | `connection` | how many connections there are, and how long one may stand still |
//! | `token` | the one who may ask: a bearer token, compared in constant time |
//!
//! It leaves to others what is asked and answered.

mod connection;
mod listen;
mod token;

pub(crate) use self::{
    listen::{ListenArguments, Listener},
    token::{Token, TokenArguments},
};
