//! What an operator may say of a place that a command reaches.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::PathBuf,
    time::Duration,
};

use belljar_contract::session::Limits;

use super::super::program::EngineEnvironment;

/// How the `remote` backend is opened.
///
/// What confines processes there is unknown here. The operator's word for it is the command itself, and the
/// directory: neither has a default.
///
/// ```
/// use belljar::backends::{RemoteOptions, RemoteOptionsError};
///
/// let ssh = ["ssh", "-o", "BatchMode=yes", "build", "belljar-resident", "stdio"];
/// let options = RemoteOptions::new(ssh, "/home/ada/work");
/// assert!(options.validated().is_ok());
///
/// let refused = RemoteOptions::new(ssh, "work").validated();
/// assert!(matches!(refused, Err(RemoteOptionsError::Root { .. })));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteOptions {
    /// A program and its arguments, whose standard input and output reach a resident; with
    /// [`install`](Self::install) a shell. The program is a name on the PATH, or a path.
    ///
    /// It has no terminal: a program that asks for a password fails, or hangs until
    /// [`connect_timeout`](Self::connect_timeout). Tell `ssh` by `-o BatchMode=yes`.
    pub command: Vec<OsString>,
    /// The variables of that program.
    pub program_environment: EngineEnvironment,
    /// The workspace: a directory there, absolute.
    pub root: String,
    /// Whether the file functions may change it. What processes may do, the system there alone decides.
    pub writable: bool,
    /// Whether the command reaches a POSIX shell (`ssh build sh`), which is told to start the resident that fits
    /// its machine. Where it lacks that, or has one of another content, it is given one first, and nothing is
    /// started whose SHA-256 is another than that of this installation's.
    pub install: bool,
    /// Folders with the residents of this installation, `belljar-resident-ARCH-linux` each; the first that has
    /// one counts.
    pub residents: Vec<PathBuf>,
    /// The longest time until there is a session, what is installed included. Default: 30 seconds.
    pub connect_timeout: Duration,
    /// How long whoever is waited for may say nothing at all before the session is dead. Default: 30 seconds, since
    /// a network recovers from more than a machine does, and a session that is lost is lost.
    pub patience: Duration,
    /// How often a session says that it lives, so that nothing on the way forgets it, and that its end is seen while
    /// it rests. Default: 30 seconds, where usual firewalls forget a connection after minutes.
    ///
    /// What the resident does not hear for as long as this and [`patience`](Self::patience) together, it takes for
    /// gone: it ends its processes and itself, though the stream has no end, as on a link that was cut. So does a
    /// host that is suspended for longer lose its session.
    pub keep_alive: Duration,
    /// More variables for processes there. They travel on the stream and never in an argv.
    pub environment: BTreeMap<String, String>,
    /// The numbers in force.
    pub limits: Limits,
}

/// Why there is no place to open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteOptionsError {
    /// There is no command.
    #[error(
        "there is no command; name one that reaches a resident, as in [\"ssh\", \"build\", \"belljar-resident\", \"stdio\"]"
    )]
    NoCommand,
    /// Something in the command can be no argument.
    #[error("an argument of the command has a NUL character")]
    Argument,
    /// The program is a path that depends on where this process is.
    #[error("the command's program {} is a relative path; use a name on the PATH, or an absolute path", program.display())]
    Program {
        /// The program.
        program: PathBuf,
    },
    /// The workspace is no absolute path.
    #[error("the directory {root:?} is not absolute; name the whole path, as it is there")]
    Root {
        /// The workspace.
        root: String,
    },
    /// A time in which nothing can happen.
    #[error("{name} is zero")]
    Zero {
        /// The option's name.
        name: &'static str,
    },
    /// A workspace of this machine was named.
    #[error(
        "the workspace {} is a directory of this machine; name the one there, as root in [sandbox.remote]", workspace.display()
    )]
    WorkspaceIsHere {
        /// The workspace.
        workspace: PathBuf,
    },
}

