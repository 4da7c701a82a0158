//! The conformance suite of the Belljar sandbox contract: functions over an opened sandbox.
