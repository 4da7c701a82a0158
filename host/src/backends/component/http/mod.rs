//! Sends the requests of a component: what is granted, to the addresses that are granted, and no more of an answer than
//! fits.
//!
//! | file | what |
//! |---|---|
//! | `client` | a runtime of its own, and waiting for it on a thread that has none |
//! | `request` | what a component gave, checked |
//! | `send` | a request with its redirects, each judged as a request of its own |
//! | `resolver` | names to addresses, of which those that are not granted are left out: what is judged is what is connected to |
//! | `tls` | whose certificates are believed |
//!
//! There are no cookies, no proxies, no compression, and no credentials but those that the component sends.

mod client;
mod request;
mod resolver;
mod send;
mod tls;

pub(crate) use self::client::{Client, Failure, Request};
