//! What is printed: answers on standard output, everything else on standard error.
//!
//! What a tool, a file name or an error says is somebody else's text. On a terminal its control
//! characters are shown and not obeyed.

use std::{
    borrow::Cow,
    io::{self, IsTerminal as _, Write as _},
};

use serde::Serialize;

use crate::{exit_code::Exit, failure::Failure};

/// Where and how the command prints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
    terminal: bool,
    watched: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self {
            json,
            terminal: io::stdout().is_terminal(),
            watched: io::stderr().is_terminal(),
        }
    }

    /// Whether JSON was asked for.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Whether a person watches standard error.
    pub(crate) const fn is_watched(self) -> bool {
        self.watched
    }

    /// Prints text as it is, and a newline when it has none.
    pub(crate) fn text(self, text: &str) -> Result<(), Failure> {
        let shown = match self.terminal {
            true => visible(text, true),
            false => Cow::Borrowed(text),
        };
        let end = if shown.is_empty() || shown.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        self.write(&[shown.as_bytes(), end.as_bytes()])
    }

    /// Prints one line, whatever is in it: a name with a newline stays one line.
    pub(crate) fn line(self, line: &str) -> Result<(), Failure> {
        self.write(&[visible(line, false).as_bytes(), b"\n"])
    }

    /// Prints bytes: as they are, and on a terminal as text.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        match self.terminal {
            true => self.write(&[visible(&String::from_utf8_lossy(bytes), true).as_bytes()]),
            false => self.write(&[bytes]),
        }
    }

    /// Prints a value as JSON: on one line, and for a person on several.
    pub(crate) fn value(self, value: &impl Serialize) -> Result<(), Failure> {
        let text = match self.terminal {
            true => serde_json::to_string_pretty(value),
            false => serde_json::to_string(value),
        };
        let text = text.map_err(|error| Failure::new(Exit::Host, error))?;
        self.write(&[text.as_bytes(), b"\n"])
    }

    /// Says something on standard error.
    pub(crate) fn note(self, text: &str) {
        // Nobody is left to be told that this failed.
        let _ = writeln!(io::stderr(), "{}", visible(text, true));
    }

    /// Prints a failure, and gives its exit code.
    pub(crate) fn failure(self, failure: &Failure) -> Exit {
        if failure.exit == Exit::OUTPUT_CLOSED {
            return failure.exit;
        }
        if self.json && self.value(&failure.to_json()).is_ok() {
            return failure.exit;
        }
        self.note(&failure.to_string());
        failure.exit
    }

    fn write(self, parts: &[&[u8]]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let mut write = || {
            for part in parts {
                stdout.write_all(part)?;
            }
            stdout.flush()
        };
        write().map_err(|error| Failure::from(error).during("cannot write standard output"))
    }
}

/// The text with its control characters as escapes, but for tabs, and newlines where there may be several
/// lines.
pub(crate) fn visible(text: &str, lines: bool) -> Cow<'_, str> {
    let obeyed = |character: char| {
        character.is_control() && character != '\t' && !(lines && character == '\n')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match obeyed(character) {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(visible("a\tb\n", true), "a\tb\n");
        assert_eq!(visible("a\nb", false), "a\\nb");
        assert_eq!(visible("\u{1b}[2J\u{9b}1m", true), "\\u{1b}[2J\\u{9b}1m");
    }
}
