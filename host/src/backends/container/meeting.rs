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

/// How often it is looked whether to wait on.
const LOOK: Duration = Duration::from_millis(20);

/// A socket that a container is to connect to.
pub(super) struct Meeting {
    listener: UnixListener,
    /// What is bound into the container.
    folder: PathBuf,
    /// Around it, for this user alone.
    _around: TempDir,
}

impl Meeting {
    /// Listens in a new temporary folder.
    ///
    /// # Ambient authority
    /// The system's folder for temporary files.
    pub(super) fn open_ambient() -> io::Result<Self> {
        // Mode 0700, whatever the umask.
        let around = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        let folder = around.path().join("stream");
        std::fs::create_dir(&folder)?;
        let socket = folder.join("socket");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        // Who connects has the container's user, whichever that is. Nobody else comes this far.
        rustix::fs::chmod(&folder, Mode::from_raw_mode(0o755))?;
        rustix::fs::chmod(&socket, Mode::from_raw_mode(0o777))?;
        Ok(Self {
            listener,
            folder,
            _around: around,
        })
    }

    /// The folder to bind.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
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
