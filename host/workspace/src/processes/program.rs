//! Which file a program name means.
//!
//! It is looked up here and not left to the spawning, because a spawn says the same of a program that is not
//! there, of an interpreter that is not there, and of a directory that cannot be entered.

use std::{io, os::fd::BorrowedFd};

use rustix::{
    fs::{Access, AtFlags, FileType},
    io::Errno,
};

use super::failure::Failure;

/// What is to be executed: a path as the process sees it.
pub(super) fn find(
    program: &str,
    path: &str,
    directory: BorrowedFd<'_>,
) -> Result<String, Failure> {
    if program.contains('/') {
        return match look(program, directory) {
            Found::Executable => Ok(program.into()),
            Found::Not(reason) => Err(Failure::NotExecutable {
                program: program.into(),
                reason,
            }),
            Found::Nothing => Err(Failure::ProgramNotFound(program.into())),
        };
    }
    let mut not = None;
    for entry in path.split(':') {
        // An empty entry is the working directory (POSIX.1, "Other Environment Variables").
        let candidate = match entry {
            "" => format!("./{program}"),
            entry if entry.ends_with('/') => format!("{entry}{program}"),
            entry => format!("{entry}/{program}"),
        };
        match look(&candidate, directory) {
            Found::Executable => return Ok(candidate),
            Found::Not(reason) => not = not.or(Some(reason)),
            Found::Nothing => {}
        }
    }
    Err(match not {
        Some(reason) => Failure::NotExecutable {
            program: program.into(),
            reason,
        },
        None => Failure::ProgramNotFound(program.into()),
    })
}

/// What a spawn's error means, of a program that was found before.
pub(super) fn spawn_failure(
    program: &str,
    file: &str,
    directory: BorrowedFd<'_>,
    error: io::Error,
) -> Failure {
    let not_executable = |reason| Failure::NotExecutable {
        program: program.into(),
        reason,
    };
    match Errno::from_io_error(&error) {
        Some(Errno::NOENT | Errno::NOTDIR) => match look(file, directory) {
            Found::Executable => not_executable("its interpreter is not there"),
            Found::Not(reason) => not_executable(reason),
            Found::Nothing => Failure::ProgramNotFound(program.into()),
        },
        Some(Errno::ACCESS | Errno::PERM) => {
            not_executable("the system does not permit it, or not its interpreter")
        }
        Some(Errno::NOEXEC | Errno::INVAL | Errno::ISDIR | Errno::LOOP | Errno::NODEV) => {
            not_executable("it is of no format that this system executes")
        }
        #[cfg(target_os = "linux")]
        Some(Errno::LIBBAD) => {
            not_executable("its interpreter is of no format that this system executes")
        }
        Some(Errno::TOOBIG) => Failure::ArgumentsTooLarge(error),
        Some(Errno::TXTBSY) => Failure::BeingWritten(error),
        Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE) => {
            Failure::SystemBusy(error)
        }
        _ => Failure::system("spawning a process", error),
    }
}

enum Found {
    Executable,
    /// It is there, and why it is not executable.
    Not(&'static str),
    Nothing,
}

fn look(path: &str, directory: BorrowedFd<'_>) -> Found {
    match rustix::fs::statat(directory, path, AtFlags::empty()) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile => {}
        Ok(_) => return Found::Not("it is not a file"),
        Err(Errno::ACCESS) => return Found::Not("a directory on the way may not be entered"),
        Err(_) => return Found::Nothing,
    }
    match rustix::fs::accessat(directory, path, Access::EXEC_OK, AtFlags::EACCESS) {
        Ok(()) => Found::Executable,
        Err(Errno::NOENT) => Found::Nothing,
        Err(_) => Found::Not("it has no execute permission"),
    }
}
