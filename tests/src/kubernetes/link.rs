//! The way from this process to the API server, which lives in a network of its own.

use std::{
    fs::File,
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    os::fd::AsFd as _,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// How long a connection there may take to be had.
const CONNECT: Duration = Duration::from_secs(5);

/// A listener of this machine whose connections go on in the cluster's network.
#[derive(Debug)]
pub struct KubernetesLink {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    network: PathBuf,
    server: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    mode: Mode,
    /// Both ends of each connection.
    connections: Vec<[TcpStream; 2]>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Joined,
    /// Connections stay, and nothing comes through them.
    Frozen,
    /// There are no connections.
    Cut,
    /// Nobody listens any more.
    Gone,
}

impl KubernetesLink {
    /// A link to a server in the network that this file is.
    pub(super) fn new(network: &Path, server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            network: network.to_owned(),
            server,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let link = Arc::clone(&shared);
        thread::spawn(move || {
            for incoming in listener.incoming() {
                match link.lock().mode {
                    Mode::Gone => return,
                    Mode::Cut => continue,
                    Mode::Joined | Mode::Frozen => {}
                }
                let Ok(near) = incoming else { continue };
                let link = Arc::clone(&link);
                thread::spawn(move || {
                    // Whoever came sees the end of the connection.
                    let _ = link.carry(near);
                });
            }
        });
        Ok(Self { address, shared })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection, and lets none begin.
    pub fn cut(&self) {
        self.shared.become_(Mode::Cut);
    }

    /// Lets nothing through any more, and tells nobody.
    pub fn freeze(&self) {
        self.shared.become_(Mode::Frozen);
    }

    /// Lets through what was kept, and what comes.
    pub fn mend(&self) {
        self.shared.become_(Mode::Joined);
    }
}

impl Drop for KubernetesLink {
    fn drop(&mut self) {
        self.shared.become_(Mode::Gone);
        // Whoever waits for a connection gets one.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn become_(&self, mode: Mode) {
        let mut state = self.lock();
        state.mode = mode;
        if matches!(mode, Mode::Cut | Mode::Gone) {
            for end in state.connections.drain(..).flatten() {
                let _ = end.shutdown(Shutdown::Both);
            }
        }
        self.changed.notify_all();
    }

    /// Carries one connection to its end.
    #[expect(clippy::disallowed_methods, reason = "a network is a file here")]
    fn carry(self: Arc<Self>, near: TcpStream) -> io::Result<()> {
        // This thread alone, which has a socket made there and ends with it.
        let network = File::open(&self.network)?;
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
        let far = TcpStream::connect_timeout(&self.server, CONNECT)?;
        for end in [&near, &far] {
            end.set_nodelay(true)?;
        }
        let ends = [near.try_clone()?, far.try_clone()?];
        {
            let mut state = self.lock();
            if matches!(state.mode, Mode::Cut | Mode::Gone) {
                return Ok(());
            }
            state.connections.push(ends);
        }
        let back = (far.try_clone()?, near.try_clone()?);
        let other = Arc::clone(&self);
        let backwards = thread::spawn(move || other.copy(back.0, back.1));
        self.copy(near, far);
        let _ = backwards.join();
        Ok(())
    }

    /// Copies in one direction until it ends.
    fn copy(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            self.wait_while_frozen();
            if to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        // An end that comes while it is frozen is a message like any other.
        self.wait_while_frozen();
        let _ = to.shutdown(Shutdown::Write);
        let _ = from.shutdown(Shutdown::Read);
    }

    fn wait_while_frozen(&self) {
        let state = self.lock();
        let frozen = |state: &mut State| state.mode == Mode::Frozen;
        drop(
            self.changed
                .wait_while(state, frozen)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}
