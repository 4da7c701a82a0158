//! The part of a shell's language that is understood, and nothing else.
//!
//! ```text
//! lines     = [ list ] { ( ";" | newline ) [ list ] }
//! list      = pipeline { ( "&&" | "||" ) { newline } pipeline }
//! pipeline  = command { "|" { newline } command }
//! command   = { word | redirect }, with one word at least
//! redirect  = [ "0" | "1" | "2" ] ( "<" | ">" | ">>" ) word | [ "1" | "2" ] ">&" ( "1" | "2" )
//! ```
//!
//! A word is read as POSIX reads it: `'…'`, `"…"` and `\x` quote, `*`, `?` and `[…]` outside of quotes are patterns
//! of file names, `#` begins a comment. What else means something to a shell is an error by its name, before anything
//! runs: a line is never done in half, nor otherwise than a shell would do it.

use std::{iter::Peekable, str::Chars};

use belljar_workspace::processes::NotPrepared;

use super::arguments::Word;

/// Pipelines in order.
pub(super) type Lines = Vec<Step>;

/// A pipeline, and when it is run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) when: When,
    pub(super) commands: Vec<Simple>,
}

/// When a pipeline is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    /// When the one before it succeeded.
    Success,
    /// When it did not.
    Failure,
}

/// A command with its redirections, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

/// Where a stream goes or comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// 0, 1 or 2.
    pub(super) stream: usize,
    pub(super) to: Destination,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Read(Word),
    Write(Word),
    Append(Word),
    /// What this stream is now.
    Same(usize),
}

/// The most commands of a pipeline: each has a thread.
const MAX_COMMANDS: usize = 16;
/// Words that mean something at the beginning of a command, and nothing that is understood.
const RESERVED: [&str; 42] = [
    "!", "{", "}", "bash", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "in", "select", "then", "until", "while", "[[", "time", ".", ":", "alias", "break",
    "continue", "eval", "exec", "exit", "export", "getopts", "local", "read", "readonly", "return",
    "set", "sh", "shift", "source", "trap", "umask", "unset",
];

/// Reads a text, whole.
pub(super) fn parse(text: &str) -> Result<Lines, NotPrepared> {
    let mut parser = Parser {
        rest: text.chars().peekable(),
    };
    parser.lines()
}

fn unsupported(what: &str) -> NotPrepared {
    NotPrepared::Unsupported(format!(
        "{what} is not understood here: a line is commands with |, &&, ||, ;, <, > and >>, and quoted words"
    ))
}

fn malformed(what: impl Into<String>) -> NotPrepared {
    NotPrepared::Malformed(what.into())
}

