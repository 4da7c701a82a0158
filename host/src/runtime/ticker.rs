//! The clock of epoch interruption: a thread that ticks while calls run.
//!
//! It holds the engine weakly and ends with it; with no call running it sleeps.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use wasmtime::{Engine, EngineWeak};

/// How often a running guest is asked whether it must stop. A tick costs the thread a few
/// microseconds, and a guest a load and a compare; 10 ms keeps a limit within 10% for 100 ms.
const TICK: Duration = Duration::from_millis(10);
/// How many idle ticks pass before the thread sleeps, so that a burst of short calls
/// does not pay for waking it each time.
const IDLE_TICKS: u32 = 100;

/// Ticks while it is lent out.
pub(super) struct Ticker(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    running: usize,
    asleep: bool,
    ended: bool,
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
        });
        let (engine, ticked) = (engine.weak(), Arc::clone(&shared));
        std::thread::Builder::new()
            .name("belljar-epoch".into())
            .spawn(move || ticked.tick(&engine))?;
        Ok(Self(shared))
    }

    /// Keeps the clock ticking until the guard is dropped.
    pub(super) fn run(&self) -> Running<'_> {
        let mut state = self.0.lock();
        state.running += 1;
        if state.asleep {
            self.0.wake.notify_one();
        }
        Running(&self.0)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self, engine: &EngineWeak) {
        let mut idle = 0;
        let mut state = self.lock();
        while !state.ended {
            if state.running == 0 && idle >= IDLE_TICKS {
                state.asleep = true;
                state = self
                    .wake
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
                idle = 0;
                continue;
            }
            idle = if state.running == 0 { idle + 1 } else { 0 };
            state = self
                .wake
                .wait_timeout(state, TICK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
        }
    }
}

/// A call that runs.
pub(super) struct Running<'a>(&'a Shared);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}
