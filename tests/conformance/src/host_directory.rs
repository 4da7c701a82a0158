//! The host's way to a workspace that is a directory there.
//!
//! # Ambient authority
//! It opens paths of the host by their text, and trusts whoever makes it with both.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt, net::UnixListener},
    path::{Path, PathBuf},
};

use belljar_contract::async_trait;

use crate::{
    check::Failure,
    outside::{Filling, Outside, SECRET},
};

/// An [`Outside`] over two directories of the host: the workspace, and one beside it for what
/// must not be reached.
#[derive(Clone, Debug)]
pub struct HostDirectory {
    workspace: PathBuf,
    outside: PathBuf,
}

impl HostDirectory {
    /// Uses the workspace's directory and an empty one that is not in it. Both are absolute.
    #[must_use]
    pub fn new_ambient(workspace: impl Into<PathBuf>, outside: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            outside: outside.into(),
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.workspace.join(path)
    }
}

fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let message = format!("{what} {}", path.display());
    move |error| Failure::wrong(format!("the host cannot {message}: {error}"))
}

#[async_trait]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the host's side of a test, not the sandbox"
)]
impl Outside for HostDirectory {
    async fn symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        let link = self.at(link);
        std::os::unix::fs::symlink(text, &link).map_err(failed("link", &link))
    }

    async fn swap_symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        let beside = self.at(&format!("{link}.swap"));
        std::os::unix::fs::symlink(text, &beside).map_err(failed("link", &beside))?;
        std::fs::rename(&beside, self.at(link)).map_err(failed("rename", &beside))
    }

    async fn hard_link(&self, file: &str, link: &str) -> Result<(), Failure> {
        let link = self.at(link);
        std::fs::hard_link(self.at(file), &link).map_err(failed("link", &link))
    }

    async fn mkfifo(&self, path: &str) -> Result<(), Failure> {
        let path = self.at(path);
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
            .map_err(std::io::Error::from)
            .map_err(failed("make the FIFO", &path))
    }

    async fn mksocket(&self, path: &str) -> Result<(), Failure> {
        // The address is short, whatever the workspace's path is: it is bound elsewhere and moved.
        let path = self.at(path);
        let beside = self.outside.join("s");
        UnixListener::bind(&beside)
            .map(drop)
            .map_err(failed("bind", &beside))?;
        std::fs::rename(&beside, &path).map_err(failed("rename to", &path))
    }

    async fn write(&self, path: &[u8], bytes: &[u8]) -> Result<(), Failure> {
        let path = self.workspace.join(OsStr::from_bytes(path));
        std::fs::write(&path, bytes).map_err(failed("write", &path))
    }

    async fn fill(&self, directory: &str, fillings: &[Filling]) -> Result<(), Failure> {
        let directory = self.at(directory);
        for Filling { name, size } in fillings {
            let path = directory.join(name);
            let made = match size {
                Some(size) => std::fs::write(&path, vec![b' '; *size]),
                None => std::fs::create_dir(&path),
            };
            made.map_err(failed("make", &path))?;
        }
        Ok(())
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let path = self.at(path);
        std::fs::read(&path).map_err(failed("read", &path))
    }

    async fn chmod(&self, path: &str, mode: u32) -> Result<(), Failure> {
        let path = self.at(path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
            .map_err(failed("chmod", &path))
    }

    async fn read_link(&self, link: &str) -> Result<String, Failure> {
        let link = self.at(link);
        let text = std::fs::read_link(&link).map_err(failed("read the link", &link))?;
        Ok(text.to_string_lossy().into_owned())
    }

    async fn outside_directory(&self) -> Result<String, Failure> {
        let secret = self.outside.join("secret.txt");
        std::fs::write(&secret, SECRET).map_err(failed("write", &secret))?;
        let sub = self.outside.join("sub");
        std::fs::create_dir_all(&sub).map_err(failed("make", &sub))?;
        Ok(self.outside.display().to_string())
    }

    async fn outside_now(&self) -> Result<(Vec<String>, Vec<u8>), Failure> {
        let mut names = Vec::new();
        for directory in [self.outside.clone(), self.outside.join("sub")] {
            let entries = std::fs::read_dir(&directory).map_err(failed("list", &directory))?;
            for entry in entries {
                let entry = entry.map_err(failed("list", &directory))?;
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        let secret = self.outside.join("secret.txt");
        let bytes = std::fs::read(&secret).map_err(failed("read", &secret))?;
        Ok((names, bytes))
    }

    async fn permissions_bind(&self) -> Result<bool, Failure> {
        Ok(!rustix::process::geteuid().is_root())
    }
}
