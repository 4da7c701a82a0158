//! Starts the command, and meets the resident that it reaches.

use std::{
    ffi::OsString,
    os::fd::AsFd as _,
    process::{ChildStdin, ChildStdout, ExitStatus},
    sync::{Arc, Mutex},
    time::Duration,
};

use belljar_contract::{Context, Stop};
use belljar_protocol::{Client, Patience, Stream, message::Open};

use super::{
    super::{
        install::{self, Becoming, InstallError},
        keeper::Keeper,
        program::{Attached, Left, Program},
        resident::Resident,
    },
    RemoteError, RemoteFailure, RemoteOptions, classify,
};

/// How long a program whose stream has ended may take to end and say why.
const SAY_WHY: Duration = Duration::from_secs(2);

/// Everything that is known before there is a connection.
pub(super) struct Connector {
    pub(super) program: Program,
    pub(super) arguments: Vec<OsString>,
    pub(super) options: RemoteOptions,
    /// What can be installed; none where nothing is to be.
    pub(super) residents: Vec<install::Resident>,
}

/// A session with a place.
pub(super) struct Connected {
    pub(super) resident: Resident,
    /// The program that carries it; there until its end was asked for.
    pub(super) attached: Mutex<Option<Attached>>,
    /// Until the session ends.
    pub(super) _keeper: Keeper,
}

impl Connector {
    /// Opens a session, on this thread.
    pub(super) fn connect(&self, context: &Context) -> Result<Connected, RemoteError> {
        let limit = self.options.connect_timeout;
        let bounded = context.with_timeout(limit);
        let program = self.program.command(&self.arguments);
        let (attached, input, output) = match Attached::start(program) {
            Ok(started) => started,
            Err(error) => return Err(self.failed(self.not_started(error), String::new())),
        };
        match self.meet(&bounded, input, output) {
            Ok(client) => {
                let resident = Resident::new(client);
                Ok(Connected {
                    _keeper: Keeper::start(&resident, self.options.keep_alive),
                    resident,
                    attached: Mutex::new(Some(attached)),
                })
            }
            Err(failure) => {
                let stopped = matches!(failure, RemoteFailure::Stopped(_));
                let patience = if stopped { Duration::ZERO } else { SAY_WHY };
                let Left { ended, words } = attached.end(patience);
                let failure = match failure {
                    // It was no limit of the caller's that ended it.
                    RemoteFailure::Stopped(Stop::TimedOut) if context.check().is_ok() => {
                        RemoteFailure::TooLong { after: limit }
                    }
                    failure => match why(failure, ended, &words) {
                        // It is the shell that is not there: the resident would have been.
                        RemoteFailure::ResidentMissing if self.options.install => {
                            RemoteFailure::Install(InstallError::NoShell {
                                what: "there is no such program there".to_owned(),
                            })
                        }
                        failure => failure,
                    },
                };
                Err(self.failed(failure, words))
            }
        }
    }

    /// Has the resident started where that is to be done, and opens a session with whoever answers.
    fn meet(
        &self,
        context: &Context,
        input: ChildStdin,
        output: ChildStdout,
    ) -> Result<Client, RemoteFailure> {
        if self.options.install {
            let stdio = Becoming {
                cache: None,
                arguments: "stdio",
            };
            let (to, from) = (input.as_fd(), output.as_fd());
            install::start(context, to, from, &self.residents, stdio)?;
        }
        let variables = self.options.environment.clone();
        let open = Open {
            root: self.options.root.clone(),
            variables: variables.into_iter().collect(),
            limits: self.options.limits,
            silence: Some(self.options.silence()),
        };
        // A third of it until it is asked whether it lives: a question costs next to nothing.
        let quiet = self.options.patience / 3;
        let patience = Patience {
            quiet,
            silent: self.options.patience - quiet,
        };
        let stream = Stream::new(output.into(), input.into());
        let (client, opened) = Client::open_with(context, stream, &open, patience)?;
        match self.options.writable && !opened.writable {
            true => Err(RemoteFailure::RootNotWritable),
            false => Ok(client),
        }
    }

    /// An error of the program, with what was said.
    pub(super) fn failed(&self, failure: RemoteFailure, words: String) -> RemoteError {
        RemoteError {
            program: self.options.program_name(),
            failure,
            words,
        }
    }

    fn not_started(&self, error: std::io::Error) -> RemoteFailure {
        let program = self.program.path().to_owned();
        match error.kind() {
            std::io::ErrorKind::NotFound => RemoteFailure::ProgramMissing { program },
            _ => RemoteFailure::NotStarted {
                program,
                source: Arc::new(error),
            },
        }
    }
}

/// Why there is no session: where only the stream's end is known, the program's end says more.
fn why(
    failure: RemoteFailure,
    ended: Option<std::io::Result<ExitStatus>>,
    words: &str,
) -> RemoteFailure {
    let code = match ended {
        Some(Ok(status)) if !status.success() => status.code(),
        _ => return of_disk(failure, words),
    };
    let by_code = classify::ended(code, words);
    match (&failure, &by_code) {
        (RemoteFailure::Lost { .. }, _) => by_code,
        // An engine may print its own failures where the stream should be.
        (
            RemoteFailure::NotOurs { .. } | RemoteFailure::Install(InstallError::NoShell { .. }),
            RemoteFailure::ResidentMissing | RemoteFailure::NotExecutable,
        ) => by_code,
        _ => of_disk(failure, words),
    }
}

/// What was not written, perhaps because of a full disk: the shell's commands said so, in the C locale.
fn of_disk(failure: RemoteFailure, words: &str) -> RemoteFailure {
    const FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];
    match failure {
        RemoteFailure::Install(InstallError::NotWritten)
            if FULL.iter().any(|text| words.contains(text)) =>
        {
            RemoteFailure::NoRoom
        }
        failure => failure,
    }
}
