//! `belljar serve` as agents see it: raw messages over both transports, and the official clients.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test sets up and looks at what is outside every workspace, and says what it skips"
)]

mod clients;
mod garbage;
mod http;
mod reload;
mod server;
mod stdio;
