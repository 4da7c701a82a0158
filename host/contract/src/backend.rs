//! The trait that every backend and every layer implements.
//!
//! | who | answers by |
//! |---|---|
//! | `virtual` | the workspace engine in this process, files only |
//! | `local` | the workspace engine in this process, files and processes |
//! | a layer | looking at the request, and asking the backend below it |
//! | your own | whatever you like: see the obligations |
//!
//! Errors that a caller can act on are [`Error`]s with a kind; a backend that has died answers
//! every call with `backend-unavailable`, at once and for ever.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    context::Context,
    error::{Error, Result},
    request::{Request, Response},
    session::Description,
};

/// A sandbox's mechanism: the one trait between the contract and where the files are.
///
/// # What callers guarantee
/// - Calls come through a [`Sandbox`](crate::Sandbox) (or a layer below one): each
///   request is valid, within the limits and capabilities that [`describe`](Self::describe) gives,
///   and not a change when the description is not writable.
/// - After [`close`](Self::close) there are no calls.
///
/// # What implementers guarantee
/// - `semantics.md` holds; the conformance suite passes.
/// - The response is the one that belongs to the request.
/// - Nothing outside the workspace is reached, whatever the request, and nothing in a request is
///   ever taken as shell text, an option or a pattern that is not one.
/// - A call ends within 100 ms of its context's deadline and of its cancellation; a
///   process gets [`KILL_GRACE`](crate::KILL_GRACE) after a cancellation, and its partial output is in the answer.
/// - A call may be dropped at any await point: what it changed is then whole or not done.
/// - Any number of calls at once. A change is atomic; of two changes with the same
///   expected version one gets `stale`.
/// - A call may occupy its thread for work on a local disk only through
///   [`blocking::run`](crate::blocking::run).
/// - It never panics, prints, or reads the environment or the working directory.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Describes the sandbox: cheap, and the same answer for the whole session except for
    /// what the backend learns about gaps.
    fn describe(&self) -> Arc<Description>;

    /// Answers a request.
    ///
    /// # Errors
    /// As the contract says of the operation.
    async fn call(&self, context: &Context, request: Request) -> Result<Response>;

    /// Ends every process and releases everything the session holds. Called once.
    ///
    /// # Errors
    /// `backend-unavailable` or `backend-failed` when something may be left behind; the message
    /// says what.
    async fn close(&self) -> Result<(), Error>;
}
