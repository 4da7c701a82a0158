//! The literal beginning of a glob, as text: a path within the pattern, which is followed like one.

/// Splits a pattern into the names at its beginning that have no wildcard, and the rest, which has
/// the last part at least.
pub(super) fn literal_beginning(pattern: &str) -> (Vec<String>, String) {
    let pattern = without_escaped_slashes(pattern);
    let mut names = Vec::new();
    let mut rest = pattern.as_str();
    while let Some((part, after)) = rest.split_once('/') {
        let Some(name) = unescaped(part) else { break };
        // What follows the last literal part is the pattern itself, not its beginning.
        if after.split('/').all(|part| matches!(part, "" | ".")) {
            break;
        }
        if !matches!(name.as_str(), "" | ".") {
            names.push(name);
        }
        rest = after;
    }
    (names, rest.to_owned())
}

/// The pattern that matches a path and nothing else.
pub(super) fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | '{' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

/// An escaped slash is a slash in the dialect, so it ends a part too.
fn without_escaped_slashes(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' {
            characters.next()
        } else {
            None
        };
        match escaped {
            Some('/') => plain.push('/'),
            Some(escaped) => plain.extend([character, escaped]),
            None => plain.push(character),
        }
    }
    plain
}

fn unescaped(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' | '?' | '[' | '{' => return None,
            '\\' => name.push(characters.next()?),
            literal => name.push(literal),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use belljar_workspace::files::Glob;

    use super::*;

    #[test]
    fn it_is_what_the_dialect_takes_for_literal() {
        for (pattern, rest) in [
            ("a/b/*.rs", "*.rs"),
            ("a/b", "b"),
            ("a/b/", "b/"),
            ("a/b/.", "b/."),
            ("./a//b\\*/c", "c"),
            ("a\\/b\\/c*", "c*"),
            ("a\\\\/b*", "b*"),
            ("{a,b}/c", "{a,b}/c"),
            ("a}/],/*", "*"),
            ("a/{b/c,d}/e", "{b/c,d}/e"),
            ("a/[/]/e", "[/]/e"),
            ("**/a", "**/a"),
            ("a", "a"),
        ] {
            let glob = Glob::new(pattern).expect(pattern);
            let (names, left) = literal_beginning(pattern);
            let mut literal = glob.literal().to_vec();
            if glob.is_literal() {
                literal.pop();
            }
            assert_eq!((names, left.as_str()), (literal, rest), "{pattern}");
        }
    }

    #[test]
    fn an_escaped_path_matches_itself() {
        for path in ["a*[b]{c,d}\\?", "a/.b/-c", "**", "[!a]"] {
            let glob = Glob::new(&escaped(path)).expect(path);
            assert!(glob.is_literal() && glob.is_match(path, false), "{path}");
        }
    }
}
