//! The build task: `cargo xtask demo` shows the project at work, `cargo xtask test` proves it.
//!
//! Each subcommand sets up what it needs by itself. What is built, and how, is cargo's business;
//! this crate knows the order, the guest toolchain, and what a good run looks like.

#![expect(
    clippy::print_stdout,
    reason = "the build task talks to the person who runs it"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the build task is not the library: it works on the checkout, with the environment of its user"
)]

mod beside;
mod checkout_copy;
mod debian;
mod demo;
mod engines;
mod generator;
mod guests;
mod kubernetes;
mod mcp_clients;
mod packages;
mod process;
mod programs;
mod residents;
mod steps;
mod tally;
mod test;
mod toolchain;
mod wasi_libc;
mod workspace;

use std::process::ExitCode;

use generator::Generator;
use workspace::Workspace;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

  demo                 build everything and show the coding tools at work on this source tree
  test [--quick]       run every check and test; --quick: unit tests and conformance on virtual
  setup                make ready what tests need: engines, a cluster, guests, programs, residents, MCP clients
  guests               build the coding tools and the test guests into target/guests
  programs             build WASI commands for tests from Cargo's packages, into target/programs
  residents            build the static residents, for x86-64 and aarch64, into target/residents
  mcp-clients          install the official MCP clients that tests use into the user's cache
  engines              make the container engines of this machine ready for the tests
  kubernetes [--build|--down]
                       start the cluster of the tests, where its programs are; build these; end it
  bindings [--check]   generate the guest bindings from wit/, or say how they differ

BELLJAR_GUEST_TOOLCHAIN=rustup|debian says where the standard library of guests and of the resident for the
other architecture comes from. With BELLJAR_CI a container engine that is missing is installed, and what does
not work is an error.
";

/// The exit code of a command line that cannot be understood.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let workspace = Workspace::of_this_checkout();
    let done = match arguments.as_slice() {
        ["demo"] => demo::demo(&workspace),
        ["test"] => return test::everything(&workspace),
        ["test", "--quick"] => return test::quick(&workspace),
        ["setup"] => return test::setup(&workspace),
        ["guests"] => guests::build(&workspace),
        ["programs"] => programs::build(&workspace),
        ["residents"] => residents::build(&workspace),
        ["mcp-clients"] => mcp_clients::ready(&workspace),
        ["engines"] => engines::ready(&workspace),
        ["kubernetes"] => kubernetes::ready(&workspace),
        ["kubernetes", "--build"] => kubernetes::build(&workspace),
        ["kubernetes", "--down"] => kubernetes::down(&workspace),
        ["bindings"] => Generator::new(&workspace).generate(),
        ["bindings", "--check"] => Generator::new(&workspace).check(),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            print!("{USAGE}");
            return ExitCode::from(USAGE_ERROR);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
