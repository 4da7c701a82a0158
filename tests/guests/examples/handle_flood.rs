//! Starts processes until the host gives it no more, and says how many it got and why no more.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::processes::{self, Command, RunOptions};

belljar_test_guests::guest!(|_| {
    let command = Command::Argv(vec!["sleep".to_owned(), "1000".to_owned()]);
    let options = RunOptions {
        directory: None,
        environment: Vec::new(),
        stdin: Vec::new(),
        user: None,
        timeout: None,
        output_limit: None,
    };
    for started in 0.. {
        if let Err(error) = processes::start(&command, &options) {
            return format!("{started} {:?}", error.kind);
        }
    }
    unreachable!()
});
