//! What must be true of a target before it is changed, on the command line.

use belljar::{Expected, Version};
use clap::Args;

/// Says what must be there; anything when nothing is said.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct ExpectedArguments {
    /// Only when nothing is there
    #[arg(long)]
    absent: bool,
    /// Only when the file is in this version, as an earlier call gave it
    #[arg(long, value_name = "VERSION", value_parser = version)]
    expected: Option<Version>,
}

impl ExpectedArguments {
    pub(super) fn get(self) -> Expected {
        match self.expected {
            Some(version) => Expected::Version(version),
            None if self.absent => Expected::Absent,
            None => Expected::Any,
        }
    }
}

fn version(text: &str) -> Result<Version, String> {
    Version::parse(text).map_err(|error| error.to_string())
}
