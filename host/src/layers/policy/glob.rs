//! One glob of a rule, in the contract's dialect, which can also be asked about a whole directory.
//!
//! Where the dialect leaves something open, the narrower reading is taken or the glob is refused: a
//! rule must never mean more than it seems to.

/// The most globs that the braces of one may stand for.
const MAX_ALTERNATIVES: usize = 1024;
/// How deep braces may nest.
const MAX_DEPTH: usize = 16;

/// Why a text is not a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GlobError(pub(super) &'static str);

/// A glob without braces, a part for each name.
#[derive(Clone, Debug)]
pub(super) struct Glob(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    /// `**`: any number of names; at least one at the end.
    Names,
    /// One name.
    Name(Vec<Token>),
}

#[derive(Clone, Debug)]
enum Token {
    Literal(char),
    /// `?`
    One,
    /// `*`
    Many,
    /// `[…]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// `/`: only while parsing.
    Slash,
}

impl Glob {
    /// Parses a glob into those that its braces stand for.
    pub(super) fn parse_all(text: &str) -> Result<Vec<Self>, GlobError> {
        let mut parser = Parser {
            rest: text.chars().peekable(),
        };
        let alternatives = parser.sequence(0)?;
        alternatives.into_iter().map(Self::new).collect()
    }

    fn new(tokens: Vec<Token>) -> Result<Self, GlobError> {
        if matches!(tokens.first(), Some(Token::Slash)) {
            return Err(GlobError("it is absolute; give it relative to the root"));
        }
        if matches!(tokens.last(), Some(Token::Slash)) {
            return Err(GlobError(
                "it ends with a slash; a directory's content is dir/**",
            ));
        }
        let mut parts = Vec::new();
        for part in tokens.split(|token| matches!(token, Token::Slash)) {
            match part {
                [] | [Token::Literal('.')] => {}
                [Token::Literal('.'), Token::Literal('.')] => {
                    return Err(GlobError("it has a part .."));
                }
                [Token::Many, Token::Many] => {
                    // Two in a row stand for what one stands for, but for the end.
                    if !matches!(parts.last(), Some(Part::Names)) {
                        parts.push(Part::Names);
                    }
                }
                name => {
                    let doubled = |pair: &[Token]| matches!(pair, [Token::Many, Token::Many]);
                    if name.windows(2).any(doubled) {
                        return Err(GlobError("** is a whole part, or nothing"));
                    }
                    parts.push(Part::Name(name.to_vec()));
                }
            }
        }
        if parts.is_empty() {
            return Err(GlobError("it matches nothing; everything is **"));
        }
        Ok(Self(parts))
    }

    /// Whether the path matches.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.after(path).contains(&self.0.len())
    }

    /// Whether something below the directory may match.
    pub(super) fn may_match_below(&self, directory: &str) -> bool {
        self.after(directory).iter().any(|&at| at < self.0.len())
    }

    /// Whether everything below the directory matches.
    pub(super) fn covers(&self, directory: &str) -> bool {
        let last = self.0.len() - 1;
        matches!(self.0[last], Part::Names) && self.after(directory).contains(&last)
    }

    /// The parts that may come next after these names, sorted; the number of parts stands for the end.
    fn after(&self, path: &str) -> Vec<usize> {
        let mut states = Vec::new();
        self.reach(0, &mut states);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let mut next = Vec::new();
            for &state in &states {
                match self.0.get(state) {
                    Some(Part::Names) => {
                        self.reach(state, &mut next);
                        if state + 1 == self.0.len() {
                            self.reach(state + 1, &mut next);
                        }
                    }
                    Some(Part::Name(tokens)) if fits(tokens, name) => {
                        self.reach(state + 1, &mut next);
                    }
                    Some(Part::Name(_)) | None => {}
                }
            }
            next.sort_unstable();
            next.dedup();
            states = next;
        }
        states
    }

    /// Adds a part, and what comes next when it is a `**` that stands for no name.
    fn reach(&self, state: usize, states: &mut Vec<usize>) {
        states.push(state);
        if matches!(self.0.get(state), Some(Part::Names)) && state + 1 < self.0.len() {
            self.reach(state + 1, states);
        }
    }
}

