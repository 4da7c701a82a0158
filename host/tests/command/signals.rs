//! Ctrl-C and its kin: the call, its processes and the session end, and nothing is half done.

use std::time::Duration;

use rustix::process::Signal;

use crate::{
    child::{belljar, end, is_running, signal, until},
    folder::Folder,
};

#[test]
fn a_signal_ends_the_program_and_everything_that_it_started() {
    for (sent, code, seconds) in [
        (Signal::INT, 130, "608.25"),
        (Signal::TERM, 143, "609.25"),
        (Signal::HUP, 129, "610.25"),
    ] {
        let folder = Folder::new();
        let shell = format!("trap '' TERM INT; setsid sleep {seconds} & wait; wait");
        let mut child = belljar(folder.path())
            .args(["exec", "--config", "local.toml", "--", "sh", "-c", &shell])
            .spawn()
            .unwrap();
        until("the process runs", || is_running(&["sleep", seconds]));
        signal(&child, sent);
        let (status, took) = end(&mut child);
        assert_eq!(status.code(), Some(code));
        assert!(took < Duration::from_secs(2), "{took:?}");
        assert!(!is_running(&["sleep", seconds]));
    }
}

#[test]
fn a_second_signal_does_not_leave_what_the_first_is_about_to_end() {
    let folder = Folder::new();
    let shell = "trap '' TERM INT; setsid sleep 611.25 & wait; wait";
    let mut child = belljar(folder.path())
        .args(["exec", "--config", "local.toml", "--", "sh", "-c", shell])
        .spawn()
        .unwrap();
    until("the process runs", || is_running(&["sleep", "611.25"]));
    signal(&child, Signal::INT);
    signal(&child, Signal::TERM);
    let (status, took) = end(&mut child);
    assert!(matches!(status.code(), Some(130 | 143)), "{status}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(!is_running(&["sleep", "611.25"]));
}

#[test]
fn a_signal_while_input_is_awaited_writes_nothing() {
    let folder = Folder::new();
    std::fs::write(folder.work("file"), "old").unwrap();
    let mut child = belljar(folder.path())
        .args(["fs", "--config", "virtual.toml", "write", "file"])
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"half of what is to be wri").unwrap();
    // It listens before it reads.
    until("the command waits for input", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let caught = status
            .lines()
            .find_map(|line| line.strip_prefix("SigCgt:"))
            .unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        caught & (1 << 1) != 0
    });
    signal(&child, Signal::INT);
    let (status, _) = end(&mut child);
    assert_eq!(status.code(), Some(130));
    assert_eq!(std::fs::read(folder.work("file")).unwrap(), b"old");
    let left: Vec<_> = std::fs::read_dir(folder.work("")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else is there");
}
