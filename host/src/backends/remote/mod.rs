//! `remote`: the tools' files and processes wherever a command's standard input and output reach.
//!
//! The command is the operator's: `ssh`, `kubectl exec -i`, `nsenter`, `docker exec -i`, or whatever else carries
//! bytes both ways. At its other end is a resident, or a POSIX shell that is told to start one.
//!
//! | file | what |
//! |---|---|
//! | `options` | what an operator may say, and what of it is wrong |
//! | `open` | what is said before there is a connection |
//! | `connect` | starts the command and meets the resident, in bounded time |
//! | `failure`, `classify` | why there is no session, or none any more |
//! | `backend` | the session: connected once, explained when it is lost, ended when it is closed |
//! | `examine` | what the place gives, as its resident sees it |
//!
//! A connection that is lost is not made again: the processes of its session are gone, and whoever used them has
//! to know. A new session is a new open.

mod backend;
mod classify;
mod connect;
mod examine;
mod failure;
mod open;
mod options;

pub use self::{
    failure::{RemoteError, RemoteFailure},
    options::{RemoteOptions, RemoteOptionsError},
};
