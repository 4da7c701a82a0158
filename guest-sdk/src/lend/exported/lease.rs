//! The export `lease`, of both worlds.

use std::time::Duration;

use belljar_contract::Operation;

use super::{super::Lease, Exported, convert};
use crate::bindings::{
    backend::exports::belljar::sandbox::lease as of_backend,
    client::exports::belljar::sandbox::lease as of_client, tool::belljar::sandbox::types,
};

fn milliseconds(period: Duration) -> u64 {
    u64::try_from(period.as_millis()).unwrap_or(u64::MAX)
}

macro_rules! lease {
    ($wit:ident) => {
        impl<T: Lease> $wit::Guest for Exported<T> {
            fn open() -> Result<$wit::Opened, types::Error> {
                let opened = Self::open().map_err(convert::error)?;
                Ok($wit::Opened {
                    ticket: opened.ticket,
                    renew_every: opened.renew_every.map(milliseconds),
                })
            }

            fn resume(ticket: Vec<u8>) -> Result<(), types::Error> {
                Self::resume(&ticket).map_err(convert::error)
            }

            fn renew() -> Result<(), types::Error> {
                Self::ask(Operation::Open, Lease::renew).map_err(convert::error)
            }

            fn close() -> Result<(), types::Error> {
                Self::ask(Operation::Close, Lease::close).map_err(convert::error)
            }
        }
    };
}

lease!(of_backend);
lease!(of_client);
