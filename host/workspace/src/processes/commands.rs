//! Which commands there are, and what each says of its version.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_contract::{
    Context, GuestPath, Launch, Operation,
    processes::{Command, Execution, Outcome},
    session::CommandInfo,
};

use super::{Supervisor, failure::Failure, slots::Counted, supervise::LIMIT_GRACE};
use crate::files::Workspace;

/// How long one command has to say its version.
const EACH: Duration = Duration::from_secs(2);
/// How long all have.
const ALL: Duration = Duration::from_secs(5);
/// How many are asked at once.
const AT_ONCE: usize = 4;
/// What is read of an answer; and what is shown of its first line, in characters.
const OUTPUT_BYTES: u64 = 4096;
const SHOWN: usize = 200;

/// Looks commands up in the processes' PATH and asks each for its version.
pub(super) fn find_commands(
    supervisor: &Supervisor,
    context: &Context,
    files: &Workspace,
    names: Vec<String>,
) -> Result<Vec<CommandInfo>, Failure> {
    let path = supervisor.variables.path();
    let paths = supervisor.launcher.find(files, path, &names)?;
    let found: Vec<CommandInfo> = names
        .into_iter()
        .zip(paths)
        .map(|(name, path)| CommandInfo {
            path,
            name,
            version: None,
        })
        .collect();
    let asking = context.with_timeout(ALL);
    let next = AtomicUsize::new(0);
    let versions = Mutex::new(vec![None; found.len()]);
    let ask = || {
        while let Some(index) = take(&next, found.len()) {
            if asking.check().is_err() {
                return;
            }
            if let Some(path) = &found[index].path {
                let version = version(supervisor, &asking, files, path);
                versions.lock().unwrap_or_else(PoisonError::into_inner)[index] = version;
            }
        }
    };
    std::thread::scope(|scope| {
        let helpers = AT_ONCE.min(found.len()).saturating_sub(1);
        for _ in 0..helpers {
            // Without a thread the others, and this one, do its part.
            let _ = std::thread::Builder::new()
                .name("belljar-version".into())
                .spawn_scoped(scope, ask);
        }
        ask();
    });
    context.check()?;
    supervisor.slots.check()?;
    let versions = versions
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(found
        .into_iter()
        .zip(versions)
        .map(|(info, version)| CommandInfo { version, ..info })
        .collect())
}

fn take(next: &AtomicUsize, count: usize) -> Option<usize> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    (index < count).then_some(index)
}

/// The first line that a command prints when it is asked, if it says that all is well.
fn version(
    supervisor: &Supervisor,
    context: &Context,
    files: &Workspace,
    path: &str,
) -> Option<String> {
    let launch = Launch {
        command: Command::Argv(vec![path.into(), "--version".into()]),
        directory: GuestPath::root(),
        environment: Vec::new(),
        stdin: Vec::new(),
        user: None,
        timeout: Some(EACH),
        output_limit: OUTPUT_BYTES,
    };
    let execution = supervisor
        .execute(
            context,
            files,
            Operation::FindCommands,
            launch,
            Counted::No,
            LIMIT_GRACE,
        )
        .ok()?;
    first_line(&execution)
}

fn first_line(execution: &Execution) -> Option<String> {
    if execution.outcome != Outcome::Exited(0) {
        return None;
    }
    [&execution.stdout, &execution.stderr]
        .into_iter()
        .find_map(|output| {
            let line = output.head.split(|byte| *byte == b'\n').next()?;
            let text = String::from_utf8_lossy(line);
            let text: String = text.trim().chars().take(SHOWN).collect();
            (!text.is_empty()).then_some(text)
        })
}
