//! A sandbox: a directory of this machine, the programs that were started in it, its time and its end.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{sync::watch, time::Instant};

use super::{lock, running::Running};

/// By this name every program finds its sandbox, as in the real one.
const ID: &str = "E2B_SANDBOX_ID";

/// What a sandbox is made with.
pub(super) struct MachineOptions {
    /// Whether it is reached with a token only.
    pub(super) is_secure: bool,
    /// How long it lives unless that is changed.
    pub(super) lives: Duration,
    pub(super) metadata: BTreeMap<String, String>,
    /// Every program's variables.
    pub(super) variables: BTreeMap<String, String>,
}

/// A sandbox.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) id: String,
    /// What a request must have, when there is one.
    pub(super) token: Option<String>,
    pub(super) home: PathBuf,
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) programs: Mutex<BTreeMap<u32, Arc<Running>>>,
    until: watch::Sender<Instant>,
    gone: watch::Sender<bool>,
}

impl Machine {
    pub(super) fn make(folder: &Path, options: MachineOptions) -> io::Result<Self> {
        let id = format!("i{}", random(10)?);
        let home = folder.join(&id);
        std::fs::create_dir(&home)?;
        let mut variables = options.variables;
        variables.insert("E2B_SANDBOX".to_owned(), "true".to_owned());
        variables.insert(ID.to_owned(), id.clone());
        let token = match options.is_secure {
            true => Some(random(16)?),
            false => None,
        };
        Ok(Self {
            id,
            token,
            home,
            metadata: options.metadata,
            variables,
            programs: Mutex::default(),
            until: watch::Sender::new(Instant::now() + options.lives),
            gone: watch::Sender::new(false),
        })
    }

    /// Has it live so long from now on.
    pub(super) fn lives_for(&self, time: Duration) {
        self.until.send_replace(Instant::now() + time);
    }

    /// Waits for the end of its time, which may be moved meanwhile, or for another end.
    pub(super) async fn until_its_time_is_over(&self) {
        let (mut until, mut gone) = (self.until.subscribe(), self.gone.subscribe());
        loop {
            let at = *until.borrow_and_update();
            tokio::select! {
                () = tokio::time::sleep_until(at) => return,
                _ = until.changed() => {}
                _ = gone.wait_for(|gone| *gone) => return,
            }
        }
    }

    /// Waits for its end.
    pub(super) async fn gone(&self) {
        let _ = self.gone.subscribe().wait_for(|gone| *gone).await;
    }

    /// Ends it with every program that it ever started, as a machine that is switched off.
    pub(super) fn kill(&self) {
        self.gone.send_replace(true);
        let mark = format!("{ID}={}", self.id);
        // What starts others while it is looked for is found in the next round.
        while kill_marked(&mark) {}
        lock(&self.programs).clear();
        let _ = remove(&self.home);
    }

    /// A path as a program of the sandbox would have it (`ExpandAndResolve`): relative to the home directory.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(rest.trim_start_matches('/')),
            _ => self.home.join(path),
        }
    }
}

/// Whether there was anything to kill.
#[expect(
    clippy::disallowed_methods,
    reason = "/proc is the system's, and no workspace"
)]
fn kill_marked(mark: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut any = false;
    for entry in entries {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let has_mark = std::fs::read(entry.path().join("environ")).is_ok_and(|all| {
            all.split(|byte| *byte == 0)
                .any(|one| one == mark.as_bytes())
        });
        if let (true, Some(pid)) = (has_mark, Pid::from_raw(pid)) {
            any |= kill_process(pid, Signal::KILL).is_ok();
        }
    }
    any
}

#[expect(clippy::disallowed_methods, reason = "a directory of the server's own")]
fn remove(folder: &Path) -> io::Result<()> {
    std::fs::remove_dir_all(folder)
}

/// So many bytes that nobody can guess, as text.
fn random(bytes: usize) -> io::Result<String> {
    let mut content = vec![0; bytes];
    rustix::rand::getrandom(&mut content, rustix::rand::GetRandomFlags::empty())?;
    Ok(content.iter().map(|byte| format!("{byte:02x}")).collect())
}