/// Whether a name matches: a greedy walk that goes back to the last `*` alone, and so takes at most
/// the product of both lengths.
fn fits(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut token, mut at) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    loop {
        match tokens.get(token) {
            Some(Token::Many) => {
                back = Some((token + 1, at));
                token += 1;
                continue;
            }
            Some(one) if name.get(at).is_some_and(|&character| one.takes(character)) => {
                (token, at) = (token + 1, at + 1);
                continue;
            }
            None if at == name.len() => return true,
            Some(_) | None => {}
        }
        match &mut back {
            Some((after, from)) if *from < name.len() => {
                *from += 1;
                (token, at) = (*after, *from);
            }
            _ => return false,
        }
    }
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::One | Self::Many => true,
            Self::Class { negated, ranges } => {
                let within = |(from, to): &(char, char)| (*from..=*to).contains(&character);
                ranges.iter().any(within) != *negated
            }
            Self::Slash => false,
        }
    }
}

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Parser<'_> {
    /// Every way to read what comes up to the end, or up to the `,` or `}` of the braces around it.
    fn sequence(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, GlobError> {
        let mut ways = vec![Vec::new()];
        while let Some(&character) = self.rest.peek() {
            if depth > 0 && matches!(character, ',' | '}') {
                return Ok(ways);
            }
            self.rest.next();
            let token = match character {
                '{' => {
                    ways = product(&ways, &self.braces(depth + 1)?)?;
                    continue;
                }
                '}' => return Err(GlobError("a } without {")),
                '[' => self.class()?,
                '*' => Token::Many,
                '?' => Token::One,
                '/' => Token::Slash,
                '\\' => match self.rest.next() {
                    None | Some('/') => return Err(GlobError("a \\ before nothing")),
                    Some(literal) => Token::Literal(literal),
                },
                literal => Token::Literal(literal),
            };
            for way in &mut ways {
                way.push(token.clone());
            }
        }
        match depth {
            0 => Ok(ways),
            _ => Err(GlobError("a { without }")),
        }
    }

    fn braces(&mut self, depth: usize) -> Result<Vec<Vec<Token>>, GlobError> {
        if depth > MAX_DEPTH {
            return Err(GlobError("its braces nest too deep"));
        }
        let mut ways = Vec::new();
        loop {
            ways.extend(self.sequence(depth)?);
            if ways.len() > MAX_ALTERNATIVES {
                return Err(TOO_MANY);
            }
            if self.rest.next() == Some('}') {
                return Ok(ways);
            }
        }
    }

    fn class(&mut self) -> Result<Token, GlobError> {
        const UNCLOSED: GlobError = GlobError("a [ without ]");
        let negated = self
            .rest
            .next_if(|next| matches!(next, '!' | '^'))
            .is_some();
        let mut ranges = Vec::new();
        loop {
            let from = match self.rest.next().ok_or(UNCLOSED)? {
                ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
                ']' => return Err(GlobError("an empty class")),
                '/' | '\\' => return Err(GlobError("a class with / or \\")),
                from => from,
            };
            let mut to = from;
            if self.rest.next_if_eq(&'-').is_some() {
                match self.rest.peek() {
                    // A `-` at the end stands for itself.
                    Some(']') => ranges.push(('-', '-')),
                    Some('/' | '\\') => return Err(GlobError("a class with / or \\")),
                    Some(&end) => {
                        self.rest.next();
                        to = end;
                    }
                    None => return Err(UNCLOSED),
                }
            }
            if from > to {
                return Err(GlobError("a range that ends before it begins"));
            }
            ranges.push((from, to));
        }
    }
}

const TOO_MANY: GlobError = GlobError("its braces stand for too many globs");

fn product(firsts: &[Vec<Token>], seconds: &[Vec<Token>]) -> Result<Vec<Vec<Token>>, GlobError> {
    if firsts.len().saturating_mul(seconds.len()) > MAX_ALTERNATIVES {
        return Err(TOO_MANY);
    }
    let join = |first: &Vec<Token>| {
        let first = first.clone();
        seconds
            .iter()
            .map(move |second| [first.as_slice(), second].concat())
    };
    Ok(firsts.iter().flat_map(join).collect())
}

/// The names at the beginning of a pattern that have no wildcard, and the rest, which has at least one
/// part. What is not sure to be literal belongs to the rest.
pub(super) fn literal_beginning(pattern: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    let mut rest = pattern;
    while let Some((part, after)) = rest.split_once('/') {
        let Some(name) = unescaped(part) else { break };
        // What follows the last literal part is the pattern itself, not its beginning.
        if after.trim_matches('/').is_empty() {
            break;
        }
        if !matches!(name.as_str(), "" | ".") {
            names.push(name);
        }
        rest = after;
    }
    (names, rest)
}

