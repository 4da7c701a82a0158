//! From a launch to a running program with three pipes.

use std::{
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use belljar_contract::{Context, Launch, Operation, processes};
use rustix::fs::{Access, AtFlags};

use super::{
    custody::Custody,
    environment::environment,
    failure::Failure,
    input::Input,
    marker::marker,
    platform::{self, Platform},
    program,
    system::SystemProcess,
};
use crate::files::Workspace;

/// How long a program whose file is being written is tried again. Another thread of this process that spawns at
/// the wrong moment holds a file open that was just written, until its own program begins.
const BEING_WRITTEN: Duration = Duration::from_millis(100);

/// A program that runs, and our ends of its outputs, which do not block.
#[derive(Debug)]
pub(super) struct Launched {
    pub(super) custody: Custody,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
    /// When it was started.
    pub(super) started: Duration,
}

/// What standard input is when there is nothing to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EmptyInput {
    /// Nothing, which programs that search their input by default tell from a pipe.
    Null,
    /// A pipe, for what comes later.
    Pipe,
}

/// Starts a program.
pub(super) fn launch(
    platform: &Arc<Platform>,
    files: &Workspace,
    root: &str,
    context: &Context,
    operation: Operation,
    asked: &Launch,
    empty_input: EmptyInput,
) -> Result<(Launched, Input), Failure> {
    let directory = files
        .open_directory(operation, &asked.directory)
        .map_err(|error| Failure::Files(Box::new(error)))?;
    rustix::fs::accessat(&directory, ".", Access::EXEC_OK, AtFlags::EACCESS)
        .map_err(|error| Failure::DirectoryDenied(error.into()))?;
    let marker = marker();
    let variables = environment(
        root,
        asked.directory.as_str(),
        asked.environment.clone(),
        Some(&marker),
    );
    let (program, arguments) = match &asked.command {
        processes::Command::Argv(argv) => argv
            .split_first()
            .ok_or_else(|| Failure::ProgramNotFound(String::new()))?,
        processes::Command::Shell(text) => {
            (&"/bin/sh".to_owned(), &["-c".to_owned(), text.clone()][..])
        }
    };
    let path = variables.get("PATH").map_or("", String::as_str);
    let file = program::find(program, path, directory.as_fd())?;
    let null = asked.stdin.is_empty() && empty_input == EmptyInput::Null;
    let started = context.now();
    let mut command = Command::new(&file);
    command
        .arg0(program)
        .args(arguments)
        .env_clear()
        .envs(&variables)
        .current_dir(platform::directory_path(directory.as_fd()))
        .process_group(0)
        .stdin(if null { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let (mut child, leader) = loop {
        match platform.spawn(&mut command, marker.clone()) {
            Ok(spawned) => break spawned,
            Err(error) => {
                let failure = program::spawn_failure(program, &file, directory.as_fd(), error);
                let waited = context.now().saturating_sub(started);
                if !matches!(failure, Failure::BeingWritten(_)) || waited > BEING_WRITTEN {
                    return Err(failure);
                }
                context.check()?;
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    };
    // From here on it is ended whatever fails.
    let process = SystemProcess::new(Arc::clone(platform), leader);
    let custody = Custody::new(Arc::new(process));
    let stdin = child.stdin.take().map(OwnedFd::from);
    let stdout = child.stdout.take().map(OwnedFd::from);
    let stderr = child.stderr.take().map(OwnedFd::from);
    let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
        let missing = std::io::ErrorKind::BrokenPipe;
        return Err(Failure::system("making a pipe", missing));
    };
    for pipe in [stdin.as_ref(), Some(&stdout), Some(&stderr)]
        .into_iter()
        .flatten()
    {
        rustix::io::ioctl_fionbio(pipe, true)
            .map_err(|error| Failure::system("making a pipe non-blocking", error))?;
    }
    let launched = Launched {
        custody,
        stdout,
        stderr,
        started,
    };
    Ok((launched, Input::new(stdin)))
}
