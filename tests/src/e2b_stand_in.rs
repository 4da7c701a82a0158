//! Serves E2B's protocol until its standard input ends, for clients that are no tests: the vendor's own, above all.
//! It prints what they take as their environment, `E2B_API_URL=http://…` a line.

#![expect(clippy::print_stdout, reason = "it is a program of the tests'")]

use std::io::{self, Read as _};

use belljar_tests::{E2B_KEY, E2bServer};

fn main() -> io::Result<()> {
    let server = E2bServer::start()?;
    server.reap_orphans()?;
    println!("E2B_API_KEY={E2B_KEY}");
    println!("E2B_API_URL={}", server.api_url());
    println!("E2B_SANDBOX_URL={}", server.sandbox_url());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
