//! The vendor's own client against the server of the tests.

use std::process::Command;

use belljar_tests::{E2B_KEY, E2bServer};

const PROGRAM: &str = include_str!("vendor.py");

#[test]
#[ignore = "needs a Python that has the package e2b, whose path is in BELLJAR_E2B_PYTHON"]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever asks for this test says where the client is"
)]
fn the_vendors_client_works_with_it() {
    let python = std::env::var_os("BELLJAR_E2B_PYTHON");
    let python = python.expect("BELLJAR_E2B_PYTHON is the path of a Python that has e2b");
    let server = E2bServer::start().unwrap();
    let output = Command::new(python)
        .args(["-c", PROGRAM])
        .env("E2B_API_KEY", E2B_KEY)
        .env("E2B_API_URL", server.api_url())
        .env("E2B_SANDBOX_URL", server.sandbox_url())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(server.sandboxes().is_empty());
}
