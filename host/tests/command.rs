//! The `belljar` command from outside: what it prints, how it exits, and that it ends.
//!
//! The files in `command/cases` are shell sessions, compared word for word; what needs pipes, signals
//! and other processes is in the modules.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test sets up and looks at what is outside every workspace, and fails where it cannot go on"
)]

#[path = "command/child.rs"]
mod child;
#[path = "command/exec.rs"]
mod exec;
#[path = "command/folder.rs"]
mod folder;
#[path = "command/prune.rs"]
mod prune;
#[path = "command/session.rs"]
mod session;
#[path = "command/signals.rs"]
mod signals;

#[test]
fn cases() {
    trycmd::TestCases::new().case("tests/command/cases/*.trycmd");
}
