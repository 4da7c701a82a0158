//! Files of a workspace, beneath one directory handle.

use std::{os::fd::OwnedFd, path::Path};

use belljar_contract::{Context, GuestPath, Operation, Request, Response, Result, session::Limits};

/// A directory tree that nothing leaves.
#[derive(Debug)]
pub struct Workspace {}

impl Workspace {
    /// Opens a directory of the host.
    ///
    /// # Ambient authority
    /// The path is the host's, resolved with the process's own rights.
    ///
    /// # Errors
    /// The path does not exist, is not a directory, or cannot be opened.
    pub fn open_ambient(directory: &Path, limits: &Limits) -> std::io::Result<Self> {
        let _ = (directory, limits);
        Ok(Self {})
    }

    /// Answers a request of `files`.
    ///
    /// # Errors
    /// As the contract says of the operation.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let _ = (context, request);
        unimplemented!()
    }

    /// Opens a directory of the workspace, for a process to work in.
    ///
    /// # Errors
    /// `not-found`, `not-a-directory`, `access-denied`.
    pub fn open_directory(&self, operation: Operation, path: &GuestPath) -> Result<OwnedFd> {
        let _ = (operation, path);
        unimplemented!()
    }
}
