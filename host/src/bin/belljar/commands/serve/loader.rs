//! Loads components while clients are answered already, and loads them again when their files change.
//!
//! Files are looked at twice a second, which costs microseconds and works on every file system; watches of the
//! kernel do not see what another machine changes, and follow an entry that a build replaces only by watching its
//! whole folder.

use std::{os::unix::fs::MetadataExt as _, path::Path, sync::Arc, time::Duration};

use belljar::{Host, Tool, config::Config};
use tokio::{
    sync::{oneshot, watch},
    task::{JoinSet, spawn_blocking},
    time::{MissedTickBehavior, interval},
};

use super::catalog::Catalog;
use crate::{component::Component, engine::EngineArguments, exit_code::Exit, failure::Failure};

/// How often files are looked at.
const LOOKS: Duration = Duration::from_millis(500);

/// What there is of the tools.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    pub(super) catalog: Arc<Catalog>,
    /// Grows with each change.
    pub(super) version: u64,
    /// Everything is loaded.
    pub(super) is_complete: bool,
    /// Why the server ends.
    pub(super) failed: Option<String>,
}

/// What components are loaded with.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) config: Config,
    pub(super) engine: EngineArguments,
    pub(super) concurrent_calls: u32,
}

/// Begins to load. What comes second says why that failed, if it does.
pub(super) fn start(
    source: Source,
    components: Vec<Component>,
) -> (watch::Receiver<Shelf>, oneshot::Receiver<Failure>) {
    let (shelf, shown) = watch::channel(Shelf {
        catalog: Arc::default(),
        version: 0,
        is_complete: false,
        failed: None,
    });
    let (fail, failed) = oneshot::channel();
    tokio::spawn(async move {
        let loader = Loader {
            config: Arc::new(source.config.clone()),
            shelf,
        };
        match loader.load(source, components).await {
            Ok((host, files)) => loader.keep(host, files).await,
            Err(failure) => {
                let message = failure.messages().join(": ");
                loader
                    .shelf
                    .send_modify(|shelf| shelf.failed = Some(message));
                let _ = fail.send(failure);
            }
        }
    });
    (shown, failed)
}

struct Loader {
    config: Arc<Config>,
    shelf: watch::Sender<Shelf>,
}

/// A component, and the state of its file.
struct File {
    component: Component,
    /// When it was last loaded, or tried.
    tried: Option<Stamp>,
    /// When it was last looked at.
    seen: Option<Stamp>,
}

impl Loader {
    /// Loads every component, several at once. No two may have a tool of the same name.
    async fn load(
        &self,
        source: Source,
        components: Vec<Component>,
    ) -> Result<(Host, Vec<File>), Failure> {
        let host = spawn_blocking(move || {
            source
                .engine
                .start_for(&source.config, source.concurrent_calls)
        });
        let host = done(host.await)?;
        let at_once = std::thread::available_parallelism().map_or(1, usize::from);
        let mut waiting = components.iter().cloned().enumerate();
        let mut loading = JoinSet::new();
        let mut files: Vec<Option<File>> = components.iter().map(|_| None).collect();
        loop {
            while loading.len() < at_once
                && let Some((place, component)) = waiting.next()
            {
                let (host, config) = (host.clone(), Arc::clone(&self.config));
                loading.spawn_blocking(move || {
                    // Before it is read: what changes while it is read is loaded again.
                    let stamp = Stamp::of(&component.path);
                    let tool = component.load(&host, &config);
                    (place, component, stamp, tool)
                });
            }
            let Some(loaded) = loading.join_next().await else {
                break;
            };
            let (place, component, stamp, tool) =
                loaded.map_err(|error| Failure::new(Exit::Host, error))?;
            self.place(place, &component.name, tool?)?;
            files[place] = Some(File {
                component,
                tried: stamp,
                seen: stamp,
            });
        }
        self.shelf.send_modify(|shelf| shelf.is_complete = true);
        Ok((host, files.into_iter().flatten().collect()))
    }

    /// Puts a component where it is served.
    fn place(&self, place: usize, name: &str, tool: Tool) -> Result<(), Failure> {
        let catalog = Arc::clone(&self.shelf.borrow().catalog);
        let next = catalog.with(place, name, tool).map_err(|error| {
            Failure::new(Exit::Configuration, error)
                .hint("a client knows tools by their names alone: serve one of the two")
        })?;
        self.shelf.send_modify(|shelf| {
            shelf.catalog = Arc::new(next);
            shelf.version += 1;
        });
        Ok(())
    }

    /// Loads again what changes, for as long as somebody is served.
    async fn keep(&self, host: Host, mut files: Vec<File>) {
        let mut looks = interval(LOOKS);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = self.shelf.closed() => return,
            }
            let looked = spawn_blocking(move || {
                let changed = files.iter_mut().map(File::look).collect::<Vec<_>>();
                (files, changed)
            });
            let changed;
            (files, changed) = match looked.await {
                Ok(looked) => looked,
                Err(error) => {
                    tracing::error!("the components are no longer looked at: {error}");
                    return;
                }
            };
            for (place, file) in files
                .iter()
                .enumerate()
                .filter(|(place, _)| changed[*place])
            {
                self.load_again(&host, place, &file.component).await;
            }
        }
    }

    /// Loads a component whose file has changed. One that is not good changes nothing.
    async fn load_again(&self, host: &Host, place: usize, component: &Component) {
        let (host, config, loaded) = (host.clone(), Arc::clone(&self.config), component.clone());
        let tool = spawn_blocking(move || loaded.load(&host, &config));
        let name = &component.name;
        match done(tool.await).and_then(|tool| self.place(place, name, tool)) {
            Ok(()) => tracing::info!("the tools of {name} are loaded again"),
            Err(failure) => {
                let reason = failure.messages().join(": ");
                tracing::warn!(
                    "the tools of {name} stay as they are, for its file has changed and is refused: {reason}"
                );
            }
        }
    }
}

impl File {
    /// Whether the file has changed, and rests: what is being written is not loaded.
    fn look(&mut self) -> bool {
        let now = Stamp::of(&self.component.path);
        let rests = now.is_some() && now == self.seen;
        self.seen = now;
        let changed = rests && now != self.tried;
        if changed {
            self.tried = now;
        }
        changed
    }
}

/// What tells a file's states apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// None when there is no such file now.
    fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        Some(Self {
            file: (data.dev(), data.ino()),
            bytes: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        })
    }
}

/// What came of work on another thread.
fn done<T>(result: Result<Result<T, Failure>, tokio::task::JoinError>) -> Result<T, Failure> {
    result.map_err(|error| Failure::new(Exit::Host, error))?
}
