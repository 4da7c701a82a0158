//! Where a resident meets its host: a socket in a folder that only this user can enter.
//!
//! The host listens and the resident connects, so that the start is seen when it happens, and nothing is
//! left to connect to afterwards: the first one that comes is the resident, since nothing else runs in a
//! container that has just begun, and the socket is gone before anything else does.

use std::{
    io,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    time::Duration,
};

use belljar_contract::{Context, Stop};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::Mode,
};
use tempfile::TempDir;

/// The name of the folder that is bound.
const STREAM: &str = "stream";
/// The socket's name in its folder.
const SOCKET: &str = "socket";
/// How often it is looked whether to wait on.
const LOOK: Duration = Duration::from_millis(20);

/// A socket that a container is to connect to.
pub(super) struct Meeting {
    listener: UnixListener,
    /// What is bound into the container.
    folder: PathBuf,
    /// Around it, for this user alone; none when it stays.
    _around: Option<TempDir>,
}

impl Meeting {
    /// Listens in a new temporary folder.
    ///
    /// # Ambient authority
    /// The system's folder for temporary files.
    pub(super) fn open_ambient() -> io::Result<Self> {
        // Mode 0700, whatever the umask.
        let around = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        let mut meeting = Self::below_ambient(around.path())?;
        meeting._around = Some(around);
        Ok(meeting)
    }

    /// Listens in a folder that stays, and that is this user's alone: a container that is started again has
    /// the same one bound.
    ///
    /// # Ambient authority
    /// The folder is the host's.
    pub(super) fn below_ambient(around: &Path) -> io::Result<Self> {
        let folder = around.join(STREAM);
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let socket = folder.join(SOCKET);
        remove_ambient(&socket)?;
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        // Who connects has the container's user, whichever that is. Nobody else comes this far.
        rustix::fs::chmod(&folder, Mode::from_raw_mode(0o755))?;
        rustix::fs::chmod(&socket, Mode::from_raw_mode(0o777))?;
        Ok(Self {
            listener,
            folder,
            _around: None,
        })
    }

    /// The folder to bind.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The same as text, which it is where it is told to an engine.
    pub(super) fn folder_text(&self) -> String {
        self.folder.to_string_lossy().into_owned()
    }

    /// What [`folder_text`](Self::folder_text) would be in a folder that stays.
    pub(super) fn place_below(around: &Path) -> String {
        around.join(STREAM).to_string_lossy().into_owned()
    }

    /// Waits for the resident, as long as `wanted` says nothing against it.
    pub(super) fn wait<E: From<io::Error> + From<Stop>>(
        self,
        context: &Context,
        mut wanted: impl FnMut() -> Result<(), E>,
    ) -> Result<UnixStream, E> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    return Ok(stream);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            context.check()?;
            wanted()?;
            let bound = Timespec::try_from(LOOK).map_err(io::Error::other)?;
            let mut waited = [PollFd::new(&self.listener, PollFlags::IN)];
            match poll(&mut waited, Some(&bound)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(io::Error::from(errno).into()),
            }
        }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // One that stays is in nobody's way.
        let _ = remove_ambient(&self.folder.join(SOCKET));
    }
}

#[expect(clippy::disallowed_methods, reason = "the folder is the host's own")]
fn remove_ambient(socket: &Path) -> io::Result<()> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
