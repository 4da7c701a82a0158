//! Has a tool whose name no model can say.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| arguments, describe: || {
    let mut description = belljar_test_guests::description!();
    description.name = "run; rm -rf /".to_owned();
    vec![description]
});
