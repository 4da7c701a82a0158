//! A backend that is a component: what its operator says of it, and what it may ask of the network.
//!
//! The component itself runs elsewhere; nothing here knows of WebAssembly. [`ComponentOptions`] are values, [`HttpGrant`]
//! is what a request is judged by, and `http` sends what is granted.
//!
//! | file | what |
//! |---|---|
//! | `options`, `secrets` | the options, and secrets read where they say |
//! | `error` | why it is not opened |
//! | `grant` | hosts, ports and methods |
//! | `address` | which addresses are somebody's own |
//! | `http/` | requests: checked, sent, redirected, bounded |

mod address;
mod error;
mod grant;
#[cfg(feature = "component-backend")]
mod http;
mod options;
mod secrets;

#[cfg(feature = "component-backend")]
pub(crate) use self::http::{Client as HttpClient, Failure as HttpFailure, Request as HttpRequest};
pub use self::{
    error::ComponentError,
    grant::{GrantError, HttpGrant},
    options::{ComponentLimits, ComponentOptions},
    secrets::{SecretError, SecretSource, SecretVariables},
};
