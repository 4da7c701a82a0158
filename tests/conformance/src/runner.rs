//! Runs cases: each on its own thread, in its own sandbox or directory, within its time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use belljar_contract::{Context, blocking};

use crate::{
    case::Case,
    cases::cases,
    check::Failure,
    factory::Factory,
    fixture::Fixture,
    report::{CaseReport, Outcome, Report},
    threads::panicked,
};

/// How long a case may take: many times what the slowest needs on a busy machine.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long after that its thread is given up: the call in it had its grace, and hangs.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Which cases to run, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only cases whose name has this in it.
    pub filter: Option<String>,
    /// How many at once.
    pub jobs: usize,
    /// How long each may take.
    pub time_limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: None,
            jobs: 1,
            time_limit: TIME_LIMIT,
        }
    }
}

/// Runs the cases that the options name, and waits on this thread until all are done.
#[must_use]
pub fn run(factory: &Arc<dyn Factory>, options: &Options) -> Report {
    let chosen: Vec<Case> = cases()
        .iter()
        .filter(|case| match &options.filter {
            Some(filter) => case.name.contains(filter.as_str()),
            None => true,
        })
        .copied()
        .collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(chosen.len()));
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, chosen.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = chosen.get(index) else {
                        return;
                    };
                    let report = run_case(case, factory, options.time_limit);
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((index, report));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    let reports: Vec<CaseReport> = done.into_iter().map(|(_, report)| report).collect();
    Report::from(reports)
}

/// Runs one case, and waits on this thread until it is done or its time is up. A panic and a
/// hang are failures; the thread of a case that hangs is left behind.
#[must_use]
pub fn run_case(case: &Case, factory: &Arc<dyn Factory>, time_limit: Duration) -> CaseReport {
    let clock = Context::new();
    let began = clock.now();
    let (case, factory) = (*case, Arc::clone(factory));
    let (send, receive) = mpsc::channel();
    let spawned = std::thread::Builder::new()
        .name(case.name.into())
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| drive(&case, &factory, time_limit)))
                .unwrap_or_else(|panic| Outcome::Failed(panicked(panic.as_ref())));
            // A receiver that is gone has reported a hang already.
            let _ = send.send(outcome);
        });
    let outcome = match spawned {
        Err(error) => Outcome::Failed(format!("no thread: {error}")),
        Ok(_) => receive
            .recv_timeout(time_limit.saturating_add(GIVE_UP))
            .unwrap_or_else(|_| {
                Outcome::Failed(format!("hangs: a call did not come back in {time_limit:?}"))
            }),
    };
    CaseReport::new(case.name, outcome, clock.now().saturating_sub(began))
}

fn drive(case: &Case, factory: &Arc<dyn Factory>, time_limit: Duration) -> Outcome {
    let context = Context::new().with_timeout(time_limit);
    match blocking::block_on(&context, attempt(case, factory.as_ref(), &context)) {
        Ok(Ok(())) => Outcome::Passed,
        Ok(Err(Failure::Wrong(message))) => Outcome::Failed(message),
        Ok(Err(Failure::Unmet(reason))) => Outcome::Skipped(reason),
        Err(stop) => Outcome::Failed(format!("hangs: {stop}")),
    }
}

async fn attempt(case: &Case, factory: &dyn Factory, context: &Context) -> Result<(), Failure> {
    let workspace = factory.open(context).await?;
    let fixture = Fixture::new(&workspace, context);
    let verdict = async {
        fixture.meets(case.needs).await?;
        (case.run)(&fixture).await
    }
    .await;
    let ended = fixture.finish(&workspace).await;
    verdict.and(ended)
}
