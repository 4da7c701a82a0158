//! How names, lines and counts are shown to a model.

use belljar_guest::files::{EntryKind, Name, Skipped};

/// The longest line that is shown, in bytes: more is seldom source text.
const MAX_LINE_BYTES: usize = 1000;

/// A name or path on one line: quoted when it has a line end or another control character, or is not UTF-8.
pub(crate) fn name(name: &Name) -> String {
    match &name.raw {
        Some(raw) => format!("b\"{}\" [not UTF-8, cannot be named]", raw.escape_ascii()),
        None if name.text.chars().any(char::is_control) => format!("{:?}", name.text),
        None => name.text.clone(),
    }
}

/// What follows a name to say what it is, as `ls -F` has it.
pub(crate) const fn mark(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "",
        EntryKind::Directory => "/",
        EntryKind::Link => "@",
        EntryKind::Other => "|",
    }
}

/// `1 line`, `2 lines`.
pub(crate) fn count(number: u64, one: &str) -> String {
    let plural = match one.strip_suffix('y') {
        _ if number == 1 => one.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if one.ends_with("ch") => format!("{one}es"),
        None => format!("{one}s"),
    };
    format!("{number} {plural}")
}

/// A line, cut when it is very long; `gone` bytes were cut before.
pub(crate) fn line(text: &str, gone: u64) -> String {
    let end = text.floor_char_boundary(MAX_LINE_BYTES);
    let gone = gone + (text.len() - end) as u64;
    if gone == 0 {
        text.to_owned()
    } else {
        format!("{} [+{gone} bytes]", &text[..end])
    }
}

/// What a walk did not look at; empty when that is nothing.
pub(crate) fn skipped(skipped: Skipped) -> String {
    let Skipped {
        links,
        binary,
        unreadable,
        special,
    } = skipped;
    let parts: Vec<String> = [
        (links, "link"),
        (binary, "binary file"),
        (unreadable, "unreadable entry"),
        (special, "special file"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| count(number, what))
    .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("; not looked into: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(name(&"a b".into()), "a b");
        assert_eq!(name(&"a\nb".into()), r#""a\nb""#);
        assert!(name(&Name::from_bytes(b"a\xff".to_vec())).starts_with(r#"b"a\xff""#));
    }

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        assert_eq!(line("short", 0), "short");
        let long = format!("{}é", "a".repeat(MAX_LINE_BYTES - 1));
        assert_eq!(
            line(&long, 3),
            format!("{} [+5 bytes]", "a".repeat(MAX_LINE_BYTES - 1))
        );
    }

    #[test]
    fn counts_are_english() {
        assert_eq!(count(1, "match"), "1 match");
        assert_eq!(count(2, "match"), "2 matches");
        assert_eq!(count(0, "entry"), "0 entries");
        let some = Skipped {
            links: 2,
            binary: 1,
            ..Skipped::default()
        };
        assert_eq!(skipped(some), "; not looked into: 2 links, 1 binary file");
        assert_eq!(skipped(Skipped::default()), "");
    }
}
