//! What the contract cannot make, and a case needs: links, FIFOs, odd names, a file to escape to.

use belljar_contract::async_trait;

use crate::check::Failure;

/// What the file outside the workspace holds; a case that sees it has escaped.
pub const SECRET: &[u8] = b"outside the workspace\n";

fn cannot<T>(what: &str, names: &[&str]) -> Result<T, Failure> {
    Err(Failure::unmet(format!("nothing here {what} {names:?}")))
}

/// Something to be made in a directory, of a name that is plain text in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    /// Its name.
    pub name: String,
    /// How many bytes the file has; none for a directory.
    pub size: Option<usize>,
}

/// A way to the workspace that is not the contract. Paths are relative to the workspace's root.
///
/// Every method has a default that says that it is not there; the cases that need it are then
/// skipped with this reason.
#[async_trait]
pub trait Outside: Send + Sync {
    /// Makes a symbolic link with this text.
    ///
    /// # Errors
    /// A [`Failure`], as every method here: [`Failure::Unmet`] where it cannot be done.
    async fn symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        cannot("makes a symbolic link", &[text, link])
    }

    /// Replaces what is at `link` by a symbolic link, at once.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn swap_symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        cannot("swaps a symbolic link", &[text, link])
    }

    /// Gives a file a second name.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn hard_link(&self, file: &str, link: &str) -> Result<(), Failure> {
        cannot("makes a hard link", &[file, link])
    }

    /// Makes a FIFO.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn mkfifo(&self, path: &str) -> Result<(), Failure> {
        cannot("makes a FIFO", &[path])
    }

    /// Makes a socket.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn mksocket(&self, path: &str) -> Result<(), Failure> {
        cannot("makes a socket", &[path])
    }

    /// Writes a file whose path need not be UTF-8, in place.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn write(&self, path: &[u8], bytes: &[u8]) -> Result<(), Failure> {
        cannot(
            "writes a file in place",
            &[
                &String::from_utf8_lossy(path),
                &format!("{} bytes", bytes.len()),
            ],
        )
    }

    /// Makes many entries of a directory at once: what a sandbox would take an operation each for.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn fill(&self, directory: &str, fillings: &[Filling]) -> Result<(), Failure> {
        cannot(
            "fills a directory",
            &[directory, &format!("{} entries", fillings.len())],
        )
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
        cannot("reads a file", &[path])
    }

    /// Sets mode bits.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn chmod(&self, path: &str, mode: u32) -> Result<(), Failure> {
        cannot("sets mode bits", &[path, &format!("{mode:o}")])
    }

    /// The text of a link.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn read_link(&self, link: &str) -> Result<String, Failure> {
        cannot("reads a link", &[link])
    }

    /// The absolute path of a directory outside the workspace with `secret.txt` in it, which
    /// holds [`SECRET`], and an empty directory `sub`.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn outside_directory(&self) -> Result<String, Failure> {
        cannot("makes a directory outside the workspace", &[])
    }

    /// The names below that directory, sorted, and what `secret.txt` holds.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn outside_now(&self) -> Result<(Vec<String>, Vec<u8>), Failure> {
        cannot("looks outside the workspace", &[])
    }

    /// Whether mode bits bind whoever runs the sandbox's file operations; not so for root.
    ///
    /// # Errors
    /// As [`symlink`](Self::symlink).
    async fn permissions_bind(&self) -> Result<bool, Failure> {
        cannot("tells who runs the sandbox", &[])
    }

    /// Removes what was made outside the workspace.
    async fn finish(&self) {}
}

/// Nothing outside can be reached.
pub(crate) struct Nothing;

impl Outside for Nothing {}
