//! Names to addresses, of which those that are not granted are left out.
//!
//! What is judged here is what is connected to: there is no second look-up between the two whose answer could be
//! another one.

use std::{net::SocketAddr, sync::Arc};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::backends::HttpGrant;

/// Every address of a name is one that is not granted.
#[derive(Debug, thiserror::Error)]
#[error(
    "the name {name} has addresses of a private network, of this machine, or of nobody only, and the grant is for public ones"
)]
pub(super) struct NotGranted {
    name: String,
}

/// Looks names up for the requests of one grant.
pub(super) struct Resolver(pub(super) Arc<HttpGrant>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let grant = Arc::clone(&self.0);
        Box::pin(async move {
            let name = name.as_str().to_owned();
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let mut found = found.peekable();
            let some = found.peek().is_some();
            let admitted: Vec<SocketAddr> = found
                .filter(|address| grant.admits(&name, address.ip()))
                .collect();
            if some && admitted.is_empty() {
                return Err(NotGranted { name }.into());
            }
            let addresses: Addrs = Box::new(admitted.into_iter());
            Ok(addresses)
        })
    }
}
