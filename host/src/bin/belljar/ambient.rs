//! What the command takes from its surroundings: folders and variables.
//!
//! # Ambient authority
//! All of it; the library gets each as an argument.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use belljar::backends::EngineEnvironment;

/// The current folder.
#[expect(
    clippy::disallowed_methods,
    reason = "the command's paths are relative to it"
)]
pub(crate) fn current_folder() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// A variable of this process.
#[expect(
    clippy::disallowed_methods,
    reason = "the command passes on what its caller names"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The variables of a container engine's program.
pub(crate) fn engine_environment() -> EngineEnvironment {
    EngineEnvironment::from_variables(std::env::vars_os())
}

/// Where the residents of this installation may be: where the caller says, beside the command, and where
/// its libraries are.
pub(crate) fn resident_folders() -> Vec<PathBuf> {
    let named = variable("BELLJAR_RESIDENTS").map(PathBuf::from);
    let command = std::env::current_exe().ok();
    let beside = command.as_deref().and_then(Path::parent);
    let libraries = beside
        .and_then(Path::parent)
        .map(|prefix| prefix.join("lib/belljar"));
    let beside = beside.map(Path::to_owned);
    [named, beside, libraries].into_iter().flatten().collect()
}

/// The user's home folder.
pub(crate) fn home_folder() -> Option<PathBuf> {
    variable("HOME")
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
}

/// Where compiled components are kept, by the XDG base directory specification: a relative
/// `XDG_CACHE_HOME` is ignored.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| Some(home_folder()?.join(".cache")))?;
    Some(folder.join("belljar").join("compiled"))
}

/// Where components of registries are kept.
pub(crate) fn component_folder() -> Option<PathBuf> {
    let compiled = cache_folder()?;
    Some(compiled.with_file_name("components"))
}

/// The user's name and password for a registry, as `docker login` keeps them.
pub(crate) fn registry_credentials(registry: &str) -> Option<(String, String)> {
    use docker_credential::{CredentialRetrievalError as Error, DockerCredential as Kept};
    match docker_credential::get_credential(registry) {
        Ok(Kept::UsernamePassword(user, password)) => Some((user, password)),
        // What a registry calls a user who has a token and no password.
        Ok(Kept::IdentityToken(token)) => Some(("<token>".to_owned(), token)),
        Err(Error::ConfigNotFound | Error::NoCredentialConfigured) => None,
        Err(error) => {
            tracing::warn!("no credentials for {registry}: {error}; asking without");
            None
        }
    }
}

/// Where containers that are found again have their places, by the XDG base directory specification.
pub(crate) fn container_state_folder() -> Option<PathBuf> {
    let folder = variable("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| Some(home_folder()?.join(".local/state")))?;
    Some(folder.join("belljar").join("containers"))
}

/// The files that say where a cluster is, as `kubectl` looks for them.
pub(crate) fn kubeconfig() -> Vec<PathBuf> {
    match variable("KUBECONFIG") {
        Some(paths) => std::env::split_paths(&paths)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        None => home_folder()
            .map(|home| home.join(".kube").join("config"))
            .filter(|file| file.is_file())
            .into_iter()
            .collect(),
    }
}

/// A file that the command's caller named.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the caller's, not of a workspace"
)]
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// A file that the command's caller named, to be read bit by bit.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of the caller's, not of a workspace"
)]
pub(crate) fn open_file(path: &Path) -> io::Result<std::fs::File> {
    std::fs::File::open(path)
}

/// A new file that the command's caller named, for its user alone. What is there stays.
pub(crate) fn new_file(path: &Path) -> io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Everything on standard input, at most `most` bytes of it.
pub(crate) fn read_stdin(most: u64) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let mut bytes = Vec::new();
    let read = io::stdin()
        .lock()
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    if read as u64 > most {
        let message = format!("standard input is over {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}
