//! What the end of an instance means, in the terms of processes.

use belljar_contract::processes::Outcome;
use rustix::process::Signal;
use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

/// Why the host ended an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fatal {
    #[error("out of memory")]
    OutOfMemory,
    /// Who read its output is gone.
    #[error("broken pipe")]
    BrokenPipe,
}

/// How an instance ended; and what is to be said of it on its standard error, as a shell would.
pub(super) fn judge(result: wasmtime::Result<i32>) -> (Outcome, Option<String>) {
    let error = match result {
        Ok(code) => return (Outcome::Exited(code), None),
        Err(error) => error,
    };
    if let Some(I32Exit(code)) = error.downcast_ref() {
        // A system keeps eight bits.
        return (Outcome::Exited(code & 0xff), None);
    }
    match error.downcast_ref::<Fatal>() {
        Some(Fatal::OutOfMemory) => return (Outcome::OutOfMemory, None),
        Some(Fatal::BrokenPipe) => return (signalled(Signal::PIPE), None),
        None => {}
    }
    let words = error.root_cause().to_string();
    let signal = match error.downcast_ref::<Trap>() {
        Some(Trap::AllocationTooLarge) => return (Outcome::OutOfMemory, None),
        Some(Trap::UnreachableCodeReached) => Signal::ABORT,
        Some(Trap::MemoryOutOfBounds | Trap::HeapMisaligned | Trap::StackOverflow) => Signal::SEGV,
        Some(
            Trap::IntegerDivisionByZero | Trap::IntegerOverflow | Trap::BadConversionToInteger,
        ) => Signal::FPE,
        Some(_) => Signal::ILL,
        // What it asked of the host failed in a way that WASI has no answer for.
        None => Signal::SYS,
    };
    (signalled(signal), Some(words))
}

const fn signalled(signal: Signal) -> Outcome {
    Outcome::Signalled(signal.as_raw().unsigned_abs())
}
