//! Programs that need no operating system.
//!
//! Whoever can run such programs offers them as [`Programs`]; everything else about a process is the same as of any
//! other: its streams are pipes, and it is supervised, cancelled, counted and read as one. This crate knows of no
//! kind of such a program.

mod launch;
mod thread;

use std::{collections::BTreeMap, fmt, os::fd::OwnedFd};

use belljar_contract::{
    Cancellation, GuestPath,
    processes::{Command, Outcome},
};

pub(super) use self::launch::Shelf;

/// Programs, and how a command of them is run.
pub trait Programs: fmt::Debug + Send + Sync {
    /// The names of all.
    fn names(&self) -> Vec<String>;

    /// Where a program of this name is, as a process sees it; none when there is none.
    fn find(&self, name: &str) -> Option<String>;

    /// Reads a command, whole, before any of it runs.
    ///
    /// # Errors
    /// [`NotPrepared`] when it cannot be run. Nothing has happened then.
    fn prepare(&self, command: &Command) -> Result<Box<dyn Prepared>, NotPrepared>;
}

/// A command that can be run.
pub trait Prepared: Send {
    /// Runs to the end, on this thread, and ends within some milliseconds when `stop` is cancelled, whatever the
    /// program does or waits for. What is returned then does not count. Nothing of it is left afterwards.
    fn run(self: Box<Self>, surroundings: Surroundings, stop: &Cancellation) -> Outcome;
}

/// Why a command cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum NotPrepared {
    /// There is no such program.
    #[error("no program {name:?}; there {}", There(known))]
    NotFound {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A shell's text that is none.
    #[error("{0}")]
    Malformed(String),
    /// It asks for something that is not there.
    #[error("{0}")]
    Unsupported(String),
}

/// What a command runs in. The three streams are pipes that do not block.
#[derive(Debug)]
pub struct Surroundings {
    /// The path of the workspace's root, as a process sees it.
    pub root: String,
    /// The workspace's root, the only directory that the command may reach.
    pub root_handle: OwnedFd,
    /// The working directory.
    pub directory: GuestPath,
    /// A handle of it.
    pub directory_handle: OwnedFd,
    /// Whether the workspace may be changed.
    pub writable: bool,
    /// All variables.
    pub variables: BTreeMap<String, String>,
    /// Where input is read from.
    pub stdin: OwnedFd,
    /// Where output goes.
    pub stdout: OwnedFd,
    /// Where errors go.
    pub stderr: OwnedFd,
}

struct There<'a>(&'a [String]);

impl fmt::Display for There<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("is none"),
            [one] => write!(f, "is {one}"),
            all => write!(f, "are {}", all.join(", ")),
        }
    }
}
