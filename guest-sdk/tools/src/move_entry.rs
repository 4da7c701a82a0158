//! `move`: a file or directory gets another path.

use belljar_guest::{
    ErrorKind, ToolError,
    files::{self, Expected},
    tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::advice::advise;

/// What to move, and where to.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// The file, link or directory, relative to the workspace's root.
    source: String,
    /// Its new path, with its new name. Missing directories are made.
    target: String,
    /// Replace what is at the target: a file or a link, or an empty directory by a directory.
    #[serde(default)]
    overwrite: bool,
}

/// Moves or renames a file or directory.
#[tool(name = "move", destructive, needs(read, write))]
pub(crate) fn move_entry(args: Move) -> Result<String, ToolError> {
    let rename = || {
        let destination = if args.overwrite {
            Expected::Any
        } else {
            Expected::Absent
        };
        files::rename(&args.source, &args.target, destination)
    };
    let moved = match rename() {
        Err(error) if error.kind == ErrorKind::NotFound && make_parent(&args)? => rename(),
        moved => moved,
    };
    moved.map_err(advise)?;
    Ok(format!("moved {} to {}", args.source, args.target))
}

/// Makes the target's directory when it is what is missing.
fn make_parent(args: &Move) -> Result<bool, ToolError> {
    let Some((parent, _)) = args.target.trim_end_matches('/').rsplit_once('/') else {
        return Ok(false);
    };
    // A source that is not there is the fault then, and no directory is made for nothing.
    if parent.is_empty() || !files::exists(&args.source).map_err(advise)? {
        return Ok(false);
    }
    files::make_directory(parent).map_err(advise)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::{MemorySandbox, with_sandbox};

    use super::*;

    fn moved(
        memory: &MemorySandbox,
        source: &str,
        target: &str,
        overwrite: bool,
    ) -> Result<String, ToolError> {
        let args = Move {
            source: source.into(),
            target: target.into(),
            overwrite,
        };
        with_sandbox(memory, || move_entry(args))
    }

    #[test]
    fn missing_directories_are_made() {
        let memory = MemorySandbox::new().file("a", "x");
        moved(&memory, "a", "b/c/d", false).unwrap();
        assert_eq!(memory.text("b/c/d").as_deref(), Some("x"));
        assert_eq!(memory.text("a"), None);
    }

    #[test]
    fn nothing_is_made_for_a_source_that_is_not_there() {
        let memory = MemorySandbox::new();
        let error = moved(&memory, "gone", "b/c", false).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::NotFound));
        assert!(!with_sandbox(&memory, || files::exists("b")).unwrap());
    }

    #[test]
    fn what_is_there_is_replaced_only_when_asked() {
        let memory = MemorySandbox::new().file("a", "x").file("b", "y");
        let error = moved(&memory, "a", "b", false).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::AlreadyExists));
        moved(&memory, "a", "b", true).unwrap();
        assert_eq!(memory.text("b").as_deref(), Some("x"));
    }
}
