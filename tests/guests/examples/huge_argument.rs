//! Says how many bytes its arguments have.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| arguments.len().to_string());
