//! `container`: the tools' files and processes in a throw-away OCI container, through its engine's command line.
//!
//! | file | what |
//! |---|---|
//! | `options` | what an operator may say; `validate` says what of it is wrong |
//! | `arguments` | options as argument vectors, by pure functions |
//! | `guarantee`, `gap` | what a container guarantees; what of it was asked for and an engine cannot give |
//! | `info` | what an engine says of itself |
//! | `cli` | runs the engine's program; `failure` and `classify` say why that failed |
//! | `doctor` | what a container gives of what was asked, as its resident, or its shell, sees it |
//! | `labels` | what is written on a container, so that it is found again |
//! | `listing`, `prune` | which containers are ours, and which of them are left over |
//! | `open` | what is said before a container starts; `start` starts it, `not_started` says why not |
//! | `connect` | a session with the resident of a container that starts; `meeting` is where it connects |
//! | `running` | a container with its resident, and its end; `lifecycle` asks its engine about it |
//! | `carry` | brings the resident to an engine on another machine |
//! | `pool` | containers that run before a session needs one |
//! | `transport` | whether a resident is reached over a socket, or over the program that starts it, which `attached` holds |
//! | `reconnect`, `standing` | a container that is found again by its name, and its place on the host |
//! | `examine` | opens a session only to see what it gives |
//! | `served` | whether a resident serves the contract or a shell; `fall_back` what that is weaker in |
//! | `by_shell`, `engine_exec`, `facts_by_shell` | a session without a resident: an `exec` for each program, the contract by `sh` |
//! | `fate` | what became of a container whose session is dead |
//! | `backend` | the session: started once, explained when it dies, removed when it is closed |
//!
//! Nothing here goes through a shell of the host's, and no value of a variable enters an argument vector.

mod arguments;
mod attached;
mod backend;
mod by_shell;
mod carry;
mod classify;
mod cli;
mod connect;
mod container_path;
mod doctor;
mod engine;
mod engine_exec;
mod examine;
mod facts_by_shell;
mod failure;
mod fall_back;
mod fate;
mod gap;
mod guarantee;
mod info;
mod labels;
mod lifecycle;
mod listing;
mod meeting;
mod not_started;
mod open;
mod options;
mod pool;
mod prune;
mod reconnect;
mod running;
mod served;
mod standing;
mod start;
mod transport;
mod validate;

pub use self::{
    engine::ContainerEngine,
    failure::{CliError, CliFailure},
    fate::ContainerFate,
    gap::Gap,
    guarantee::Guarantee,
    listing::ContainerState,
    options::{
        Bind, ContainerOptions, ContainerUser, DEFAULT_CWD, HostUser, PullPolicy, ResidentChoice,
        TransportChoice,
    },
    pool::ContainerPool,
    prune::{Kept, Left, PruneOptions, PruneReport, Verdict, prune_ambient},
    validate::ContainerOptionsError,
};
use super::program::EngineEnvironment;

#[cfg(test)]
mod engine_tests;
