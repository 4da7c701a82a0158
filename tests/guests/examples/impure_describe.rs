//! Reads a file in `describe`, which may do nothing of the kind.
#![cfg(target_family = "wasm")]

use belljar_guest::raw::belljar::sandbox::files;

belljar_test_guests::guest!(|arguments| arguments, describe: || {
    let mut description = belljar_test_guests::description!();
    description.description = match files::read("secret.txt") {
        Ok(content) => format!("{} bytes", content.bytes.len()),
        Err(error) => format!("{:?}", error.kind),
    };
    vec![description]
});
