//! From a launch to a command that runs on a thread, with three pipes.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::Arc,
};

use belljar_contract::{Context, GuestPath, Launch, Operation};

use super::{
    super::{
        custody::Custody,
        environment::environment,
        failure::Failure,
        input::Input,
        launch::{EmptyInput, Launched},
    },
    Programs, Surroundings,
    thread::ProgramThread,
};
use crate::files::Workspace;

/// The programs of a session, and what they may do.
#[derive(Debug)]
pub(in super::super) struct Shelf {
    pub(in super::super) programs: Arc<dyn Programs>,
    /// Whether they may change the workspace.
    pub(in super::super) writable: bool,
}

impl Shelf {
    /// Starts a command.
    pub(in super::super) fn launch(
        &self,
        files: &Workspace,
        root: &str,
        context: &Context,
        operation: Operation,
        asked: &Launch,
        empty_input: EmptyInput,
    ) -> Result<(Launched, Input), Failure> {
        let open = |path: &GuestPath| {
            files
                .open_directory(operation, path)
                .map_err(|error| Failure::Files(Box::new(error)))
        };
        let directory_handle = open(&asked.directory)?;
        let command = self.programs.prepare(&asked.command)?;
        let streams = |error| Failure::system("making a pipe", error);
        let (stdin, input) = pipe().map_err(streams)?;
        let (stdout, guest_stdout) = pipe().map_err(streams)?;
        let (stderr, guest_stderr) = pipe().map_err(streams)?;
        let surroundings = Surroundings {
            root: root.to_owned(),
            root_handle: open(&GuestPath::root())?,
            directory: asked.directory.clone(),
            directory_handle,
            writable: self.writable,
            variables: environment(
                root,
                asked.directory.as_str(),
                asked.environment.clone(),
                None,
            ),
            stdin,
            stdout: guest_stdout,
            stderr: guest_stderr,
        };
        let started = context.now();
        let body = ProgramThread::start(command, surroundings).map_err(Failure::SystemBusy)?;
        let launched = Launched {
            custody: Custody::new(Arc::new(body)),
            stdout,
            stderr,
            started,
        };
        // An input of nothing has ended from the beginning.
        let null = asked.stdin.is_empty() && empty_input == EmptyInput::Null;
        Ok((launched, Input::new((!null).then_some(input))))
    }
}

/// A pipe whose ends do not block: for reading, for writing.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = rustix::pipe::pipe()?;
    for end in [&reader, &writer] {
        rustix::io::fcntl_setfd(end.as_fd(), rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((reader, writer))
}
