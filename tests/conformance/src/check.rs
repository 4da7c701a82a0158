//! What a case says when something is not as it must be.

use std::{fmt::Debug, panic::Location};

use belljar_contract::{Error, ErrorKind};

/// Why a case did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The sandbox does not do what it must.
    Wrong(String),
    /// What the case needs is not there, so that it says nothing.
    Unmet(String),
}

impl Failure {
    /// Makes the failure of a sandbox that is wrong.
    #[must_use]
    pub fn wrong(message: impl Into<String>) -> Self {
        Self::Wrong(message.into())
    }

    /// Makes the failure of a case that cannot be tried here.
    #[must_use]
    pub fn unmet(reason: impl Into<String>) -> Self {
        Self::Unmet(reason.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Wrong(format!("unexpected {}: {error}", error.kind))
    }
}

/// The most characters of a value in a message.
const SHOWN: usize = 400;

fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

#[track_caller]
fn wrong(message: &str) -> Failure {
    let at = Location::caller();
    let file = at.file().rsplit('/').next().unwrap_or_default();
    Failure::Wrong(format!("{message} ({file}:{})", at.line()))
}

/// Requires an error of this kind.
///
/// # Errors
/// A [`Failure`] when it is a value or another error.
#[track_caller]
pub fn expect_kind<T: Debug>(
    what: &str,
    result: Result<T, Error>,
    kind: ErrorKind,
) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind == kind => Ok(()),
        Err(error) => Err(wrong(&format!(
            "{what}: expected {kind}, got {}: {error}",
            error.kind
        ))),
        Ok(value) => Err(wrong(&format!(
            "{what}: expected {kind}, got {}",
            shown(&value)
        ))),
    }
}

/// Requires two values to be equal.
///
/// # Errors
/// A [`Failure`] with both when they are not.
#[track_caller]
pub fn eq<A: Debug + PartialEq<B>, B: Debug>(
    what: &str,
    got: A,
    expected: B,
) -> Result<(), Failure> {
    if got == expected {
        return Ok(());
    }
    Err(wrong(&format!(
        "{what}: expected {}, got {}",
        shown(&expected),
        shown(&got)
    )))
}

/// Requires the same bytes, and says where they part.
///
/// # Errors
/// A [`Failure`] when they differ.
#[track_caller]
pub fn same_bytes(what: &str, got: &[u8], expected: &[u8]) -> Result<(), Failure> {
    if got == expected {
        return Ok(());
    }
    let at = got
        .iter()
        .zip(expected)
        .take_while(|(got, expected)| got == expected)
        .count();
    let part = |bytes: &[u8]| {
        let end = bytes.len().min(at + 60);
        String::from_utf8_lossy(&bytes[at..end]).into_owned()
    };
    Err(wrong(&format!(
        "{what}: {} bytes expected, {} got; from byte {at} on expected {:?}, got {:?}",
        expected.len(),
        got.len(),
        part(expected),
        part(got)
    )))
}

/// Requires a condition.
///
/// # Errors
/// A [`Failure`] with the message when it does not hold.
#[track_caller]
pub fn that(condition: bool, message: &str) -> Result<(), Failure> {
    if condition {
        return Ok(());
    }
    Err(wrong(message))
}
