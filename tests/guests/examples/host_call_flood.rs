//! Calls the host without end.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::files;

belljar_test_guests::guest!(|_| loop {
    let _ = std::hint::black_box(files::stat("."));
});
