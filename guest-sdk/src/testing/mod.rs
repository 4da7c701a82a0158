//! Tests of tools, natively: a sandbox in memory, and the sandbox that a thread's tools use.
//!
//! ```
//! use belljar_guest::{files, testing};
//!
//! let memory = testing::MemorySandbox::new().file("a.txt", "one");
//! testing::with_sandbox(&memory, || files::append("a.txt", " two")).unwrap();
//! assert_eq!(memory.text("a.txt").as_deref(), Some("one two"));
//! ```

mod backend;
mod change;
mod entries;
mod fault;
mod glob;
mod ignoring;
mod memory_sandbox;
mod script;
mod search;
mod tree;

use std::rc::Rc;

use belljar_contract::Sandbox;

pub use self::{
    memory_sandbox::MemorySandbox,
    script::{Scripted, exited},
};
pub use crate::progress::Event;
use crate::{
    http::{HttpError, Request, Response},
    imports,
};

/// Runs `work` with `sandbox` behind every call of this thread: a [`MemorySandbox`], or a sandbox of any backend.
/// Calls nest; the inner sandbox counts.
pub fn with_sandbox<T>(sandbox: impl Into<Sandbox>, work: impl FnOnce() -> T) -> T {
    imports::with_sandbox(sandbox.into(), work)
}

/// Runs `work` with `answer` for every request that this thread sends. Calls nest; the inner one answers.
pub fn with_http<T>(
    answer: impl Fn(&Request) -> Result<Response, HttpError> + 'static,
    work: impl FnOnce() -> T,
) -> T {
    imports::with_http(Rc::new(answer), work)
}

/// Runs `work` with these settings, and no others.
pub fn with_settings<T, N: Into<String>, V: Into<String>>(
    settings: impl IntoIterator<Item = (N, V)>,
    work: impl FnOnce() -> T,
) -> T {
    let settings = settings.into_iter();
    let settings = settings.map(|(name, value)| (name.into(), value.into()));
    imports::with_settings(settings.collect(), work)
}

/// The progress and log lines of this thread so far, which are then forgotten.
#[must_use]
pub fn take_progress() -> Vec<Event> {
    imports::take_events()
}
