//! What the instances of a session may use.

use std::time::Duration;

/// What the instances of one session may use, besides what is granted of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LenderLimits {
    /// All linear memories of one instance together.
    pub(crate) memory_bytes: u64,
    /// Wall-clock time for a call that has no limit of its own, and for opening and closing.
    pub(crate) timeout: Duration,
    /// Calls at once; the next one waits.
    pub(crate) instances: u32,
}

/// The elements of all tables of one instance: some times what the largest guests have that compilers make.
pub(super) const TABLE_ELEMENTS: u64 = 100_000;
/// Calls from the guest to the host in one call: a request for each 16 KiB of the largest file would be a thousand.
pub(super) const HOST_CALLS: u64 = 10_000;
/// Instances that are kept between calls: as many as an agent makes calls at once, mostly.
pub(super) const KEPT: usize = 8;
/// The largest ticket.
pub(super) const TICKET_BYTES: usize = 64 << 10;
/// The most bytes of a message of an error.
pub(super) const MESSAGE_BYTES: usize = 2 << 10;
