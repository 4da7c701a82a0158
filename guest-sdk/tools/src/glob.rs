//! `glob`: paths by a pattern.

use std::fmt::Write as _;

use belljar_guest::{ToolError, files::Glob as Walk, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// Paths shown when the call does not say.
const DEFAULT_PATHS: u32 = 200;

/// What to find.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// The pattern: * and ? within a name, ** for any number of directories, [a-z], {a,b}, \ before
    /// a character that stands for itself. **/*.rs finds every .rs file.
    pattern: String,
    /// The directory to begin at, which the pattern is relative to; the root when absent.
    #[serde(default)]
    path: Option<String>,
    /// Find entries whose name begins with a dot too.
    #[serde(default)]
    hidden: bool,
    /// Find entries that .gitignore and .ignore files exclude too.
    #[serde(default)]
    ignored: bool,
    /// How many paths to show at most; 200 when absent.
    #[serde(default)]
    limit: Option<u32>,
}

/// Finds files and directories by a pattern, in the order of their paths. Directories end with /, links with @.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn glob(args: Glob) -> Result<String, ToolError> {
    let mut walk = Walk::new(args.pattern)
        .hidden(args.hidden)
        .ignored(args.ignored)
        .limit(args.limit.unwrap_or(DEFAULT_PATHS));
    if let Some(base) = args.path {
        walk = walk.base(base);
    }
    let found = walk.run().map_err(advise)?;
    let mut text = String::new();
    for path in &found.paths {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}{}",
            shown::name(&path.path),
            shown::mark(path.kind)
        );
    }
    let skipped = shown::skipped(found.skipped);
    let total = shown::count(found.total, "path");
    let shown = found.paths.len() as u64;
    let _ = if found.total == 0 {
        let asked = match (args.hidden, args.ignored) {
            (true, true) => "",
            _ => "; hidden and ignored entries count only when asked for",
        };
        write!(text, "[nothing matches{asked}{skipped}]")
    } else if shown < found.total {
        write!(
            text,
            "[{shown} of {total}; narrow the pattern or raise the limit{skipped}]"
        )
    } else {
        write!(text, "[{total}{skipped}]")
    };
    Ok(text)
}

#[cfg(test)]
mod tests {
    use belljar_guest::{
        ErrorKind,
        testing::{MemorySandbox, with_sandbox},
    };

    use super::*;

    fn found(pattern: &str, limit: u32) -> Result<String, ToolError> {
        let memory = MemorySandbox::new()
            .file("a.rs", "")
            .file("src/b.rs", "")
            .file(".c.rs", "");
        let args = Glob {
            pattern: pattern.into(),
            path: None,
            hidden: false,
            ignored: false,
            limit: Some(limit),
        };
        with_sandbox(&memory, || glob(args))
    }

    #[test]
    fn paths_are_shown_with_their_count() {
        assert_eq!(found("**/*.rs", 9).unwrap(), "a.rs\nsrc/b.rs\n[2 paths]");
        assert_eq!(found("*", 9).unwrap(), "a.rs\nsrc/\n[2 paths]");
        assert!(
            found("**/*.rs", 1)
                .unwrap()
                .starts_with("a.rs\n[1 of 2 paths;")
        );
        assert!(found("*.py", 9).unwrap().starts_with("[nothing matches"));
    }

    #[test]
    fn a_bad_pattern_is_no_empty_answer() {
        let error = found("[a", 9).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::InvalidArgument));
    }
}