fn unescaped(part: &str) -> Option<String> {
    let mut name = String::new();
    let mut characters = part.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' | '?' | '[' | ']' | '{' | '}' => return None,
            '\\' => name.push(characters.next()?),
            literal => name.push(literal),
        }
    }
    Some(name)
}

/// The pattern that matches a path and nothing else.
pub(super) fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for character in path.chars() {
        if matches!(
            character,
            '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ',' | '!'
        ) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, path: &str) -> bool {
        let globs = Glob::parse_all(glob).expect(glob);
        globs.iter().any(|glob| glob.matches(path))
    }

    #[test]
    fn the_dialect() {
        for (glob, yes, no) in [
            ("*.rs", &["a.rs", ".rs"][..], &["a/b.rs", "a.rss"][..]),
            ("?", &["a", "é"], &["", "ab"]),
            ("[a-c-]x", &["ax", "-x"], &["dx", "x"]),
            ("[!a]", &["b", "é"], &["a"]),
            ("[^a]", &["b"], &["a"]),
            ("{a,b/{c,d}}", &["a", "b/c", "b/d"], &["b", "c"]),
            ("a{,b}", &["a", "ab"], &["b"]),
            ("**", &["a", "a/b"], &[""]),
            ("src/**", &["src/a", "src/a/b"], &["src", "srca", "a/src/b"]),
            ("**/x", &["x", "a/x", "a/b/x"], &["a/xx", "x/a"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/b/c"]),
            ("**/**", &["a", "a/b"], &[""]),
            ("\\*", &["*"], &["a"]),
            ("./a//b", &["a/b"], &["b"]),
            ("a*b*c", &["abc", "aXbYbc"], &["ab", "acb"]),
            ("A", &["A"], &["a"]),
        ] {
            for path in yes {
                assert!(matches(glob, path), "{glob} {path}");
            }
            for path in no {
                assert!(!matches(glob, path), "{glob} {path}");
            }
        }
    }

    #[test]
    fn what_is_not_a_glob() {
        for glob in [
            "[a", "[]", "{a", "a}", "a\\", "a**", "**a", "/a", "a/", "[a/]", "[\\]]", "[z-a]",
            "{..,a}/b", ".", "{,a}", "{/a,b}", "a/{b,/}",
        ] {
            assert!(Glob::parse_all(glob).is_err(), "{glob}");
        }
        assert!(Glob::parse_all(&"{a,b}".repeat(11)).is_err());
        assert!(Glob::parse_all(&"{".repeat(4000)).is_err());
    }

    #[test]
    fn directories() {
        let glob = |text| Glob::parse_all(text).expect("a glob").remove(0);
        let below = glob("src/**");
        assert!(below.may_match_below("") && below.may_match_below("src/a"));
        assert!(!below.may_match_below("docs"));
        assert!(below.covers("src") && below.covers("src/a") && !below.covers(""));
        let files = glob("src/*.rs");
        assert!(files.may_match_below("src") && !files.may_match_below("src/a.rs"));
        assert!(!files.covers("src"));
        assert!(!glob("**/x").covers("a") && glob("**/x/**").covers("a/x/b"));
        assert!(glob("**").covers(""));
    }

    #[test]
    fn literal_beginnings() {
        for (pattern, names, rest) in [
            ("a/b/*.rs", &["a", "b"][..], "*.rs"),
            ("a/b", &["a"], "b"),
            ("a/b/", &["a"], "b/"),
            ("./a//b\\*/c", &["a", "b*"], "c"),
            ("{a,b}/c", &[], "{a,b}/c"),
            ("**/a", &[], "**/a"),
            ("a", &[], "a"),
        ] {
            let (found, left) = literal_beginning(pattern);
            assert_eq!(
                (found.as_slice(), left),
                (
                    &names
                        .iter()
                        .map(|name| (*name).to_owned())
                        .collect::<Vec<_>>()[..],
                    rest
                ),
                "{pattern}"
            );
        }
        assert!(matches(&escaped("a*[b]{c,d}\\?"), "a*[b]{c,d}\\?"));
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches(&"*a".repeat(100), &"a".repeat(99)));
    }
}
