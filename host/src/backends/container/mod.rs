//! `container`: the tools' files and processes in a throw-away OCI container, through its engine's command line.
//!
//! | file | what |
//! |---|---|
//! | `options` | what an operator may say; `validate` says what of it is wrong |
//! | `arguments` | options as argument vectors, by pure functions |
//! | `gap` | what was asked for and an engine cannot give |
//! | `info` | what an engine says of itself |
//! | `cli` | runs the engine's program; `failure` and `classify` say why that failed |
//! | `doctor` | what a container gives of what was asked, as its resident sees it |
//! | `labels`, `owner` | what is written on a container, so that it is found again |
//! | `listing`, `prune` | which containers are ours, and which of them are left over |
//! | `open` | what is said before a container starts; `start` starts it, `not_started` says why not, `meeting` is where its resident connects |
//! | `transport` | whether a resident is reached over a socket, or over the program that starts it, which `attached` holds |
//! | `reconnect`, `standing` | a container that is found again by its name, and its place on the host |
//! | `examine` | opens a session only to see what it gives |
//! | `by_shell`, `engine_exec` | a session without a resident: an `exec` for each program, the contract by `sh` |
//! | `backend` | the session: started once, explained when it dies, removed when it is closed |
//!
//! Nothing here goes through a shell of the host's, and no value of a variable enters an argument vector.

mod arguments;
mod attached;
mod backend;
mod by_shell;
mod classify;
mod cli;
mod container_path;
mod doctor;
mod engine;
mod engine_exec;
mod examine;
mod failure;
mod gap;
mod info;
mod labels;
mod listing;
mod meeting;
mod not_started;
mod open;
mod options;
mod owner;
mod prune;
mod reconnect;
mod standing;
mod start;
mod transport;
mod validate;

pub use self::{
    engine::ContainerEngine,
    failure::{CliError, CliFailure},
    gap::{Gap, Guarantee},
    listing::ContainerState,
    options::{
        Bind, ContainerOptions, ContainerUser, DEFAULT_CWD, HostUser, PullPolicy, ResidentChoice,
        TransportChoice,
    },
    prune::{Kept, Left, PruneOptions, PruneReport, Verdict, prune_ambient},
    validate::ContainerOptionsError,
};
use super::program::EngineEnvironment;

#[cfg(test)]
mod engine_tests;
