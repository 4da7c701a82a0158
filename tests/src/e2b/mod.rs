//! A server that speaks E2B's published protocol, with a directory of this machine for each sandbox.
//!
//! | file | what | published in |
//! |---|---|---|
//! | `control` | sandboxes made, kept and killed | `spec/openapi.yml` of `e2b-dev/E2B` |
//! | `proxy` | which sandbox a request is for | `packages/shared/pkg/proxy` of `e2b-dev/infra` |
//! | `files` | whole files | `spec/envd/envd.yaml` |
//! | `process` | programs | `spec/envd/process/process.proto` |
//! | `connect` | the frames and errors of the Connect protocol | connectrpc.com/docs/protocol |
//! | `machine` | a sandbox: its programs, its time, its end | |
//! | `running` | a program and what it prints | |
//! | `apart` | the server in a process of its own | |
//! | `place` | the server with a configuration that leads to it | |
//!
//! It is stricter than the real one, so that a client cannot get away with anything: what is not published is an error,
//! an unknown member of a message too. What is published and not here answers that it is not (`unimplemented`).
//! Programs are this machine's, and confined by nothing but their good will.

mod apart;
mod connect;
mod control;
mod fault;
mod files;
mod machine;
mod multipart;
mod place;
mod process;
mod proxy;
mod running;

use std::{
    collections::BTreeMap,
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use axum::Router;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};
use tempfile::TempDir;
use tokio::{net::TcpListener, sync::oneshot};

use self::machine::Machine;
pub use self::{apart::E2bProcess, fault::E2bFault, place::E2bPlace};
use crate::zombies;

/// The key that the server takes.
pub const E2B_KEY: &str = "e2b_53ae1fed82754c17ad8077fbc8bcdd90";

/// A server that runs until this is dropped; its sandboxes end with it.
#[derive(Debug)]
pub struct E2bServer {
    state: Arc<State>,
    api: SocketAddr,
    sandboxes: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What the server knows.
#[derive(Debug)]
struct State {
    /// A directory for each sandbox.
    folder: TempDir,
    machines: Mutex<BTreeMap<String, Arc<Machine>>>,
    fault: Mutex<E2bFault>,
    /// Methods and paths, in the order in which they came.
    requests: Mutex<Vec<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn machine(&self, id: &str) -> Option<Arc<Machine>> {
        lock(&self.machines).get(id).cloned()
    }

    /// Ends a sandbox; false when there is none.
    fn kill(&self, id: &str) -> bool {
        let machine = lock(&self.machines).remove(id);
        machine.is_some_and(|machine| {
            machine.kill();
            true
        })
    }

    /// Whether a child is a program whose end somebody waits for.
    fn waits_for(&self, child: Pid) -> bool {
        let id = child.as_raw_nonzero().get().unsigned_abs();
        let machines = lock(&self.machines);
        machines
            .values()
            .any(|machine| lock(&machine.programs).contains_key(&id))
    }

    fn note(&self, method: &str, path: &str) {
        lock(&self.requests).push(format!("{method} {path}"));
    }
}

impl E2bServer {
    /// Starts one on loopback: one port for what makes sandboxes, one for what is in them.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start() -> io::Result<Self> {
        let state = Arc::new(State {
            folder: tempfile::tempdir()?,
            machines: Mutex::default(),
            fault: Mutex::default(),
            requests: Mutex::default(),
        });
        let listen = || {
            let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            Ok::<_, io::Error>((listener.local_addr()?, listener))
        };
        let (api, api_listener) = listen()?;
        let (sandboxes, sandbox_listener) = listen()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = Arc::clone(&state);
        let thread = thread::spawn(move || {
            runtime.block_on(async {
                let control = serve(api_listener, control::router(Arc::clone(&serving)));
                let proxied = serve(sandbox_listener, proxy::router(Arc::clone(&serving)));
                tokio::select! {
                    _ = stopped => {}
                    _ = control => {}
                    _ = proxied => {}
                }
            });
            let machines = std::mem::take(&mut *lock(&serving.machines));
            for machine in machines.into_values() {
                machine.kill();
            }
            // Connections that are open end with it.
            runtime.shutdown_background();
        });
        Ok(Self {
            state,
            api,
            sandboxes,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where sandboxes are made, as a URL.
    #[must_use]
    pub fn api_url(&self) -> String {
        format!("http://{}", self.api)
    }

    /// Where all sandboxes are reached, as a URL; a header tells which.
    #[must_use]
    pub fn sandbox_url(&self) -> String {
        format!("http://{}", self.sandboxes)
    }

    /// The sandboxes that there are.
    #[must_use]
    pub fn sandboxes(&self) -> Vec<String> {
        lock(&self.state.machines).keys().cloned().collect()
    }

    /// What a sandbox was made with.
    #[must_use]
    pub fn metadata(&self, id: &str) -> Option<BTreeMap<String, String>> {
        Some(self.state.machine(id)?.metadata.clone())
    }

    /// Ends a sandbox from outside, as a person does in the vendor's console.
    pub fn kill(&self, id: &str) -> bool {
        self.state.kill(id)
    }

    /// Has it misbehave from now on.
    pub fn misbehave(&self, fault: E2bFault) {
        *lock(&self.state.fault) = fault;
    }

    /// Every request until now, as `POST /sandboxes`.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        lock(&self.state.requests).clone()
    }

    /// Makes this process the parent of what loses its own in a sandbox, and reaps it, as a machine's first process
    /// does. It must have no other children.
    ///
    /// # Errors
    /// When it cannot be one.
    pub fn reap_orphans(&self) -> io::Result<()> {
        set_child_subreaper(Some(getpid()))?;
        let state = Arc::downgrade(&self.state);
        thread::spawn(move || {
            while let Some(state) = state.upgrade() {
                for zombie in zombies() {
                    if !state.waits_for(zombie) {
                        let _ = waitpid(Some(zombie), WaitOptions::NOHANG);
                    }
                }
                drop(state);
                thread::sleep(Duration::from_millis(30));
            }
        });
        Ok(())
    }

    /// Stops it, its sandboxes and its connections.
    pub fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for E2bServer {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn serve(listener: std::net::TcpListener, router: Router) -> io::Result<()> {
    axum::serve(TcpListener::from_std(listener)?, router).await
}
