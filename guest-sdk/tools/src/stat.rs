//! `stat`: what a path is.

use belljar_guest::{
    Structured, ToolError,
    files::{self, EntryKind},
    session::{self, Capability},
    tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{advice::advise, timestamp};

/// What to look at.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Stat {
    /// The path, relative to the workspace's root. Links are followed.
    path: String,
}

/// What a path is.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Info {
    /// `file`, `directory` or `other`.
    kind: &'static str,
    /// In bytes; 0 for what is not a file.
    size: u64,
    /// When its content last changed, in UTC.
    modified: String,
    /// The permission bits in octal, where the sandbox has them.
    mode: Option<String>,
}

/// Says what a path is: file or directory, its size, when it was last changed, and its permissions.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn stat(args: Stat) -> Result<Structured<Info>, ToolError> {
    let info = files::stat(&args.path).map_err(advise)?;
    let kind = match info.kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Link | EntryKind::Other => "other",
    };
    let info = Info {
        kind,
        size: info.size,
        modified: timestamp::utc(info.modified),
        mode: session::can(Capability::Modes).then(|| format!("{:04o}", info.mode)),
    };
    let size = match info.kind {
        "file" => format!(", {} bytes", info.size),
        _ => String::new(),
    };
    let mode = info
        .mode
        .as_ref()
        .map_or_else(String::new, |mode| format!(", mode {mode}"));
    let text = format!(
        "{}: {kind}{size}{mode}, changed {}",
        args.path, info.modified
    );
    Ok(Structured::new(info).with_text(text))
}

#[cfg(test)]
mod tests {
    use belljar_guest::{
        ErrorKind, Reply,
        testing::{MemorySandbox, with_sandbox},
    };

    use super::*;

    #[test]
    fn a_file_and_a_directory_are_told() {
        let memory = MemorySandbox::new().file("d/f", "four");
        with_sandbox(&memory, || {
            let told = |path: &str| stat(Stat { path: path.into() }).reply().unwrap();
            let file = told("d/f");
            assert!(
                file.text()
                    .starts_with("d/f: file, 4 bytes, mode 0644, changed 2")
            );
            assert_eq!(file.structured.unwrap()["size"], 4);
            assert!(told("d").text().starts_with("d: directory, mode 0755, "));
            let error = stat(Stat {
                path: "gone".into(),
            })
            .unwrap_err();
            assert_eq!(error.kind, Some(ErrorKind::NotFound));
        });
    }
}
