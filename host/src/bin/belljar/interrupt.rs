//! Signals: the first one cancels everything in hand; one that comes when that should long be done ends the
//! process at once.

use std::{
    future::Future,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use belljar::Context;
use tokio::signal::unix::{SignalKind, signal};

use crate::{exit_code::Exit, failure::Failure};

/// How long everything may take to end in order. Terminals and process managers often send two signals
/// at once, and the second must not leave the processes that the first is about to end.
const ENDING: Duration = Duration::from_secs(2);

/// Says when the command was told to end.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    context: Context,
    signal: Arc<AtomicU8>,
    first: Arc<OnceLock<Duration>>,
}

impl Interrupt {
    /// Listens for SIGINT, SIGTERM and SIGHUP from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupt = Self {
            context: Context::new(),
            signal: Arc::default(),
            first: Arc::default(),
        };
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let mut signals = signal(kind)?;
            let interrupt = interrupt.clone();
            let number = u8::try_from(kind.as_raw_value()).unwrap_or(u8::MAX);
            tokio::spawn(async move {
                while signals.recv().await.is_some() {
                    interrupt.hear(number);
                }
            });
        }
        Ok(interrupt)
    }

    fn hear(&self, number: u8) {
        let now = self.context.now();
        let first = *self.first.get_or_init(|| now);
        if self.signal.swap(number, Ordering::AcqRel) != 0 {
            if now.saturating_sub(first) >= ENDING {
                std::process::exit(Exit::Signalled(number).code());
            }
            return;
        }
        self.context.cancellation().cancel();
    }

    /// The context of everything that the command does: cancelled by the first signal.
    pub(crate) const fn context(&self) -> &Context {
        &self.context
    }

    /// The signal that was heard.
    pub(crate) fn signal(&self) -> Option<u8> {
        Some(self.signal.load(Ordering::Acquire)).filter(|signal| *signal != 0)
    }

    /// Waits for a signal.
    pub(crate) async fn heard(&self) {
        self.context.cancellation().cancelled().await;
    }

    /// Waits for work that cannot be cancelled and need not be ended in order; a signal ends the wait.
    pub(crate) async fn or<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            output = work => Ok(output),
            () = self.heard() => Err(Failure::interrupted()),
        }
    }
}