struct Parser<'a> {
    rest: Peekable<Chars<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Word(Word),
    /// A stream's number, where one stands before it, and what follows.
    Redirect(Option<usize>, &'static str),
    Operator(&'static str),
    End,
}

impl Parser<'_> {
    fn lines(&mut self) -> Result<Lines, NotPrepared> {
        let mut lines = Vec::new();
        let mut when = When::Always;
        let mut commands = Vec::new();
        let mut command = Simple::default();
        // Whether a command must follow, and after what.
        let mut after: Option<&'static str> = None;
        loop {
            let token = self.token()?;
            match token {
                Token::Word(word) => {
                    check_word(&word, command.words.is_empty())?;
                    command.words.push(word);
                    after = None;
                    continue;
                }
                Token::Redirect(stream, operator) => {
                    let redirect = self.redirect(stream, operator)?;
                    command.redirects.push(redirect);
                    continue;
                }
                Token::Operator("\n") if after.is_some() && command.is_empty() => continue,
                Token::Operator(_) | Token::End => {}
            }
            let is_empty = command.is_empty();
            if command.words.is_empty() && !is_empty {
                return Err(unsupported("a redirection without a command"));
            }
            let (operator, ends) = match token {
                Token::Operator(operator) => (operator, false),
                _ => ("the end", true),
            };
            if is_empty && (after.is_some() || matches!(operator, "|" | "&&" | "||")) {
                let operator = after.unwrap_or(operator);
                return Err(malformed(format!("a command is missing beside {operator}")));
            }
            if is_empty && operator == ";" && lines.is_empty() {
                return Err(malformed("a command is missing before ;"));
            }
            if !is_empty {
                commands.push(std::mem::take(&mut command));
                if commands.len() > MAX_COMMANDS {
                    let most = format!("a pipeline of more than {MAX_COMMANDS} commands");
                    return Err(unsupported(&most));
                }
            }
            if operator == "|" {
                after = Some("|");
                continue;
            }
            if !commands.is_empty() {
                let commands = std::mem::take(&mut commands);
                check_pipeline(&commands)?;
                lines.push(Step { when, commands });
            }
            (when, after) = match operator {
                "&&" => (When::Success, Some("&&")),
                "||" => (When::Failure, Some("||")),
                _ => (When::Always, None),
            };
            if ends {
                return Ok(lines);
            }
        }
    }

    fn redirect(
        &mut self,
        stream: Option<usize>,
        operator: &'static str,
    ) -> Result<Redirect, NotPrepared> {
        let Token::Word(word) = self.token()? else {
            return Err(malformed(format!("a file is missing after {operator}")));
        };
        check_word(&word, false)?;
        let to = match operator {
            "<" => Destination::Read(word),
            ">" => Destination::Write(word),
            ">>" => Destination::Append(word),
            _ => match word.literal().as_deref() {
                Some("1") => Destination::Same(1),
                Some("2") => Destination::Same(2),
                _ => return Err(unsupported(">& but with 1 or 2")),
            },
        };
        let stream = stream.unwrap_or(usize::from(operator != "<"));
        if (stream == 0) != (operator == "<") {
            return Err(unsupported("a redirection of a stream the other way"));
        }
        Ok(Redirect { stream, to })
    }

    fn token(&mut self) -> Result<Token, NotPrepared> {
        loop {
            match self.rest.peek() {
                Some(' ' | '\t') => {
                    self.rest.next();
                }
                Some('\\') => {
                    // A line that goes on in the next one.
                    let mut ahead = self.rest.clone();
                    ahead.next();
                    if ahead.next() != Some('\n') {
                        break;
                    }
                    self.rest = ahead;
                }
                Some('#') => while self.rest.next_if(|next| *next != '\n').is_some() {},
                _ => break,
            }
        }
        let Some(first) = self.rest.peek().copied() else {
            return Ok(Token::End);
        };
        match first {
            '\n' => {
                self.rest.next();
                Ok(Token::Operator("\n"))
            }
            '|' | '&' | ';' | '(' | ')' => self.operator(),
            '<' | '>' => Ok(Token::Redirect(None, self.arrow()?)),
            _ => self.word(),
        }
    }

    fn operator(&mut self) -> Result<Token, NotPrepared> {
        let first = self.rest.next().unwrap_or_default();
        let twice = self.rest.next_if_eq(&first).is_some();
        let operator = match (first, twice) {
            ('|', false) if self.rest.next_if_eq(&'&').is_some() => return Err(unsupported("|&")),
            ('|', false) => "|",
            ('|', true) => "||",
            ('&', true) => "&&",
            (';', false) => ";",
            ('&', false) if matches!(self.rest.peek(), Some('>')) => return Err(unsupported("&>")),
            ('&', false) => {
                return Err(unsupported(
                    "a command in the background (&; start it instead)",
                ));
            }
            (';', true) => return Err(unsupported(";;")),
            _ => return Err(unsupported("( )")),
        };
        Ok(Token::Operator(operator))
    }

    fn arrow(&mut self) -> Result<&'static str, NotPrepared> {
        let first = self.rest.next().unwrap_or_default();
        let second = self
            .rest
            .next_if(|next| matches!(next, '<' | '>' | '&' | '|' | '('));
        match (first, second) {
            ('<', None) => Ok("<"),
            ('>', None) => Ok(">"),
            ('>', Some('>')) => Ok(">>"),
            ('>', Some('&')) => Ok(">&"),
            ('<', Some('<')) => Err(unsupported(
                "<< (a text in place; write it as a file, or give it as input)",
            )),
            (first, Some(second)) => Err(unsupported(&format!("{first}{second}"))),
            (first, None) => Err(unsupported(&first.to_string())),
        }
    }

    fn word(&mut self) -> Result<Token, NotPrepared> {
        let mut word = Word::default();
        while let Some(next) = self.rest.peek().copied() {
            match next {
                ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' => break,
                '<' | '>' => {
                    let stream = match word.as_number() {
                        Some(stream @ 0..=2) => Some(stream),
                        Some(_) => return Err(unsupported("a stream over 2")),
                        None => break,
                    };
                    return Ok(Token::Redirect(stream, self.arrow()?));
                }
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => {
                    self.rest.next();
                    match self.rest.next() {
                        Some('\n') => {}
                        Some(next) => word.quote(next),
                        None => return Err(malformed("a \\ with nothing after it")),
                    }
                }
                '$' => {
                    self.rest.next();
                    if self.is_expansion() || matches!(self.rest.peek(), Some('\'' | '"')) {
                        return Err(dollar());
                    }
                    word.plain('$');
                }
                '`' => return Err(unsupported("a ` outside of '…'")),
                '{' | '}' => return Err(unsupported("{ } outside of quotes")),
                '~' if word.is_empty() => return Err(unsupported("~ at the beginning of a word")),
                '*' | '?' | '[' => {
                    self.rest.next();
                    word.wild(next);
                }
                _ => {
                    self.rest.next();
                    word.plain(next);
                }
            }
        }
        Ok(Token::Word(word))
    }

    /// Whether a `$` that was just read begins something with what comes next; else it is a character.
    fn is_expansion(&mut self) -> bool {
        self.rest
            .peek()
            .is_some_and(|next| next.is_ascii_alphanumeric() || "_{([@*#?$!-".contains(*next))
    }

    fn single_quoted(&mut self, word: &mut Word) -> Result<(), NotPrepared> {
        self.rest.next();
        word.quoted();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some(next) => word.quote(next),
                None => return Err(malformed("a ' without its other")),
            }
        }
    }

    fn double_quoted(&mut self, word: &mut Word) -> Result<(), NotPrepared> {
        self.rest.next();
        word.quoted();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(next @ ('$' | '`' | '"' | '\\')) => word.quote(next),
                    Some(next) => {
                        word.quote('\\');
                        word.quote(next);
                    }
                    None => break,
                },
                Some('$') if !self.is_expansion() => word.quote('$'),
                Some('$') => return Err(dollar()),
                Some('`') => return Err(unsupported("a ` outside of '…'")),
                Some(next) => word.quote(next),
                None => break,
            }
        }
        Err(malformed("a \" without its other"))
    }
}

fn dollar() -> NotPrepared {
    unsupported("a $ outside of '…'")
}

fn check_word(word: &Word, is_first: bool) -> Result<(), NotPrepared> {
    if !is_first {
        return Ok(());
    }
    let text = word.text();
    match word.is_unquoted() {
        true if RESERVED.contains(&text.as_str()) => Err(unsupported(&format!("{text:?}"))),
        _ if word.is_assignment() => Err(unsupported(
            "a variable before a command (give it as environment)",
        )),
        _ => Ok(()),
    }
}

/// `cd` changes where the next commands work, and is nothing among others.
fn check_pipeline(commands: &[Simple]) -> Result<(), NotPrepared> {
    let is_cd = |command: &Simple| {
        command
            .words
            .first()
            .is_some_and(|word| word.literal().as_deref() == Some("cd"))
    };
    if commands.len() > 1 && commands.iter().any(is_cd) {
        return Err(unsupported("cd in a pipeline"));
    }
    Ok(())
}

impl Simple {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.redirects.is_empty()
    }
}
