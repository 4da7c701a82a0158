//! `write`: a whole file.

use belljar_guest::{
    ToolError,
    files::{self, Expected, WriteOptions},
    tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// What to write.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Write {
    /// The file, relative to the workspace's root. Missing directories are made.
    path: String,
    /// The whole new content, with the line ends it shall have.
    content: String,
    /// Fail when there is anything at the path.
    #[serde(default)]
    only_new: bool,
    /// Make the file executable.
    #[serde(default)]
    executable: bool,
}

/// Writes a whole file: creates it, or replaces all of its content. To change a part of a
/// file, use edit.
#[tool(destructive, idempotent, needs(write))]
pub(crate) fn write(args: Write) -> Result<String, ToolError> {
    let options = WriteOptions {
        expected: if args.only_new {
            Expected::Absent
        } else {
            Expected::Any
        },
        make_parents: true,
        executable: args.executable,
    };
    files::write_with(&args.path, &args.content, options).map_err(advise)?;
    Ok(format!(
        "wrote {} ({}, {})",
        args.path,
        shown::count(args.content.lines().count() as u64, "line"),
        shown::count(args.content.len() as u64, "byte"),
    ))
}

#[cfg(test)]
mod tests {
    use belljar_guest::{
        ErrorKind,
        testing::{MemorySandbox, with_sandbox},
    };

    use super::*;

    fn args(path: &str, only_new: bool) -> Write {
        Write {
            path: path.into(),
            content: "a\r\nb".into(),
            only_new,
            executable: true,
        }
    }

    #[test]
    fn a_file_is_written_as_given() {
        let memory = MemorySandbox::new();
        let answer = with_sandbox(&memory, || write(args("x/y.sh", false))).unwrap();
        assert_eq!(answer, "wrote x/y.sh (2 lines, 4 bytes)");
        assert_eq!(memory.bytes("x/y.sh").as_deref(), Some(&b"a\r\nb"[..]));
        let info = with_sandbox(&memory, || files::stat("x/y.sh")).unwrap();
        assert_eq!(info.mode, 0o755);
    }

    #[test]
    fn what_is_there_stays_when_asked() {
        let memory = MemorySandbox::new().file("f", "old");
        let error = with_sandbox(&memory, || write(args("f", true))).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::AlreadyExists));
        assert_eq!(memory.text("f").as_deref(), Some("old"));
    }
}
