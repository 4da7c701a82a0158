//! A word of a command line, before file names take the place of patterns.

/// A word: its characters, and which of them are wildcards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    characters: Vec<Character>,
    /// Whether a quote was in it; then it is a word also when it is empty.
    quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Character {
    /// As it stands.
    Plain(char),
    Quoted(char),
    Wild(char),
}

impl Character {
    const fn char(self) -> char {
        match self {
            Self::Plain(one) | Self::Quoted(one) | Self::Wild(one) => one,
        }
    }
}

impl Word {
    pub(super) fn plain(&mut self, one: char) {
        self.characters.push(Character::Plain(one));
    }

    pub(super) fn quote(&mut self, one: char) {
        self.quoted = true;
        self.characters.push(Character::Quoted(one));
    }

    pub(super) fn wild(&mut self, one: char) {
        self.characters.push(Character::Wild(one));
    }

    /// Notes a quote, which may have nothing in it.
    pub(super) const fn quoted(&mut self) {
        self.quoted = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.characters.is_empty() && !self.quoted
    }

    /// The number that it is, when it is one plain digit.
    pub(super) fn as_number(&self) -> Option<usize> {
        match self.characters.as_slice() {
            [Character::Plain(digit)] => digit.to_digit(10).map(|digit| digit as usize),
            _ => None,
        }
    }

    /// Its text, quotes removed.
    pub(super) fn text(&self) -> String {
        self.characters.iter().map(|one| one.char()).collect()
    }

    /// Its text, when it is no pattern.
    pub(super) fn literal(&self) -> Option<String> {
        (!self.is_pattern()).then(|| self.text())
    }

    /// Whether nothing in it is quoted; then what may be a reserved word.
    pub(super) fn is_unquoted(&self) -> bool {
        !self.quoted
    }

    /// Whether it has a wildcard.
    pub(super) fn is_pattern(&self) -> bool {
        self.characters
            .iter()
            .any(|one| matches!(one, Character::Wild(_)))
    }

    /// Whether a shell takes it for `NAME=VALUE`.
    pub(super) fn is_assignment(&self) -> bool {
        let name: Vec<_> = self
            .characters
            .iter()
            .take_while(|one| **one != Character::Plain('='))
            .collect();
        let is_name = |at: usize, one: &Character| match one {
            Character::Plain('_') => true,
            Character::Plain(one) => one.is_ascii_alphabetic() || (at > 0 && one.is_ascii_digit()),
            Character::Quoted(_) | Character::Wild(_) => false,
        };
        !name.is_empty()
            && name.len() < self.characters.len()
            && name.iter().enumerate().all(|(at, one)| is_name(at, one))
    }

    /// Its parts between slashes.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = vec![Part::default()];
        for one in &self.characters {
            let Some(part) = parts.last_mut() else {
                continue;
            };
            match one {
                Character::Plain('/') | Character::Quoted('/') => {
                    parts.push(Part::default());
                    continue;
                }
                Character::Wild(one) => {
                    part.is_pattern = true;
                    part.pattern.push(*one);
                }
                // Inside of brackets these are a pattern's own.
                Character::Plain(one @ (']' | '!' | '-' | '^')) => part.pattern.push(*one),
                Character::Plain(one) | Character::Quoted(one) => {
                    if !one.is_alphanumeric() {
                        part.pattern.push('\\');
                    }
                    part.pattern.push(*one);
                }
            }
            part.text.push(one.char());
        }
        parts
    }
}

/// A name of a path, or what stands for names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) text: String,
    /// The same as a pattern of the contract's dialect.
    pub(super) pattern: String,
    /// Whether it has a wildcard.
    pub(super) is_pattern: bool,
}
