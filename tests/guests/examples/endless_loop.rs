//! Never returns, and asks the host for nothing.
#![cfg(target_family = "wasm")]

belljar_test_guests::guest!(|_| loop {
    std::hint::spin_loop();
});
