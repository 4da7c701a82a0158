//! What a component of these traits exports: each function takes the instance's session, and converts.

/// Takes what one variant of a response holds.
macro_rules! variant {
    ($variant:ident) => {
        |response| match response {
            belljar_contract::Response::$variant(value) => Some(value),
            _ => None,
        }
    };
}

mod client;
mod convert;
mod files;
mod lease;
mod processes;
mod session;

use std::{any::Any, cell::RefCell, marker::PhantomData};

use belljar_contract::{Error, ErrorKind, Operation, Request, Response, Result};

use super::{Backend, Lease};

/// Exports what `T` is.
#[derive(Debug)]
pub struct Exported<T>(PhantomData<T>);

thread_local! {
    /// The one session of this instance; a component has no other thread.
    static SESSION: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

impl<T: Lease> Exported<T> {
    fn open() -> Result<super::Opened> {
        crate::panic::report_panics();
        T::open()
    }

    fn resume(ticket: &[u8]) -> Result<()> {
        crate::panic::report_panics();
        let session = T::resume(ticket)?;
        SESSION.set(Some(Box::new(session)));
        Ok(())
    }

    /// Does something with the session; none before it was resumed.
    fn with<R>(work: impl FnOnce(&T) -> R) -> Option<R> {
        SESSION.with_borrow(|session| {
            let session = session.as_ref()?.downcast_ref::<T>()?;
            Some(work(session))
        })
    }

    fn ask<R>(operation: Operation, work: impl FnOnce(&T) -> Result<R>) -> Result<R> {
        Self::with(work).unwrap_or_else(|| {
            let message = "the session was not resumed";
            Err(Error::new(ErrorKind::Closed, operation, message))
        })
    }
}

impl<T: Backend> Exported<T> {
    /// Answers a request; `take` has what belongs to it of the answer.
    fn answer<R>(request: Request, take: impl FnOnce(Response) -> Option<R>) -> Result<R> {
        let operation = request.operation();
        let response = Self::ask(operation, |backend| backend.call(request))?;
        take(response).ok_or_else(|| {
            let message = "the backend answered another request than it was asked";
            Error::new(ErrorKind::BackendFailed, operation, message)
        })
    }
}

/// Nothing but that it is done.
fn done(response: Response) -> Option<()> {
    matches!(response, Response::Done).then_some(())
}
