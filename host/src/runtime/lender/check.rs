//! Whether an answer can be one to its request: nothing that comes from a component is trusted.
//!
//! What the contract's types promise to whoever has them is checked here: names are names, paths are below the root,
//! what is in order is in order, and nothing is more than was asked for.

use belljar_contract::{
    GuestPath, Launch, MAX_NAME_BYTES, MAX_PATH_BYTES,
    files::{Chunk, Content, GlobResult, Line, Listing, MAX_LINE_BYTES, Name, SearchResult},
    processes::{Execution, Output, OutputChunk},
    session::{CommandInfo, Limits},
};

use super::convert::Bad;

/// What a text may have beside what is told: a byte that is no character is three.
const LOSSY: usize = 3;
/// The most bytes of a command's version.
const VERSION_BYTES: usize = 1 << 10;

type Checked = Result<(), Bad>;

fn that(holds: bool, what: &'static str) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Bad(what)),
    }
}

pub(super) fn content(content: &Content, limits: &Limits) -> Checked {
    let fits = content.bytes.len() as u64 <= limits.file_bytes;
    that(fits, "more of a file than a file may have")
}

pub(super) fn chunk(chunk: &Chunk, offset: u64, length: u64) -> Checked {
    let read = chunk.bytes.len() as u64;
    that(read <= length, "more of a file than was asked for")?;
    let end = offset.checked_add(read);
    let inside = read == 0 || end.is_some_and(|end| end <= chunk.size);
    that(inside, "more of a file than it has")
}

fn text(name: &Name) -> Checked {
    let right = match &name.raw {
        None => true,
        Some(raw) => std::str::from_utf8(raw).is_err() && String::from_utf8_lossy(raw) == name.text,
    };
    that(right, "a name that is not what its bytes are")
}

fn entry_name(name: &Name) -> Checked {
    text(name)?;
    let bytes = name.as_bytes();
    let right = !bytes.is_empty()
        && bytes.len() <= MAX_NAME_BYTES
        && !bytes.contains(&b'/')
        && !bytes.contains(&0)
        && bytes != b"."
        && bytes != b"..";
    that(right, "a name that is none")
}

fn path(name: &Name) -> Checked {
    text(name)?;
    let bytes = name.as_bytes();
    if bytes == b"." {
        return Ok(());
    }
    let part = |part: &[u8]| {
        !part.is_empty() && part.len() <= MAX_NAME_BYTES && part != b"." && part != b".."
    };
    let right = bytes.len() <= MAX_PATH_BYTES
        && !bytes.contains(&0)
        && bytes.split(|byte| *byte == b'/').all(part);
    that(right, "a path that is none below the root")
}

pub(super) fn listing(listing: &Listing, limit: u32) -> Checked {
    let entries = &listing.entries;
    that(
        entries.len() as u64 <= limit.into(),
        "more entries than were asked for",
    )?;
    that(
        entries.len() as u64 <= listing.total,
        "fewer entries in all than it tells",
    )?;
    for entry in entries {
        entry_name(&entry.name)?;
    }
    let bytes = entries.iter().map(|entry| entry.name.as_bytes());
    that(in_order(bytes), "entries out of order")
}

pub(super) fn glob_result(result: &GlobResult, limit: u32) -> Checked {
    let paths = &result.paths;
    that(
        paths.len() as u64 <= limit.into(),
        "more paths than were asked for",
    )?;
    that(
        paths.len() as u64 <= result.total,
        "fewer paths in all than it tells",
    )?;
    for found in paths {
        path(&found.path)?;
    }
    let bytes = paths.iter().map(|found| found.path.as_bytes());
    that(in_order(bytes), "paths out of order")
}

/// Each is after the one before it.
fn in_order<'a>(names: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut before: Option<&[u8]> = None;
    for name in names {
        if before.is_some_and(|before| before >= name) {
            return false;
        }
        before = Some(name);
    }
    true
}

pub(super) fn search_result(result: &SearchResult, limit: u32, context: u32) -> Checked {
    let matches = &result.matches;
    that(
        matches.len() as u64 <= limit.into(),
        "more lines than were asked for",
    )?;
    for found in matches {
        path(&found.path)?;
        that(found.line_number > 0, "a line whose number is 0")?;
        let around = found.before.len().max(found.after.len());
        that(
            around as u64 <= context.into(),
            "more lines around than were asked for",
        )?;
        let around = found.before.iter().chain(&found.after);
        around.chain([&found.line]).try_for_each(line)?;
    }
    let places = matches.windows(2).all(|pair| {
        let place = |index: usize| (pair[index].path.as_bytes(), pair[index].line_number);
        place(0) < place(1)
    });
    that(places, "lines out of order")
}

fn line(line: &Line) -> Checked {
    let fits = line.text.len() <= MAX_LINE_BYTES * LOSSY;
    that(fits && !line.text.contains('\n'), "a line that is none")
}

pub(super) fn resolved(text: String) -> Result<GuestPath, Bad> {
    let relative = !text.starts_with('/');
    GuestPath::try_from(text)
        .ok()
        .filter(|_| relative)
        .ok_or(Bad("a path that is none below the root"))
}

pub(super) fn execution(execution: &Execution, launch: &Launch) -> Checked {
    output(&execution.stdout, launch.output_limit)?;
    output(&execution.stderr, launch.output_limit)
}

fn output(output: &Output, limit: u64) -> Checked {
    let kept = output.head.len() as u64 + output.tail.len() as u64;
    that(kept <= limit, "more of an output than was asked for")
}

pub(super) fn output_chunk(chunk: &OutputChunk, cursor: u64, limit: u64) -> Checked {
    let read = chunk.bytes.len() as u64;
    that(read <= limit, "more of an output than was asked for")?;
    let end = cursor.checked_add(chunk.dropped);
    let end = end.and_then(|from| from.checked_add(read));
    that(
        end == Some(chunk.cursor),
        "an output's cursor that does not fit it",
    )
}

