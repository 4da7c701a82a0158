//! `search`: lines in files.

use std::fmt::Write as _;

use belljar_guest::{
    ErrorKind, ToolError,
    files::{Line, Search as Walk, SearchResult},
    tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// Matching lines shown when the call does not say.
const DEFAULT_LINES: u32 = 100;

/// What to find, and where.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// A regular expression, matched within a line (no look-around, no back-references).
    pattern: String,
    /// The pattern is text that stands for itself.
    #[serde(default)]
    literal: bool,
    /// Upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// The directory or file to look in; the whole workspace when absent.
    #[serde(default)]
    path: Option<String>,
    /// Look only at files that match one of these globs: *.rs at any depth, src/**/*.rs from path.
    #[serde(default)]
    include: Vec<String>,
    /// Do not look at what matches one of these globs.
    #[serde(default)]
    exclude: Vec<String>,
    /// Lines to show before and after each match, at most 100.
    #[serde(default)]
    context: u32,
    /// Look at files whose name begins with a dot too.
    #[serde(default)]
    hidden: bool,
    /// Look at files that .gitignore and .ignore files exclude too.
    #[serde(default)]
    ignored: bool,
    /// How many matching lines to show at most; 100 when absent.
    #[serde(default)]
    limit: Option<u32>,
}

/// Searches the lines of files. Each file is shown with its matching lines below it, as line number,
/// colon and text; lines of context have a dash in place of the colon.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn search(args: Search) -> Result<String, ToolError> {
    let literal = args.literal;
    let everything = args.hidden && args.ignored;
    let mut walk = if literal {
        Walk::literal(args.pattern)
    } else {
        Walk::regex(args.pattern)
    }
    .ignore_case(args.ignore_case)
    .context(args.context)
    .hidden(args.hidden)
    .ignored(args.ignored)
    .limit(args.limit.unwrap_or(DEFAULT_LINES));
    for glob in args.include {
        walk = walk.include(glob);
    }
    for glob in args.exclude {
        walk = walk.exclude(glob);
    }
    if let Some(base) = args.path {
        walk = walk.base(base);
    }
    let result = walk.run().map_err(|error| {
        let invalid = error.kind == ErrorKind::InvalidArgument;
        let error = advise(error);
        if invalid && !literal {
            error.hint("if the pattern is plain text, set literal")
        } else {
            error
        }
    })?;
    Ok(show(&result, everything))
}

fn show(result: &SearchResult, everything: bool) -> String {
    let mut text = String::new();
    let mut files = 0_u64;
    let mut last: Option<(&str, u64)> = None;
    for found in &result.matches {
        if last.is_none_or(|(path, _)| path != found.path.text) {
            files += 1;
            last = Some((&found.path.text, 0));
            // Writing to a string does not fail.
            let _ = writeln!(text, "{}", shown::name(&found.path));
        }
        // Context that near matches have in common is shown once.
        let mut show = |number: u64, sign: char, line: &Line| {
            if last.is_some_and(|(_, shown)| number > shown) {
                last = Some((&found.path.text, number));
                let _ = writeln!(
                    text,
                    "{number}{sign} {}",
                    shown::line(&line.text, line.dropped)
                );
            }
        };
        let before = found.before.len() as u64;
        for (number, line) in (found.line_number.saturating_sub(before)..).zip(&found.before) {
            show(number, '-', line);
        }
        show(found.line_number, ':', &found.line);
        for (number, line) in (found.line_number + 1..).zip(&found.after) {
            show(number, '-', line);
        }
    }
    let skipped = shown::skipped(result.skipped);
    let lines = shown::count(result.matches.len() as u64, "matching line");
    let files = shown::count(files, "file");
    let _ = if result.matches.is_empty() && !result.more {
        let asked = if everything {
            ""
        } else {
            "; hidden and ignored files count only when asked for"
        };
        write!(text, "[no line matches{asked}{skipped}]")
    } else if result.more {
        write!(
            text,
            "[the first {lines}, in {files}; there are more: narrow the search or raise the limit{skipped}]"
        )
    } else {
        write!(text, "[{lines} in {files}{skipped}]")
    };
    text
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::{MemorySandbox, with_sandbox};

    use super::*;

    fn found(pattern: &str, literal: bool, context: u32, limit: u32) -> Result<String, ToolError> {
        let memory = MemorySandbox::new()
            .file("a.txt", "one(\ntwo\nthree\none\n")
            .file("b.bin", b"one\0");
        let args = Search {
            pattern: pattern.into(),
            literal,
            ignore_case: true,
            path: None,
            include: vec!["*.*".into()],
            exclude: Vec::new(),
            context,
            hidden: false,
            ignored: false,
            limit: Some(limit),
        };
        with_sandbox(&memory, || search(args))
    }

    #[test]
    fn lines_are_shown_below_their_file() {
        assert_eq!(
            found("ONE", false, 0, 9).unwrap(),
            "a.txt\n1: one(\n4: one\n[2 matching lines in 1 file; not looked into: 1 binary file]"
        );
        assert!(
            found("nothing", false, 0, 9)
                .unwrap()
                .starts_with("[no line matches")
        );
    }

    #[test]
    fn a_line_is_shown_as_a_match_when_it_is_also_context() {
        let text = found("o", false, 1, 9).unwrap();
        assert!(text.starts_with("a.txt\n1: one(\n"), "{text}");
    }

    #[test]
    fn common_context_is_shown_once() {
        let text = found("one", false, 2, 9).unwrap();
        assert!(
            text.starts_with("a.txt\n1: one(\n2- two\n3- three\n4: one\n["),
            "{text}"
        );
    }

    #[test]
    fn a_limit_that_cut_says_so_and_one_that_did_not_does_not() {
        assert!(
            found("one", false, 0, 1)
                .unwrap()
                .contains("there are more")
        );
        assert!(
            !found("one", false, 0, 2)
                .unwrap()
                .contains("there are more")
        );
    }

    #[test]
    fn a_bad_expression_is_an_error_and_works_as_text() {
        let error = found("one(", false, 0, 9).unwrap_err();
        assert_eq!(error.kind, Some(ErrorKind::InvalidArgument));
        assert!(error.message.contains("set literal"));
        assert!(found("one(", true, 0, 9).unwrap().contains("1: one("));
    }
}
