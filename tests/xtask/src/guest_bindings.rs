//! Generates the guest bindings, or says whether a folder has what would be generated.
//!
//! A program of its own, built only when it is asked for, because the generator is most of what the
//! build task would have to compile.

#![expect(
    clippy::print_stdout,
    reason = "the build task talks to the person who runs it"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the build task is not the library: it works on the checkout of its user"
)]

mod bindings;

use std::{path::Path, process::ExitCode};

const USAGE: &str = "Usage: guest-bindings generate|check WIT_FOLDER FOLDER";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["generate", wit, folder] => bindings::generate(Path::new(wit), Path::new(folder)),
        ["check", wit, folder] => bindings::check(Path::new(wit), Path::new(folder)),
        _ => Err(anyhow::Error::msg(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
