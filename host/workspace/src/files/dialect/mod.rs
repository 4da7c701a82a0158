//! The contract's glob dialect: what a pattern means, without a file system.
//!
//! Policies, the walk and other implementations of the contract share it. A pattern becomes an automaton
//! over characters, which a walk carries down a name at a time: a directory below which nothing
//! can match is then known before it is opened. Time is at most the pattern's length times the path's,
//! whatever the pattern.

mod automaton;
mod syntax;

use self::automaton::Program;
pub use self::{
    automaton::{Scratch, State, Step},
    syntax::GlobError,
};

/// A compiled pattern.
///
/// ```
/// use belljar_workspace::files::Glob;
///
/// let glob = Glob::new("src/**/*.{rs,toml}")?;
/// assert!(glob.is_match("src/lib.rs", false));
/// assert!(glob.is_match("src/a/b/c.toml", false));
/// assert!(!glob.is_match("lib.rs", false));
/// assert_eq!(glob.literal(), ["src"]);
/// assert!(Glob::new("a**").is_err());
/// # Ok::<(), belljar_workspace::files::GlobError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glob {
    program: Program,
    literal: Vec<String>,
    is_literal: bool,
    directories_only: bool,
}

impl Glob {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`GlobError`] says what does not parse.
    pub fn new(pattern: &str) -> Result<Self, GlobError> {
        let parsed = syntax::parse(pattern)?;
        Ok(Self {
            program: Program::compile(&parsed.sequence),
            literal: parsed.literal,
            is_literal: parsed.is_literal,
            directories_only: parsed.directories_only,
        })
    }

    /// Compiles a filter of a search: a pattern without `/` is for the last name, at any depth.
    ///
    /// # Errors
    /// [`GlobError`] says what does not parse.
    pub fn filter(pattern: &str) -> Result<Self, GlobError> {
        if pattern.contains('/') {
            return Self::new(pattern);
        }
        Self::new(&format!("**/{pattern}"))
    }

    /// Whether a whole path matches, relative to the base, with `/` between its names.
    #[must_use]
    pub fn is_match(&self, path: &str, is_directory: bool) -> bool {
        let mut scratch = Scratch::default();
        let mut state = self.start();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            let step = self.step(&state, name, true, &mut scratch);
            if names.peek().is_none() {
                return step.matches && (is_directory || !self.directories_only);
            }
            match step.below {
                Some(below) => state = below,
                None => return false,
            }
        }
        false
    }

    /// Whether something below a directory may match.
    #[must_use]
    pub fn may_match_below(&self, directory: &str) -> bool {
        let mut scratch = Scratch::default();
        let mut state = self.start();
        for name in directory.split('/').filter(|name| !name.is_empty()) {
            match self.step(&state, name, true, &mut scratch).below {
                Some(below) => state = below,
                None => return false,
            }
        }
        true
    }

    /// The leading parts without a wildcard, as the names they stand for.
    #[must_use]
    pub fn literal(&self) -> &[String] {
        &self.literal
    }

    /// Whether there is no wildcard at all: the pattern names one path.
    #[must_use]
    pub const fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// Whether only directories match.
    #[must_use]
    pub const fn directories_only(&self) -> bool {
        self.directories_only
    }

    /// Where a walk begins, at the base.
    #[must_use]
    pub fn start(&self) -> State {
        self.program.start()
    }

    /// Goes on by one name. Without `hidden`, a name's leading `.` is matched by a literal `.` only.
    #[must_use]
    pub fn step(&self, from: &State, name: &str, hidden: bool, scratch: &mut Scratch) -> Step {
        self.program.step(from, name, hidden, scratch)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_does_not_parse_is_said() {
        for pattern in [
            "[", "[a", "[]", "[!]", "[z-a]", "{", "{a", "{a,{b}", "a**", "**a", "a/**b", "***",
            "x{a,**}", "{**}x", "a\\", "{a/,b}**", r"\.\./x", r"a/.\.",
        ] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
        let deep = format!("{}{}", "{".repeat(2000), "}".repeat(2000));
        assert!(Glob::new(&deep).is_err());
    }

    #[test]
    fn two_stars_are_names_also_within_braces() {
        for (pattern, path, right) in [
            ("**", "a", true),
            ("**", "a/b", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("a/**/b", "a/b", true),
            ("**/b", "b", true),
            ("{a,**}/b", "b", true),
            ("{a,**}/b", "x/y/b", true),
            ("{a,{x,**}}/b", "b", true),
            ("{a/**,c}", "a/b", true),
            ("{a/**,c}", "a", false),
            ("{**/a,c}/d", "x/a/d", true),
            ("{**/a,c}/d", "c/d", true),
            ("{a,b}{c,}", "a", true),
            ("}", "}", true),
            ("a,b", "a,b", true),
        ] {
            assert_eq!(
                Glob::new(pattern).unwrap().is_match(path, false),
                right,
                "{pattern} {path}"
            );
        }
    }

    #[test]
    fn the_literal_beginning_is_what_it_stands_for() {
        let glob = Glob::new(r".//a\*//{b}/c/*").unwrap();
        assert_eq!(glob.literal(), ["a*"]);
        assert!(!glob.is_literal());
        let glob = Glob::new("./a/b/").unwrap();
        assert_eq!(glob.literal(), ["a", "b"]);
        assert!(glob.is_literal() && glob.directories_only());
    }

    /// Does the same by trying everything.
    fn plain(pattern: &[char], path: &[char]) -> bool {
        match pattern {
            [] => path.is_empty(),
            ['*', '*', '/', rest @ ..] => {
                plain(rest, path)
                    || (0..path.len()).any(|at| path[at] == '/' && plain(rest, &path[at + 1..]))
            }
            ['*', '*'] => !path.is_empty(),
            ['*', rest @ ..] => {
                plain(rest, path)
                    || path.first().is_some_and(|c| *c != '/') && plain(pattern, &path[1..])
            }
            ['?', rest @ ..] => path.first().is_some_and(|c| *c != '/') && plain(rest, &path[1..]),
            ['[', '!', c, ']', rest @ ..] => {
                path.first().is_some_and(|p| p != c && *p != '/') && plain(rest, &path[1..])
            }
            ['{', a, ',', b, '}', rest @ ..] => {
                [a, b].iter().any(|c| plain(&[&[**c], rest].concat(), path))
            }
            [c, rest @ ..] => path.first() == Some(c) && plain(rest, &path[1..]),
        }
    }

    fn part() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("a".to_owned()),
            Just("é".to_owned()),
            Just(".".to_owned()),
            Just("*".to_owned()),
            Just("?".to_owned()),
            Just("[!a]".to_owned()),
            Just("{a,é}".to_owned()),
        ];
        prop_oneof![
            1 => Just("**".to_owned()),
            4 => proptest::collection::vec(piece, 1..5)
                .prop_map(|pieces| pieces.concat())
                .prop_filter("two stars, dots only", |part| !part.contains("**") && !part.trim_matches('.').is_empty()),
        ]
    }

    proptest! {
        #[test]
        fn it_matches_what_the_plain_way_matches(
            parts in proptest::collection::vec(part(), 1..4),
            names in proptest::collection::vec("[aé.]{1,4}", 1..5),
        ) {
            let pattern = parts.join("/");
            let path = names.join("/");
            let glob = Glob::new(&pattern).unwrap();
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(glob.is_match(&path, false), plain(&chars(&pattern), &chars(&path)));
        }

        #[test]
        fn no_pattern_panics(pattern in r"[a*?\[\]{},\\!^/.-]{0,30}") {
            if let Ok(glob) = Glob::new(&pattern) {
                let _ = glob.is_match("a/.b/é", true);
            }
        }
    }
}
