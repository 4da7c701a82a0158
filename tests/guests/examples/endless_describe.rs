//! Never returns from `describe`.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|arguments| arguments, describe: || loop {
    std::hint::spin_loop();
});