pub(super) fn commands(found: &[CommandInfo], names: &[String]) -> Checked {
    let told = found.iter().map(|info| &info.name);
    that(told.eq(names), "other commands than were asked for")?;
    for info in found {
        let path = info.path.as_deref().unwrap_or("/");
        let right = path.starts_with('/') && path.len() <= MAX_PATH_BYTES && !path.contains('\0');
        that(right, "a command's path that is none")?;
        let version = info.version.as_deref().unwrap_or_default();
        let right = version.len() <= VERSION_BYTES && !version.contains(char::is_control);
        that(right, "a command's version that is no line")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use belljar_contract::files::{Entry, EntryKind, Found, Match, Skipped};

    use super::*;

    fn entry(name: &str) -> Entry {
        Entry {
            name: name.into(),
            kind: EntryKind::File,
            size: None,
        }
    }

    fn lists(names: &[&str], total: u64, limit: u32) -> bool {
        let entries = names.iter().map(|name| entry(name)).collect();
        listing(&Listing { entries, total }, limit).is_ok()
    }

    #[test]
    fn a_listing_is_names_in_order() {
        assert!(lists(&["a", "b"], 2, 2) && lists(&["B", "a"], 9, 2) && lists(&[], 0, 0));
        assert!(!lists(&["b", "a"], 2, 2), "order");
        assert!(!lists(&["a", "a"], 2, 2), "twice");
        assert!(!lists(&["a", "b"], 1, 2), "the total");
        assert!(!lists(&["a", "b"], 2, 1), "the limit");
        for bad in ["", ".", "..", "a/b", "a\0", &"x".repeat(256)] {
            assert!(!lists(&[bad], 1, 1), "{bad:?}");
        }
    }

    #[test]
    fn a_raw_name_is_what_its_text_says() {
        let odd = Name::from_bytes(b"a\xff".to_vec());
        assert!(entry_name(&odd).is_ok());
        let lies = Name {
            text: "b".into(),
            ..odd
        };
        assert!(entry_name(&lies).is_err());
        let hides = Name {
            text: "a/b".into(),
            raw: Some(b"a/b".to_vec()),
        };
        assert!(entry_name(&hides).is_err() && path(&hides).is_err());
    }

    #[test]
    fn paths_are_below_the_root() {
        for right in [".", "a", "a/b", ".git/x"] {
            assert!(path(&right.into()).is_ok(), "{right:?}");
        }
        for bad in ["", "/a", "a/", "../a", "a/../b", "a//b", "./a", "a\0b"] {
            assert!(path(&bad.into()).is_err(), "{bad:?}");
        }
        assert!(resolved("a/b".into()).is_ok() && resolved(".".into()).is_ok());
        for bad in ["", "/a", "//a", "../a"] {
            assert!(resolved(bad.into()).is_err(), "{bad:?}");
        }
        let found = |text: &str| Found {
            path: text.into(),
            kind: EntryKind::File,
        };
        let result = |paths: Vec<Found>| GlobResult {
            total: paths.len() as u64,
            paths,
            skipped: Skipped::default(),
        };
        assert!(glob_result(&result(vec![found("a"), found("a/b")]), 2).is_ok());
        assert!(glob_result(&result(vec![found("b"), found("a")]), 2).is_err());
    }

    #[test]
    fn lines_are_in_order_and_no_more_than_were_asked_for() {
        let found = |path: &str, line_number| Match {
            path: path.into(),
            line_number,
            offset: 0,
            line: Line::default(),
            before: vec![Line::default()],
            after: Vec::new(),
        };
        let result = |matches| SearchResult {
            matches,
            more: false,
            skipped: Skipped::default(),
        };
        let right = result(vec![found("a", 1), found("a", 2), found("b", 1)]);
        assert!(search_result(&right, 3, 1).is_ok());
        assert!(search_result(&right, 2, 1).is_err());
        assert!(search_result(&right, 3, 0).is_err());
        for wrong in [
            vec![found("a", 2), found("a", 1)],
            vec![found("a", 1), found("a", 1)],
            vec![found("a", 0)],
            vec![found("/etc", 1)],
        ] {
            assert!(search_result(&result(wrong), 3, 1).is_err());
        }
    }

    #[test]
    fn outputs_fit_what_was_asked() {
        let chunk = |bytes: &[u8], cursor, dropped| OutputChunk {
            bytes: bytes.to_vec(),
            cursor,
            dropped,
            ended: false,
        };
        assert!(output_chunk(&chunk(b"abc", 8, 0), 5, 3).is_ok());
        assert!(output_chunk(&chunk(b"abc", 9, 1), 5, 3).is_ok());
        assert!(output_chunk(&chunk(b"abc", 9, 0), 5, 3).is_err());
        assert!(output_chunk(&chunk(b"abc", 8, 0), 5, 2).is_err());
        assert!(output_chunk(&chunk(b"abc", 2, u64::MAX), 5, 3).is_err());
    }

    #[test]
    fn commands_are_those_that_were_asked_for() {
        let info = |name: &str, path: Option<&str>, version: Option<&str>| CommandInfo {
            name: name.into(),
            path: path.map(Into::into),
            version: version.map(Into::into),
        };
        let names = ["sh".to_owned()];
        assert!(commands(&[info("sh", Some("/bin/sh"), Some("1"))], &names).is_ok());
        for wrong in [
            vec![],
            vec![info("ls", None, None)],
            vec![info("sh", Some("bin/sh"), None)],
            vec![info("sh", None, Some("a\nb"))],
        ] {
            assert!(commands(&wrong, &names).is_err());
        }
    }
}
