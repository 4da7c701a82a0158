//! `belljar-resident`: the workspace engine behind the sandbox protocol.
//!
//! | command | what |
//! |---|---|
//! | `belljar-resident connect SOCKET` | connects to the unix socket where its host listens |
//! | `belljar-resident stdio` | speaks on standard input and output |
//! | `belljar-resident await SOCKET SECONDS` | waits at a unix socket for a session that is handed over |
//! | `belljar-resident attach SOCKET SECONDS` | hands its standard streams to the one that waits there, or will, and stays until that ends |
//! | `belljar-resident copy PATH` | copies this program, into an image's volume |
//!
//! It serves one session and ends with the stream, after every process of the session. As PID 1 of a
//! container that is the container's end too. Everything else it is told by the host, in the protocol:
//! nothing is in its arguments or its environment.

#[cfg(target_env = "gnu")]
mod allocator;
#[cfg(target_os = "linux")]
mod pod;
mod probe;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    os::{fd::AsFd as _, unix::net::UnixStream},
    process::ExitCode,
    time::Duration,
};

use belljar_contract::{Context, Error, Request, Response};
use belljar_protocol::{
    ServeError, Stream,
    facts::Facts,
    message::{Open, Opened},
    serve,
};
use belljar_workspace::{
    Engine,
    files::Workspace,
    processes::{Options, Supervisor},
};

/// Makes the static program start others as the ordinary one does. The standard library calls `posix_spawn`
/// where the C library can change the directory by it, and finds that out from a weak symbol, which a
/// static program has only when something refers to it. Else it calls `execvp`, which gives to a shell
/// what the system cannot execute.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
#[used]
static CHANGES_DIRECTORY: unsafe extern "C" fn(
    *mut libc::posix_spawn_file_actions_t,
    *const libc::c_char,
) -> libc::c_int = libc::posix_spawn_file_actions_addchdir_np;

const USAGE: &str = "usage: belljar-resident connect SOCKET | stdio | await SOCKET SECONDS | attach SOCKET SECONDS | copy PATH | --version";

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.to_str(), rest),
        None => (None, [].as_slice()),
    };
    #[cfg(target_env = "gnu")]
    if let Some("connect" | "stdio" | "await") = command {
        allocator::keep_little();
    }
    let stream = match (command, rest) {
        (Some("connect"), [path]) => UnixStream::connect(path).and_then(Stream::try_from),
        (Some("stdio"), []) => standard_streams(),
        #[cfg(target_os = "linux")]
        (Some("await" | "attach" | "copy"), _) => return in_a_pod(command, rest),
        (Some("--version"), []) => {
            let version = concat!("belljar-resident ", env!("CARGO_PKG_VERSION"));
            return match writeln!(io::stdout(), "{version}") {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::FAILURE,
            };
        }
        _ => {
            complain(USAGE);
            return ExitCode::from(2);
        }
    };
    let served = stream
        .map_err(ServeError::from)
        .and_then(|stream| serve(stream, open));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("belljar-resident: {}", with_sources(&error)));
            ExitCode::FAILURE
        }
    }
}

/// What a resident does whose session comes later.
#[cfg(target_os = "linux")]
fn in_a_pod(command: Option<&str>, rest: &[OsString]) -> ExitCode {
    let seconds = |text: &OsString| text.to_str()?.parse().ok().map(Duration::from_secs);
    let done = match (command, rest) {
        (Some("await"), [path, patience]) if let Some(patience) = seconds(patience) => {
            pod::wait_for_session(path.as_ref(), patience)
                .map(|handed| handed.map_or(Ok(()), served))
        }
        (Some("attach"), [path, patience]) if let Some(patience) = seconds(patience) => {
            pod::hand_over(path.as_ref(), patience).map(Ok)
        }
        (Some("copy"), [path]) => pod::copy_to(path.as_ref()).map(Ok),
        _ => {
            complain(USAGE);
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(Complained)) => ExitCode::FAILURE,
        Err(error) => {
            complain(&format!("belljar-resident: {}", with_sources(&error)));
            ExitCode::FAILURE
        }
    }
}

/// It failed, and was said to who is concerned.
struct Complained;

/// Serves a session that was handed over.
#[cfg(target_os = "linux")]
fn served(handed: pod::Handed) -> Result<(), Complained> {
    let pod::Handed {
        stream,
        complaints,
        other: _until_the_end,
    } = handed;
    serve(stream, open).map_err(|error| {
        let text = format!("belljar-resident: {}\n", with_sources(&error));
        let _ = rustix::io::write(&complaints, text.as_bytes());
        Complained
    })
}

/// Standard input and output, which nothing else of this process may use from here on: they are taken
/// aside, and standard input is empty and standard output the log.
fn standard_streams() -> io::Result<Stream> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let (nothing, _) = rustix::pipe::pipe()?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(Stream::new(input, output))
}

/// An engine that ends every process when it is dropped.
struct Resident {
    engine: Engine,
    /// The workspace, as the host names it.
    root: String,
}

impl belljar_protocol::Engine for Resident {
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error> {
        self.engine.call(context, request)
    }

    fn probe(&self) -> Facts {
        probe::facts(&self.root)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        self.engine.close();
    }
}

fn open(asked: &Open) -> Result<(Resident, Opened), String> {
    let files = Workspace::open_ambient(asked.root.as_ref(), &asked.limits)
        .map_err(|error| with_sources(&error))?;
    let supervisor = Supervisor::new(Options {
        root: asked.root.clone(),
        limits: asked.limits,
        owns_all_children: true,
    })
    .with_variables(asked.variables.iter().cloned().collect());
    let opened = Opened {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        writable: files.is_writable(),
        gaps: supervisor.gaps().into_iter().map(str::to_owned).collect(),
    };
    let engine = Engine::new(files, Some(supervisor));
    let root = asked.root.clone();
    Ok((Resident { engine, root }, opened))
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Says it in the log, on standard error; nobody is helped by an end because nobody reads it.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
