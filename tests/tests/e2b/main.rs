//! The shim for E2B, from a configuration to a server that speaks E2B's published protocol; and that server, against
//! the protocol and the vendor's own client.

mod server;
mod vendor;
