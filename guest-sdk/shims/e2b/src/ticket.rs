//! What finds a sandbox again.

use belljar_guest::{ErrorKind, Result};
use serde::{Deserialize, Serialize};

use crate::failed;

/// A sandbox that was made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    /// Where its files and programs are reached, without a slash at its end.
    pub(crate) url: String,
    /// What opens it. Secret.
    pub(crate) token: Option<String>,
}

impl Ticket {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Texts always have a form in JSON.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        serde_json::from_slice(bytes)
            .map_err(|_| failed(ErrorKind::BackendFailed, "the ticket is none of E2B's"))
    }
}
