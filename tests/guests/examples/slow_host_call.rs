//! Waits ten seconds inside one call to the host.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::processes::{self, Command, RunOptions};

belljar_test_guests::guest!(|_| {
    let command = Command::Argv(vec!["sleep".to_owned(), "10".to_owned()]);
    let options = RunOptions {
        directory: None,
        environment: Vec::new(),
        stdin: Vec::new(),
        user: None,
        timeout: None,
        output_limit: None,
    };
    match processes::run(&command, &options) {
        Ok(execution) => format!("{:?}", execution.outcome),
        Err(error) => format!("{:?}", error.kind),
    }
});
