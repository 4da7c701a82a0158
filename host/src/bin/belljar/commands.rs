//! The subcommands, one file each.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod conformance;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod exit_codes;
pub(crate) mod fs;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod prune;
pub(crate) mod pull;
pub(crate) mod push;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod serve_sandbox;
pub(crate) mod session;
pub(crate) mod tools;
