//! Writes a hundred thousand lines and reports to the host, and then answers.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::progress::{self, Level};

const LINES: u64 = 100_000;

belljar_test_guests::guest!(|_| {
    for line in 0..LINES {
        progress::log(Level::Info, "a line that nobody can want so often");
        progress::report(line, Some(LINES), "working");
    }
    "done".to_owned()
});
