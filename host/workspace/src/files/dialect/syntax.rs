//! A pattern's text as a tree.

/// How deep braces may nest: more than anybody writes, and few enough for a thread's stack.
const MAX_DEPTH: u32 = 64;

/// Why a text is not a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GlobError {
    #[error("a [ has no ]; write \\[ for the character")]
    OpenClass,
    #[error("a range in [ ] runs backwards")]
    BackwardRange,
    #[error("a {{ has no }}; write \\{{ for the character")]
    OpenBrace,
    #[error("braces nest more than {MAX_DEPTH} deep")]
    TooDeep,
    #[error("** must be a whole part, between slashes")]
    DoubleStar,
    #[error("a \\ at the end stands for nothing; write \\\\ for the character")]
    OpenEscape,
    #[error("a part is ..; give the pattern relative to the base")]
    Leaves,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `**`
    Names,
    /// Ranges, and whether it is what is not in them.
    Class(Vec<(char, char)>, bool),
    Slash,
    Alternatives(Vec<Sequence>),
}

pub(super) type Sequence = Vec<Node>;

/// A pattern, and what is to be known of it before a walk.
pub(super) struct Parsed {
    pub(super) sequence: Sequence,
    pub(super) literal: Vec<String>,
    pub(super) is_literal: bool,
    pub(super) directories_only: bool,
}

pub(super) fn parse(pattern: &str) -> Result<Parsed, GlobError> {
    let mut characters = pattern.chars().peekable();
    let sequence = sequence(&mut characters, 0)?.0;
    let directories_only = sequence.last() == Some(&Node::Slash);
    // `//` counts as `/`, and a part `.` as nothing.
    let parts: Vec<&[Node]> = sequence
        .split(|node| *node == Node::Slash)
        .filter(|part| !matches!(part, [] | [Node::Char('.')]))
        .collect();
    if parts.contains(&[Node::Char('.'), Node::Char('.')].as_slice()) {
        return Err(GlobError::Leaves);
    }
    let literal: Vec<String> = parts.iter().map_while(|part| literal(part)).collect();
    let is_literal = literal.len() == parts.len();
    let mut sequence = parts.join(&Node::Slash);
    check(&sequence, true, true)?;
    move_slashes(&mut sequence);
    Ok(Parsed {
        sequence,
        literal,
        is_literal,
        directories_only,
    })
}

fn literal(part: &[Node]) -> Option<String> {
    part.iter()
        .map(|node| match node {
            Node::Char(character) => Some(*character),
            _ => None,
        })
        .collect()
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Parses up to the end, or within braces up to `,` or `}`, which is given too.
fn sequence(
    characters: &mut Characters<'_>,
    depth: u32,
) -> Result<(Sequence, Option<char>), GlobError> {
    let mut sequence = Sequence::new();
    while let Some(character) = characters.next() {
        let node = match character {
            '/' => Node::Slash,
            '?' => Node::Any,
            '*' if characters.next_if_eq(&'*').is_some() => {
                if characters.peek() == Some(&'*') {
                    return Err(GlobError::DoubleStar);
                }
                Node::Names
            }
            '*' => Node::Star,
            '[' => class(characters)?,
            '{' => alternatives(characters, depth + 1)?,
            ',' | '}' if depth > 0 => return Ok((sequence, Some(character))),
            '\\' => match characters.next().ok_or(GlobError::OpenEscape)? {
                '/' => Node::Slash,
                escaped => Node::Char(escaped),
            },
            other => Node::Char(other),
        };
        sequence.push(node);
    }
    Ok((sequence, None))
}

fn alternatives(characters: &mut Characters<'_>, depth: u32) -> Result<Node, GlobError> {
    if depth > MAX_DEPTH {
        return Err(GlobError::TooDeep);
    }
    let mut alternatives = Vec::new();
    loop {
        let (alternative, end) = sequence(characters, depth)?;
        alternatives.push(alternative);
        match end {
            Some(',') => {}
            Some(_) => return Ok(Node::Alternatives(alternatives)),
            None => return Err(GlobError::OpenBrace),
        }
    }
}

fn class(characters: &mut Characters<'_>) -> Result<Node, GlobError> {
    let negated = characters
        .next_if(|character| matches!(character, '!' | '^'))
        .is_some();
    let mut ranges = Vec::new();
    loop {
        let low = match characters.next().ok_or(GlobError::OpenClass)? {
            // The first is one of the class.
            ']' if !ranges.is_empty() => return Ok(Node::Class(ranges, negated)),
            '\\' => characters.next().ok_or(GlobError::OpenEscape)?,
            other => other,
        };
        let mut ahead = characters.clone();
        let is_range = ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']');
        let mut high = low;
        if is_range {
            characters.next();
            high = match characters.next().ok_or(GlobError::OpenClass)? {
                '\\' => characters.next().ok_or(GlobError::OpenEscape)?,
                other => other,
            };
        }
        if high < low {
            return Err(GlobError::BackwardRange);
        }
        ranges.push((low, high));
    }
}

/// Refuses `**` that is not a whole part. `begins` and `ends` say whether a part begins before
/// the sequence and ends after it.
fn check(sequence: &[Node], begins: bool, ends: bool) -> Result<(), GlobError> {
    for (at, node) in sequence.iter().enumerate() {
        let before = if at == 0 {
            begins
        } else {
            sequence[at - 1] == Node::Slash
        };
        let after = match sequence.get(at + 1) {
            None => ends,
            Some(next) => *next == Node::Slash,
        };
        match node {
            Node::Names if !(before && after) => return Err(GlobError::DoubleStar),
            Node::Alternatives(alternatives) => {
                for alternative in alternatives {
                    check(alternative, before, after)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Moves a slash behind braces into them where `**` stands at the end of one of them, so that `**` always
/// has its slash beside it: as no name at all, it takes the slash with it.
fn move_slashes(sequence: &mut Sequence) {
    let mut at = 0;
    while at < sequence.len() {
        let moves = sequence.get(at + 1) == Some(&Node::Slash) && ends_with_names(&sequence[at]);
        if let Node::Alternatives(alternatives) = &mut sequence[at] {
            for alternative in alternatives {
                if moves {
                    alternative.push(Node::Slash);
                }
                move_slashes(alternative);
            }
            if moves {
                sequence.remove(at + 1);
            }
        }
        at += 1;
    }
}

fn ends_with_names(node: &Node) -> bool {
    match node {
        Node::Alternatives(alternatives) => alternatives.iter().any(|alternative| {
            alternative
                .last()
                .is_some_and(|last| *last == Node::Names || ends_with_names(last))
        }),
        _ => false,
    }
}
