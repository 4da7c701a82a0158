//! The shim for E2B, from a configuration to a server that speaks E2B's published protocol; and that server, against
//! the protocol and the vendor's own client.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod cases;
mod faults;
mod server;
mod session;
mod vendor;

use std::{
    fs,
    time::{Duration, Instant},
};

use belljar::{
    Command, Context, Error, RunOptions, Sandbox, backends::OpenError, processes::Execution,
};
use belljar_contract::blocking::block_on;
use belljar_tests::E2bPlace;

#[track_caller]
fn place() -> E2bPlace {
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/e2b");
    E2bPlace::new(&belljar_test_guests::shim("e2b"), cache).expect("the server starts")
}

#[track_caller]
fn open(place: &E2bPlace) -> Sandbox {
    match place.open(&place.config("")) {
        Ok(sandbox) => sandbox,
        Err(error) => panic!("it does not open: {error:?}"),
    }
}

/// Waits for a call to end.
#[track_caller]
fn wait<T>(call: impl Future<Output = T>) -> T {
    block_on(&Context::new(), call).expect("nobody stops it")
}

fn run(sandbox: &Sandbox, text: &str, options: RunOptions) -> Result<Execution, Error> {
    wait(sandbox.run(Command::Shell(text.to_owned()), options))
}

/// What a program printed, which must have ended well.
#[track_caller]
fn printed(sandbox: &Sandbox, text: &str) -> String {
    match run(sandbox, text, RunOptions::default()) {
        Ok(execution) => {
            assert!(execution.outcome.success(), "{text}: {execution:?}");
            execution.stdout.to_text().trim_end().to_owned()
        }
        Err(error) => panic!("{text}: {error:?}"),
    }
}

#[track_caller]
fn close(sandbox: &Sandbox) {
    wait(sandbox.close()).expect("it closes");
}

/// Asks again until it is so.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
