//! The command as a child process with pipes, and the processes that it leaves.

use std::{
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// The command, not yet started.
pub(crate) fn belljar(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_belljar"));
    command
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Waits until `condition` holds, which it does soon or the test fails.
#[track_caller]
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for the child's end, and says how long it took; a child that does not end is killed.
#[track_caller]
pub(crate) fn end(child: &mut Child) -> (ExitStatus, Duration) {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (status, began.elapsed());
        }
        if began.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("the command does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process has these arguments: the whole line, so that nothing else is meant.
pub(crate) fn is_running(arguments: &[&str]) -> bool {
    let wanted: Vec<u8> = arguments
        .iter()
        .flat_map(|argument| [argument.as_bytes(), b"\0"].concat())
        .collect();
    let entries = std::fs::read_dir("/proc").unwrap();
    entries
        .filter_map(Result::ok)
        .any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted))
}

/// Sends a signal to the child.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, signal).unwrap();
}
