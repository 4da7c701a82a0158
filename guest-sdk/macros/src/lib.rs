//! The attribute macro of belljar-guest.
