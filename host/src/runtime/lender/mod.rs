//! Components that lend sandboxes: a backend that is a `.wasm`.
//!
//! A [`Lender`] is such a component, audited and compiled. [`Lender::open`] has it make a sandbox; what comes of that is a
//! [`Session`], of which [`LentBackend`] is the contract, or [`LentMachine`] the little that the contract is made of.
//! What a component may ask of the network is decided elsewhere, behind [`Outgoing`].
//!
//! | file | what |
//! |---|---|
//! | `loaded`, `instance` | a component, and an instance of it |
//! | `state`, `imports`, `outgoing` | what an instance has of the world, and when it must stop |
//! | `session` | instances for calls at the same time, and the sandbox's life |
//! | `backend`, `ask`, `convert`, `check` | the contract of the world `backend`: nothing that comes from it is trusted |
//! | `described` | what is believed of a description |
//! | `machine` | the world `client` |
//!
//! An instance is kept while its session lasts and serves one call at a time. One that trapped, came to a limit, or was
//! stopped is thrown away; the session goes on with another, which is given the session's ticket.

mod ask;
mod backend;
mod bindings;
mod check;
mod convert;
mod described;
mod imports;
mod instance;
mod limits;
mod loaded;
mod machine;
mod outgoing;
mod session;
mod state;

pub(crate) use self::{
    described::Allowed,
    limits::LenderLimits,
    loaded::{Lender, Lent},
    machine::{LentMachine, MachineFailure, MachineOutput},
    outgoing::{HttpError, HttpRequest, HttpResponse, Outgoing},
    state::Settings,
};
