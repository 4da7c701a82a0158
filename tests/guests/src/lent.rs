//! What guests that are backends share: a description of a sandbox that can do everything.

use std::time::Duration;

use belljar_guest::session::{Capability, Description, Limits, PolicySummary};

/// Describes a sandbox at `/work`.
#[must_use]
pub fn description() -> Description {
    Description {
        backend: "test".to_owned(),
        root: "/work".to_owned(),
        process_root: None,
        writable: true,
        durable: false,
        capabilities: Capability::ALL.to_vec(),
        limits: Limits {
            file_bytes: 1 << 20,
            results: 100,
            stdin_bytes: 1 << 20,
            argument_bytes: 1 << 16,
            output_default: 1 << 16,
            output_maximum: 1 << 16,
            timeout_default: Duration::from_secs(10),
            timeout_maximum: Duration::from_secs(60),
            processes: 8,
        },
        policy: PolicySummary::default(),
        instructions: String::new(),
        hardening_gaps: Vec::new(),
    }
}
