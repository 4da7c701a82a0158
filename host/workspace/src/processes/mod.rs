//! Processes of a workspace, and the supervisor that ends all of each.

use belljar_contract::{Context, Request, Response, Result, session::Limits};

use crate::files::Workspace;

/// How a supervisor works.
#[derive(Clone, Debug)]
pub struct Options {
    /// What `pwd` says at the root; the default of `HOME`.
    pub root: String,
    /// The numbers in force.
    pub limits: Limits,
    /// Whether every child of this operating-system process belongs to this supervisor's sessions (true in the
    /// resident and the `belljar` command; false in an application that has children of its own).
    pub owns_all_children: bool,
}

/// Starts, watches and ends the processes of one session.
#[derive(Debug)]
pub struct Supervisor {}

impl Supervisor {
    /// Makes a supervisor.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let _ = options;
        Self {}
    }

    /// Answers a request of `processes`, and `session.find-commands`.
    ///
    /// # Errors
    /// As the contract says of the operation.
    pub fn call(&self, context: &Context, files: &Workspace, request: Request) -> Result<Response> {
        let _ = (context, files, request);
        unimplemented!()
    }

    /// Ends every process. What is asked later is `closed`.
    pub fn close(&self) {}
}
