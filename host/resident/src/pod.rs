//! A resident whose session comes later, from a program that is started beside it.
//!
//! Where a cluster starts the container, nothing but an exec stream leads into it, and what process 1 prints is kept in
//! a log. So process 1 is the resident and waits at a socket; the program of the exec stream hands its own standard
//! streams over and stays until process 1 has ended. The session then is process 1's, as in any container of ours:
//! no process of it can be killed from inside to end the resident, none is left when it ends, and nothing copies what
//! the stream carries.
//!
//! The first who comes has the session; then the socket is gone. Until then nothing else has run there.

use std::{
    fs::Permissions,
    io::{self, IoSlice, IoSliceMut, Read as _, Write as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd as _, BorrowedFd, OwnedFd},
        unix::{
            fs::PermissionsExt as _,
            net::{UnixListener, UnixStream},
        },
    },
    path::Path,
    thread,
    time::Duration,
};

use belljar_contract::Context;
use belljar_protocol::Stream;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::Mode,
    io::Errno,
    net::{
        RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
    },
};

/// Standard input, output and error.
const STREAMS: usize = 3;

/// How often who wants to hand its streams over looks whether somebody waits for them.
const LOOK: Duration = Duration::from_millis(5);

/// A session that was handed over.
pub(crate) struct Handed {
    pub(crate) stream: Stream,
    /// The standard error of who handed it over.
    pub(crate) complaints: OwnedFd,
    /// Ends with this process, and tells the other one of that.
    pub(crate) other: UnixStream,
}

/// Waits for a session; none when nobody came in time.
pub(crate) fn wait_for_session(path: &Path, patience: Duration) -> io::Result<Option<Handed>> {
    // For this user alone.
    let usual = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let listener = UnixListener::bind(path)?;
    let came = came(listener.as_fd(), patience)?;
    let other = match came {
        true => Some(listener.accept()?.0),
        false => None,
    };
    drop(listener);
    #[expect(
        clippy::disallowed_methods,
        reason = "its own socket, outside the workspace"
    )]
    std::fs::remove_file(path)?;
    rustix::process::umask(usual);
    other.map(receive).transpose()
}

/// Whether somebody comes in time.
fn came(listener: BorrowedFd<'_>, patience: Duration) -> io::Result<bool> {
    let bounded = Context::new().with_timeout(patience);
    loop {
        let left = bounded.remaining().unwrap_or_default();
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&listener, PollFlags::IN)], left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn receive(other: UnixStream) -> io::Result<Handed> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let flags = RecvFlags::CMSG_CLOEXEC;
    recvmsg(
        &other,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        flags,
    )?;
    let mut streams = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    let mut streams = streams.next().into_iter().flatten();
    let (Some(input), Some(output), Some(complaints)) =
        (streams.next(), streams.next(), streams.next())
    else {
        let message = "who came handed no streams over";
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    };
    Ok(Handed {
        stream: Stream::new(input, output),
        complaints,
        other,
    })
}

/// Hands standard input, output and error to who waits at a socket, or will within `patience`, and stays until
/// that has ended.
pub(crate) fn hand_over(path: &Path, patience: Duration) -> io::Result<()> {
    let bounded = Context::new().with_timeout(patience);
    let mut other = loop {
        match UnixStream::connect(path) {
            Ok(other) => break other,
            Err(error) if bounded.check().is_err() => return Err(error),
            // It is about to be there.
            Err(_) => thread::sleep(LOOK),
        }
    };
    {
        let (input, output, error) = (io::stdin(), io::stdout(), io::stderr());
        let streams = [input.as_fd(), output.as_fd(), error.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(&streams)) {
            return Err(io::Error::other("there is no room for the streams"));
        }
        sendmsg(
            &other,
            &[IoSlice::new(&[0])],
            &mut control,
            SendFlags::empty(),
        )?;
    }
    // From here on they are the other one's alone: an end of theirs is to be seen.
    let (nothing, _) = rustix::pipe::pipe()?;
    rustix::stdio::dup2_stdin(&nothing)?;
    // It says nothing, and ends with its end.
    match other.read(&mut [0]) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes this program to a path, whole or not at all.
#[expect(
    clippy::disallowed_methods,
    reason = "there is no workspace yet: a volume is prepared"
)]
pub(crate) fn copy_to(path: &Path) -> io::Result<()> {
    let mut program = std::fs::File::open("/proc/self/exe")?;
    let part = path.with_extension("part");
    let mut copy = std::fs::File::create(&part)?;
    io::copy(&mut program, &mut copy)?;
    copy.flush()?;
    copy.set_permissions(Permissions::from_mode(0o555))?;
    drop(copy);
    std::fs::rename(&part, path)
}
