//! Finding and reading a configuration file.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use super::{Config, ConfigError, interpret, place::Place};

/// The name of a configuration file.
pub const FILE_NAME: &str = "belljar.toml";
/// The most bytes of a configuration file: far more than a person writes, and far less than
/// would be felt when something else is given by mistake.
const MAX_BYTES: u64 = 1 << 20;

/// Reads configurations, with what the library itself never asks the system for.
///
/// ```
/// use std::path::Path;
/// use belljar::config::Loader;
///
/// let text = "version = 1\nsandbox.workspace = '~/work'";
/// let config = Loader::new().home("/home/ada").from_toml(text, Path::new("/etc"))?;
/// assert_eq!(config.sandbox.workspace.as_deref(), Some(Path::new("/home/ada/work")));
/// # Ok::<(), belljar::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Loader {
    home: Option<PathBuf>,
}

impl Loader {
    /// Makes a loader that knows no home folder: a path that begins with `~` is refused.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what `~` stands for.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// As [`Config::from_toml`].
    ///
    /// # Errors
    /// As [`Config::from_toml`].
    pub fn from_toml(&self, text: &str, directory: &Path) -> Result<Config, ConfigError> {
        self.interpret(text, directory, None)
    }

    /// As [`Config::load`].
    ///
    /// # Ambient authority
    /// The path is the host's, resolved with the process's own rights.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load(&self, path: &Path) -> Result<Config, ConfigError> {
        let text = read_ambient(path)?;
        let directory = path.parent().unwrap_or(Path::new(""));
        self.interpret(&text, directory, Some(path))
    }

    /// As [`Config::discover`].
    ///
    /// # Ambient authority
    /// It looks for a file in every folder from `directory` up to the file system's root.
    ///
    /// # Errors
    /// As [`Config::discover`].
    pub fn discover(&self, directory: &Path) -> Result<Option<Config>, ConfigError> {
        for folder in directory.ancestors() {
            match self.load(&folder.join(FILE_NAME)) {
                Err(ConfigError::Unreadable { source, .. })
                    if source.kind() == io::ErrorKind::NotFound => {}
                found => return found.map(Some),
            }
        }
        Ok(None)
    }

    fn interpret(
        &self,
        text: &str,
        directory: &Path,
        file: Option<&Path>,
    ) -> Result<Config, ConfigError> {
        let place = Place {
            directory,
            home: self.home.as_deref(),
        };
        let file = file.map(Path::to_owned);
        match interpret::read(text, place) {
            Ok(config) => Ok(Config { file, ..config }),
            Err(mut problems) => {
                problems.sort_by_key(|problem| problem.position);
                Err(ConfigError::Invalid { file, problems })
            }
        }
    }
}

fn read_ambient(path: &Path) -> Result<String, ConfigError> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the operator's own file, which is outside every workspace"
    )]
    let opened = File::open(path);
    let mut text = String::new();
    let read = opened.and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
    let path = path.to_owned();
    match read {
        Ok(bytes) if bytes as u64 > MAX_BYTES => Err(ConfigError::TooLarge {
            path,
            most: MAX_BYTES,
        }),
        Ok(_) => Ok(text),
        Err(source) => Err(ConfigError::Unreadable { path, source }),
    }
}
