//! Where the calls of the public modules go: to the host's imports in a component, and to the
//! sandbox of this thread everywhere else. Both have the same functions.

#[cfg(target_family = "wasm")]
mod component;
#[cfg(target_family = "wasm")]
mod convert;
#[cfg(not(target_family = "wasm"))]
mod native;

#[cfg(not(target_family = "wasm"))]
pub(crate) use self::native::*;
#[cfg(target_family = "wasm")]
pub(crate) use self::{component::*, convert::exported};
