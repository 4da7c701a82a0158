//! `list`: what a directory holds.

use std::fmt::Write as _;

use belljar_guest::{ToolError, files, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// Entries shown when the call does not say.
const DEFAULT_ENTRIES: u32 = 500;

/// What to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct List {
    /// The directory, relative to the workspace's root; the root when absent.
    #[serde(default)]
    path: Option<String>,
    /// How many entries to show at most; 500 when absent.
    #[serde(default)]
    limit: Option<u32>,
}

/// Lists a directory, hidden entries too: directories end with /, links with @, files have their
/// size in bytes.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn list(args: List) -> Result<String, ToolError> {
    let path = args.path.as_deref().unwrap_or(".");
    let listing = files::list(path, args.limit.unwrap_or(DEFAULT_ENTRIES)).map_err(advise)?;
    let mut text = String::new();
    for entry in &listing.entries {
        let size = entry
            .size
            .map_or_else(String::new, |size| format!("  {size}"));
        let name = shown::name(&entry.name);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}{}{size}", shown::mark(entry.kind));
    }
    let shown = listing.entries.len() as u64;
    if shown < listing.total {
        let _ = write!(
            text,
            "[{shown} of {}]",
            shown::count(listing.total, "entry")
        );
    } else {
        let _ = write!(text, "[{}]", shown::count(listing.total, "entry"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use belljar_guest::{
        ErrorKind,
        testing::{MemorySandbox, with_sandbox},
    };

    use super::*;

    fn listed(path: Option<&str>, limit: Option<u32>) -> Result<String, ToolError> {
        let memory = MemorySandbox::new()
            .file("b/c", "")
            .file(".a", "four")
            .file("new\nline", "");
        let path = path.map(str::to_owned);
        with_sandbox(&memory, || list(List { path, limit }))
    }

    #[test]
    fn entries_are_shown_with_their_kind_and_size() {
        assert_eq!(
            listed(None, None).unwrap(),
            ".a  4\nb/\n\"new\\nline\"  0\n[3 entries]"
        );
        assert_eq!(
            listed(Some("."), Some(1)).unwrap(),
            ".a  4\n[1 of 3 entries]"
        );
        assert_eq!(listed(Some("b/"), None).unwrap(), "c  0\n[1 entry]");
    }

    #[test]
    fn a_file_is_no_directory() {
        let error = listed(Some(".a"), None).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::NotADirectory));
    }
}
