//! What the benchmarks of sessions share.

use std::time::Duration;

use belljar::{Context, Sandbox};
use belljar_contract::{Result, blocking::block_on};
use tempfile::TempDir;

/// A workspace with a file `small` of a kibibyte and one `large` of 100 MiB. In memory (`BELLJAR_BENCH_FOLDER`
/// names another place): on a disk, what a write costs is the disk's, for ours and its peers alike.
///
/// # Panics
/// When it cannot be made.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark makes its workspace, where its caller says"
)]
#[must_use]
pub fn bench_workspace() -> TempDir {
    let folder = std::env::var_os("BELLJAR_BENCH_FOLDER").unwrap_or_else(|| "/dev/shm".into());
    let made = tempfile::tempdir_in(folder).and_then(|workspace| {
        std::fs::write(workspace.path().join("small"), [b'x'; 1024])?;
        std::fs::write(workspace.path().join("large"), vec![b'x'; 100 << 20])?;
        Ok(workspace)
    });
    made.unwrap_or_else(|error| panic!("no workspace: {error}"))
}

/// A call from a thread that may block, as a guest's is.
///
/// # Panics
/// When it fails.
pub fn wait(sandbox: &Sandbox, call: impl AsyncFnOnce(&Sandbox) -> Result<()>) {
    let context = Context::new().with_timeout(Duration::from_secs(60));
    let sandbox = sandbox.within(context.clone());
    match block_on(&context, call(&sandbox)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => panic!("no answer: {error:?}"),
        Err(stop) => panic!("not in time: {stop:?}"),
    }
}

/// Half of them took longer.
///
/// # Panics
/// When there are none.
#[must_use]
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// As a number to print.
#[must_use]
pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
