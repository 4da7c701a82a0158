//! The world `backend`.

use belljar_contract::{Request, Response, session::Description};

use super::Lease;
use crate::Result;

/// The whole contract, as it is answered at the other side.
///
/// The host has checked each request already: see [`belljar_contract::Backend`], whose obligations hold here too. A
/// request's paths may say that no link is to be followed, and a scope what is to be seen; both must be obeyed.
pub trait Backend: Lease {
    /// Describes the sandbox; asked once a session. The host narrows what it reads there.
    fn describe(&self) -> Description;

    /// Answers a request with the response that belongs to it.
    ///
    /// # Errors
    /// As the contract says of the operation.
    fn call(&self, request: Request) -> Result<Response>;
}

/// Makes a component of the world `backend` of a type that implements
/// [`lend::Backend`](crate::lend::Backend).
#[macro_export]
macro_rules! backend {
    ($backend:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Exported<$backend>;
    $crate::raw::backend::export!(Component with_types_in $crate::raw::backend);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: () = {
            const fn is_a_backend<T: $crate::lend::Backend>() {}
            is_a_backend::<$backend>();
        };
    };
}
