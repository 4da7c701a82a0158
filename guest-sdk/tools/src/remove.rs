//! `remove`: a file or directory goes.

use belljar_guest::{ToolError, files, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::advice::advise;

/// What to remove.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Remove {
    /// The file, link or directory, relative to the workspace's root.
    path: String,
    /// Remove a directory with all that is in it.
    #[serde(default)]
    recursive: bool,
}

/// Removes a file, a link, or a directory. There is no way to get it back.
#[tool(destructive, needs(write))]
pub(crate) fn remove(args: Remove) -> Result<String, ToolError> {
    if args.recursive {
        files::remove_all(&args.path)
    } else {
        files::remove(&args.path)
    }
    .map_err(advise)?;
    Ok(format!("removed {}", args.path))
}

#[cfg(test)]
mod tests {
    use belljar_guest::{
        ErrorKind,
        testing::{MemorySandbox, with_sandbox},
    };

    use super::*;

    #[test]
    fn a_directory_with_entries_goes_only_when_asked() {
        let memory = MemorySandbox::new().file("d/f", "");
        let gone = |recursive| {
            let path = "d".to_owned();
            with_sandbox(&memory, || remove(Remove { path, recursive }))
        };
        assert_eq!(gone(false).unwrap_err().kind, Some(ErrorKind::NotEmpty));
        assert_eq!(gone(true).unwrap(), "removed d");
        assert_eq!(gone(true).unwrap_err().kind, Some(ErrorKind::NotFound));
    }
}
