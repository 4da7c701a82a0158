//! Generates the guest bindings, or with `--check` says how the checked-in ones differ.
//!
//! A program of its own, built only when it is asked for, because the generator
//! is most of what the build task would have to compile.

#![expect(
    clippy::print_stdout,
    reason = "the build task talks to the person who runs it"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the build task is not the library: it works on the checkout, with the environment of its user"
)]

mod bindings;
mod process;
mod workspace;

use std::process::{Command, ExitCode};

use anyhow::Result;

use workspace::Workspace;

fn main() -> ExitCode {
    let check = std::env::args()
        .nth(1)
        .is_some_and(|word| word == "--check");
    match run(&Workspace::of_this_checkout(), check) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, check: bool) -> Result<()> {
    let wit = workspace.root().join("wit");
    let checked_in = workspace.root().join("guest-sdk/src/bindings.rs");
    if !check {
        bindings::generate(&wit, &checked_in)?;
        return Ok(());
    }
    bindings::check(&wit, &checked_in).inspect_err(|_| {
        // Where the file can't be generated or git is missing, the error says enough.
        let right = workspace.target().join("bindings.rs");
        if bindings::generate(&wit, &right).is_ok() {
            let _ = Command::new("git")
                .args(["--no-pager", "diff", "--no-index", "--"])
                .args([&checked_in, &right])
                .status();
        }
    })
}
