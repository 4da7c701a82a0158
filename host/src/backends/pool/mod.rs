//! Sandboxes that run before anyone asks for one.
//!
//! To start one takes an engine tenths of a second and a cluster seconds, and to hand out one that runs takes a question
//! to its resident. One is handed out once: it ends with its session, and another takes its place on the shelf.

mod shelf;
mod state;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use belljar_contract::{Context, blocking};

pub(super) use self::shelf::Shelf;
use super::executor::Executor;

/// How many containers, or Pods, stand ready, and for how long.
///
/// ```
/// use belljar::backends::PoolOptions;
///
/// assert_eq!(PoolOptions::default().size, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolOptions {
    /// How many are kept running beside those in use. Default: none.
    pub size: u32,
    /// How long they are kept when no session is asked for; the next one that is fills the pool again. Default: five
    /// minutes.
    pub idle: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            size: 0,
            idle: Duration::from_secs(300),
        }
    }
}

/// What a pool is of: how one is started, handed out and ended, each on a thread that may block.
pub(super) trait Stock: Send + Sync + 'static {
    /// One that runs.
    type Item: Send + fmt::Debug + 'static;
    /// Why one does not start, or is left behind.
    type Error: fmt::Display;

    fn start(&self, context: &Context) -> Result<Self::Item, Self::Error>;

    /// Whether it lives and is from now on the session's that asked.
    fn hand_out(&self, context: &Context, item: &Self::Item) -> bool;

    fn end(&self, item: &Self::Item) -> Result<(), Self::Error>;
}

/// What stands ready, with the threads that keep it so.
pub(super) struct Pool<S: Stock> {
    shelf: Arc<Shelf<S>>,
    keepers: Mutex<Vec<JoinHandle<()>>>,
}

impl<S: Stock> Pool<S> {
    /// Begins to fill it, `at_once` at a time, each on a thread of its own.
    pub(super) fn open(
        options: PoolOptions,
        stock: &Arc<S>,
        at_once: u32,
    ) -> std::io::Result<Self> {
        let shelf = Arc::new(Shelf::new(options));
        let pool = Self {
            shelf: Arc::clone(&shelf),
            keepers: Mutex::new(Vec::new()),
        };
        for _ in 0..at_once.min(options.size) {
            let (kept, stock) = (Arc::clone(&shelf), Arc::clone(stock));
            // Where one does not start, those that did end with the pool.
            let keeper = std::thread::Builder::new()
                .name("belljar-pool".into())
                .spawn(move || kept.keep(&*stock))?;
            let mut keepers = pool.keepers.lock().unwrap_or_else(PoisonError::into_inner);
            keepers.push(keeper);
        }
        Ok(pool)
    }

    pub(super) fn shelf(&self) -> Arc<Shelf<S>> {
        Arc::clone(&self.shelf)
    }

    /// How many stand ready now.
    pub(super) fn ready(&self) -> usize {
        self.shelf.ready()
    }

    /// Removes those that stand ready, and waits until they are gone.
    pub(super) async fn close(&self) {
        self.shelf.close();
        let keepers = {
            let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *keepers)
        };
        // A thread has nothing to say; if it panicked, it held nothing that does not end by itself.
        let joined = move || keepers.into_iter().for_each(|keeper| drop(keeper.join()));
        let _ = blocking::run(&Executor, joined).await;
    }
}

impl<S: Stock> Drop for Pool<S> {
    /// Those that stand ready are removed, by threads that are not waited for.
    fn drop(&mut self) {
        self.shelf.close();
    }
}

impl<S: Stock> fmt::Debug for Pool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("ready", &self.ready())
            .finish_non_exhaustive()
    }
}
