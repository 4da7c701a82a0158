//! Calls of many sessions at a time, from tasks of an executor.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use belljar::{Context, RunOptions, Sandbox, WriteOptions, processes::Command as Program};
use tokio::{task::JoinSet, time::sleep};

use crate::held;

/// What is asked.
#[derive(Clone, Copy)]
pub(crate) enum Call {
    Read,
    Write,
    Run,
}

impl Call {
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Run];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read 1 KiB",
            Self::Write => "write 1 KiB",
            Self::Run => "run true",
        }
    }

    async fn make(self, sandbox: &Sandbox) {
        let sandbox = sandbox.within(Context::new().with_timeout(Duration::from_secs(60)));
        match self {
            Self::Read => sandbox.read("small").await.map(drop),
            Self::Write => {
                let kib = [b'y'; 1024];
                let written = sandbox.write("ours", kib, WriteOptions::default()).await;
                written.map(drop)
            }
            Self::Run => {
                let program = Program::Argv(vec!["true".to_owned()]);
                let run = sandbox.run(program, RunOptions::default()).await;
                run.map(|ended| assert!(ended.outcome.success(), "{ended:?}"))
            }
        }
        .expect("an answer");
    }
}

/// What a load came to.
pub(crate) struct Came {
    /// Of every call, from when it was due; in order.
    pub(crate) latencies: Vec<Duration>,
    pub(crate) took: Duration,
    /// Of this process.
    pub(crate) processor: Duration,
    /// The most threads that were seen.
    pub(crate) threads: f64,
}

impl Came {
    pub(crate) fn millis_at(&self, part: f64) -> f64 {
        millis_at(&self.latencies, part)
    }

    pub(crate) fn a_second(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64()
    }

    /// In microseconds.
    pub(crate) fn processor_a_call(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / self.latencies.len() as f64
    }
}

/// The latency that this part of them does not exceed.
pub(crate) fn millis_at(latencies: &[Duration], part: f64) -> f64 {
    let place = (latencies.len() - 1) as f64 * part;
    latencies[place.round() as usize].as_secs_f64() * 1e3
}

/// So many calls of each session: one every so often, or each when the one before has ended.
pub(crate) async fn load(
    sandboxes: &[Sandbox],
    call: Call,
    rounds: u32,
    every: Option<Duration>,
) -> Came {
    let (threads, processor, began) = (Peak::start(), held::processor_time(), Instant::now());
    let mut sessions = JoinSet::new();
    for (index, sandbox) in sandboxes.iter().enumerate() {
        let sandbox = sandbox.clone();
        // Spread, as nothing brings the calls of several sessions together.
        let first = every.map_or(Duration::ZERO, |every| {
            every.mul_f64(index as f64 / sandboxes.len() as f64)
        });
        sessions.spawn(async move {
            let mut latencies = Vec::new();
            for round in 0..rounds {
                let mut due = Instant::now();
                if let Some(every) = every {
                    due = began + first + every * round;
                    sleep(due.saturating_duration_since(Instant::now())).await;
                }
                call.make(&sandbox).await;
                latencies.push(due.elapsed());
            }
            latencies
        });
    }
    let mut latencies = sessions.join_all().await.concat();
    let took = began.elapsed();
    latencies.sort_unstable();
    Came {
        latencies,
        took,
        processor: held::processor_time() - processor,
        threads: threads.end(),
    }
}

/// Looks now and then how many threads there are.
struct Peak {
    over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<f64>,
}

impl Peak {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut most: f64 = 0.0;
            while !ended.load(Ordering::Relaxed) {
                // Without this one.
                most = most.max(held::threads() - 1.0);
                std::thread::sleep(Duration::from_millis(100));
            }
            most
        });
        Self { over, thread }
    }

    fn end(self) -> f64 {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it counts")
    }
}
