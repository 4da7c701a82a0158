//! Where something stands in a text.

use std::fmt;

/// A line and a column, both from 1; a column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl Position {
    /// The position of a byte of `text`; the end for one that is past it.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_and_characters() {
        let text = "é = 1\nab";
        for (offset, line, column) in [(0, 1, 1), (1, 1, 1), (2, 1, 2), (7, 2, 1), (99, 2, 3)] {
            assert_eq!(Position::of(text, offset), Position { line, column });
        }
    }
}