impl RemoteOptions {
    /// The defaults, with a command and a directory there.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<OsString>>,
        root: impl Into<String>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            program_environment: EngineEnvironment::default(),
            root: root.into(),
            writable: true,
            install: false,
            residents: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(30),
            keep_alive: Duration::from_secs(30),
            environment: BTreeMap::new(),
            limits: Limits::default(),
        }
    }

    /// Says whether the options can be used, as far as that can be said here.
    ///
    /// # Errors
    /// [`RemoteOptionsError`] for the first that cannot.
    pub fn validated(self) -> Result<Self, RemoteOptionsError> {
        let program = self.command.first().ok_or(RemoteOptionsError::NoCommand)?;
        if program.is_empty() {
            return Err(RemoteOptionsError::NoCommand);
        }
        let has_nul = |text: &OsString| text.as_encoded_bytes().contains(&0);
        if self.command.iter().any(has_nul) {
            return Err(RemoteOptionsError::Argument);
        }
        let program = PathBuf::from(program);
        if !program.is_absolute() && program.file_name() != Some(program.as_os_str()) {
            return Err(RemoteOptionsError::Program { program });
        }
        // A place is a Linux machine, whatever this one is.
        if !self.root.starts_with('/') || self.root.contains('\0') {
            return Err(RemoteOptionsError::Root { root: self.root });
        }
        for (name, duration) in [
            ("connect-timeout", self.connect_timeout),
            ("patience", self.patience),
            ("keep-alive", self.keep_alive),
        ] {
            if duration.is_zero() {
                return Err(RemoteOptionsError::Zero { name });
            }
        }
        Ok(self)
    }

    /// How long the resident waits for a word of this host's until it takes it for gone, and ends.
    pub(super) fn silence(&self) -> Duration {
        self.keep_alive.saturating_add(self.patience)
    }

    /// The program's name, for people: without a folder, and without arguments.
    pub(super) fn program_name(&self) -> String {
        let program = self.command.first().map(PathBuf::from).unwrap_or_default();
        let name = program.file_name().unwrap_or_else(|| OsStr::new("command"));
        name.to_string_lossy().into_owned()
    }
}

impl fmt::Debug for RemoteOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteOptions")
            .field("command", &self.command)
            .field("program_environment", &self.program_environment)
            .field("root", &self.root)
            .field("writable", &self.writable)
            .field("install", &self.install)
            .field("residents", &self.residents)
            .field("connect_timeout", &self.connect_timeout)
            .field("patience", &self.patience)
            .field("keep_alive", &self.keep_alive)
            .field("environment", &self.environment.keys())
            .field("limits", &self.limits)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: impl FnOnce(&mut RemoteOptions)) -> RemoteOptionsError {
        let mut options = RemoteOptions::new(["ssh", "build", "sh"], "/work");
        change(&mut options);
        match options.validated() {
            Err(error) => error,
            Ok(options) => panic!("{options:?}"),
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        use RemoteOptionsError::{Argument, NoCommand, Program, Root, Zero};
        assert_eq!(refused(|o| o.command.clear()), NoCommand);
        assert_eq!(refused(|o| o.command[0].clear()), NoCommand);
        assert_eq!(refused(|o| o.command[1] = "a\0b".into()), Argument);
        for program in ["./ssh", "bin/ssh", "..", "ssh/"] {
            let error = refused(|o| o.command[0] = program.into());
            assert!(matches!(error, Program { .. }), "{program}: {error:?}");
        }
        for root in ["", "work", "~/work", "/a\0"] {
            let error = refused(|o| o.root = root.into());
            assert!(matches!(error, Root { .. }), "{root}: {error:?}");
        }
        let zero = refused(|o| o.keep_alive = Duration::ZERO);
        assert_eq!(zero, Zero { name: "keep-alive" });
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut options = RemoteOptions::new(["ssh"], "/work");
        options.environment.insert("TOKEN".into(), "s3cret".into());
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
