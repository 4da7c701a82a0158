//! Describes two tools of one name.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| arguments, describe: || vec![
    belljar_test_guests::description!(),
    belljar_test_guests::description!(),
]);
