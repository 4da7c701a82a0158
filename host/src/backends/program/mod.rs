//! Programs of this machine through which a sandbox is reached: a container engine's, or the one that an
//! operator named.
//!
//! Each is bounded in time and in what it prints, has nothing of the caller's environment but what it needs,
//! and is ended with everything in its process group.
//!
//! | file | what |
//! |---|---|
//! | `environment` | the variables that a program is given |
//! | `supervised` | runs a program to its end |
//! | `attached` | runs a program whose standard input and output are a session's stream |
//! | `kept` | an output, of which so much is kept |

mod attached;
mod environment;
mod kept;
mod supervised;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::Command,
};

pub use self::environment::EngineEnvironment;
#[cfg(test)]
pub(super) use self::supervised::MAX_WORDS;
pub(super) use self::{
    attached::{Attached, Left},
    supervised::{Event, How, MAX_ANSWER, Supervised, closed, kill, watch},
};

/// A program and its environment.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    environment: EngineEnvironment,
}

impl Program {
    /// A program by its name on the PATH of `environment`, or by its path.
    pub(super) const fn new(path: PathBuf, environment: EngineEnvironment) -> Self {
        Self { path, environment }
    }

    /// The name or path that it was given by.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The program with its environment, in a process group of its own.
    pub(super) fn command(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> Command {
        let mut command = Command::new(self.resolved());
        command.args(arguments);
        command.env_clear();
        // Its words are read by a program, which knows one language.
        command.env("LC_ALL", "C");
        command.env("PATH", self.search_path());
        command.envs(self.environment.variables());
        // The working directory is nobody's business, and may be gone.
        command.current_dir("/");
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            command.process_group(0);
        }
        command
    }

    fn search_path(&self) -> OsString {
        let passed = self.environment.variables();
        let path = passed.into_iter().find(|(name, _)| *name == "PATH");
        path.map_or_else(
            || "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".into(),
            |(_, path)| path.clone(),
        )
    }

    /// The program as a path, so that it is found on the PATH that was passed and not on this process's.
    fn resolved(&self) -> PathBuf {
        // Windows looks for more endings than a name has, and does so itself.
        if self.path.is_absolute() || cfg!(windows) {
            return self.path.clone();
        }
        std::env::split_paths(&self.search_path())
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&self.path))
            .find(|path| path.is_file())
            // What is not found is reported by its name when it is started.
            .unwrap_or_else(|| Path::new("/nonexistent").join(&self.path))
    }
}
