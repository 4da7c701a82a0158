//! Gives the host eight mebibytes to write, without end.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::{
    files::{self, WriteOptions},
    types::Expected,
};

belljar_test_guests::guest!(|_| {
    let bytes = vec![0; 8 << 20];
    let options = WriteOptions {
        expected: Expected::Any,
        make_parents: false,
        executable: false,
    };
    loop {
        let _ = files::write("flood.bin", &bytes, &options);
    }
});
