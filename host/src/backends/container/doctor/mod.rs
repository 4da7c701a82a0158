//! Whether a container gives what was asked of it, as its resident sees it: asked, got, gap.
//!
//! What is seen is read by [`crate::backends::doctor`]; `judge` compares it with a container's options, a row a
//! guarantee.

mod judge;

pub(super) use self::judge::{Expected, rows, unmet};

#[cfg(test)]
mod tests;
