//! Files and processes of one workspace behind one function.

use belljar_contract::{Context, Error, ErrorKind, Request, Response, Result};

use crate::{files::Workspace, processes::Supervisor};

/// The engine of one session.
#[derive(Debug)]
pub struct Engine {
    files: Workspace,
    processes: Option<Supervisor>,
}

impl Engine {
    /// Makes an engine for files, and for processes where there is a supervisor.
    #[must_use]
    pub const fn new(files: Workspace, processes: Option<Supervisor>) -> Self {
        Self { files, processes }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// As the contract says of the operation; `unsupported` for processes without a supervisor.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        match request {
            Request::Read { .. }
            | Request::ReadRange { .. }
            | Request::Write { .. }
            | Request::Append { .. }
            | Request::Replace { .. }
            | Request::List { .. }
            | Request::Glob { .. }
            | Request::Search { .. }
            | Request::Stat { .. }
            | Request::Resolve { .. }
            | Request::MakeDirectory { .. }
            | Request::Remove { .. }
            | Request::Rename { .. }
            | Request::Copy { .. } => self.files.call(context, request),
            Request::Run(_)
            | Request::Start(_)
            | Request::ReadOutput { .. }
            | Request::WriteInput { .. }
            | Request::Signal { .. }
            | Request::Wait { .. }
            | Request::FindCommands { .. } => match &self.processes {
                Some(processes) => processes.call(context, &self.files, request),
                None => {
                    let message = "this workspace has no processes";
                    Err(Error::new(
                        ErrorKind::Unsupported,
                        request.operation(),
                        message,
                    ))
                }
            },
        }
    }

    /// Ends every process of the session.
    pub fn close(&self) {
        if let Some(processes) = &self.processes {
            processes.close();
        }
    }
}
