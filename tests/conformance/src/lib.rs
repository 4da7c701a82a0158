//! The conformance suite of the Belljar sandbox contract: functions over an opened sandbox.
//!
//! Every **must** of `semantics.md` is a [`Case`]: an async function over a [`Fixture`], which is
//! an opened sandbox and an empty directory in it. Whoever writes a backend or a layer
//! implements [`Factory`] (or hands a sandbox to [`Shared`]) and calls [`run`]; the answer is a
//! [`Report`].
//!
//! A case is skipped only for a capability that the sandbox declares to lack, or for a [`Need`]
//! that cannot be met, and says which. What a sandbox cannot make by itself (links, FIFOs, odd
//! names) comes from an [`Outside`]: the host's, where the workspace is a directory there, or
//! else the sandbox's own processes.
//!
//! It leaves to others: opening sandboxes, printing reports, and an async runtime. It knows the
//! contract and nothing else, so that every backend can use it.

mod case;
mod cases;
pub mod check;
mod factory;
mod fixture;
mod fixture_files;
mod fixture_processes;
mod host_directory;
mod outside;
mod outside_processes;
mod report;
mod rounds;
mod runner;
mod threads;

pub use self::{
    case::{BoxFuture, Case, Need, Verdict},
    cases::cases,
    check::Failure,
    factory::{Factory, Shared, Workspace},
    fixture::Fixture,
    host_directory::HostDirectory,
    outside::{Filling, Outside, SECRET},
    report::{CaseReport, Outcome, Report},
    rounds::Rounds,
    runner::{Options, TIME_LIMIT, run, run_case},
};
