//! One program, alone.

use std::os::fd::{AsFd as _, OwnedFd};

use belljar_contract::{Cancellation, GuestPath, processes::Outcome};
use belljar_workspace::processes::{Prepared, Surroundings};

use super::Program;
use crate::{CallLimits, runtime::ProgramStart};

/// A program with its arguments.
pub(super) struct OneProgram {
    pub(super) program: Program,
    pub(super) arguments: Vec<String>,
    pub(super) limits: CallLimits,
}

/// Its three streams.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Where it works.
pub(super) struct Directory<'a> {
    pub(super) path: &'a GuestPath,
    pub(super) handle: &'a OwnedFd,
}

impl OneProgram {
    /// Runs it to its end.
    pub(super) fn run_in(
        &self,
        place: &Place<'_>,
        directory: &Directory<'_>,
        streams: Streams,
        stop: &Cancellation,
    ) -> Outcome {
        let path = place.path_of(directory.path);
        let mut variables = place.variables.to_vec();
        if let Some((_, value)) = variables.iter_mut().find(|(name, _)| name == "PWD") {
            value.clone_from(&path);
        }
        let start = ProgramStart {
            arguments: &self.arguments,
            variables: &variables,
            root: (place.root_handle.as_fd(), place.root),
            directory: (directory.handle.as_fd(), &path),
            writable: place.writable,
            stdin: streams.stdin,
            stdout: streams.stdout,
            stderr: streams.stderr,
            memory_bytes: self.limits.memory_bytes,
            table_elements: self.limits.table_elements,
        };
        self.program.0.run(start, stop)
    }
}

/// What all programs of a command share.
pub(super) struct Place<'a> {
    pub(super) root: &'a str,
    pub(super) root_handle: &'a OwnedFd,
    pub(super) writable: bool,
    pub(super) variables: &'a [(String, String)],
}

impl Place<'_> {
    /// A directory as a process sees it.
    fn path_of(&self, directory: &GuestPath) -> String {
        let root = self.root.trim_end_matches('/');
        match directory.is_root() {
            true => self.root.to_owned(),
            false => format!("{root}/{}", directory.as_str()),
        }
    }
}

impl Prepared for OneProgram {
    fn run(self: Box<Self>, surroundings: Surroundings, stop: &Cancellation) -> Outcome {
        let variables: Vec<(String, String)> = surroundings.variables.into_iter().collect();
        let place = Place {
            root: &surroundings.root,
            root_handle: &surroundings.root_handle,
            writable: surroundings.writable,
            variables: &variables,
        };
        let directory = Directory {
            path: &surroundings.directory,
            handle: &surroundings.directory_handle,
        };
        let streams = Streams {
            stdin: surroundings.stdin,
            stdout: surroundings.stdout,
            stderr: surroundings.stderr,
        };
        self.run_in(&place, &directory, streams, stop)
    }
}
