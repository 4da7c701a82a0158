//! Describes its arguments by what is not JSON.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| arguments, describe: || {
    let mut description = belljar_test_guests::description!();
    description.input_schema = "anything".to_owned();
    vec![description]
});
