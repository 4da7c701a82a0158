//! The lines of a recording.

use std::io::{self, BufRead, Read as _};

use belljar_contract::{Error, Request, Response, session::Description};
use serde::{Deserialize, Serialize};

use crate::runtime::{Answer, CONTRACT_VERSION, CallError};

/// The version of the format that is written, and the one that is read.
pub const FORMAT_VERSION: u32 = 1;

/// The longest line that is read: the largest file in base64, and room for the rest.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Line {
    /// The first one.
    Recording(Header),
    /// A tool is called.
    Call(Begun),
    /// It asked, and was answered.
    Exchange(Exchange),
    /// The call ended.
    End(Ending),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: u32,
    /// The contract's version, for people.
    pub(super) contract: String,
}

impl Header {
    pub(super) fn ours() -> Self {
        Self {
            version: FORMAT_VERSION,
            contract: CONTRACT_VERSION.into(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) tool: String,
    /// The JSON text as it was given.
    pub(super) arguments: String,
    /// The sandbox as the tool saw it.
    pub(super) sandbox: Description,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    pub(super) request: Request,
    pub(super) answer: Answered,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answered {
    Ok(Response),
    Error(Error),
}

impl From<Result<Response, Error>> for Answered {
    fn from(result: Result<Response, Error>) -> Self {
        match result {
            Ok(response) => Self::Ok(response),
            Err(error) => Self::Error(error),
        }
    }
}

impl From<Answered> for Result<Response, Error> {
    fn from(answered: Answered) -> Self {
        match answered {
            Answered::Ok(response) => Ok(response),
            Answered::Error(error) => Err(error),
        }
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// With an answer.
    Answer(Answer),
    /// Without one.
    Failed {
        /// How it failed.
        kind: FailureKind,
        /// For people; the tool's own words where the tool said that it failed.
        message: String,
    },
}

/// How a call failed: the kinds of [`CallError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "`CallError` documents each")]
pub enum FailureKind {
    UnknownTool,
    InvalidArguments,
    NotOffered,
    Tool,
    Trap,
    BadAnswer,
    Limit,
    Cancelled,
    Host,
}

impl FailureKind {
    /// Whether something outside the tool ended the call, at a moment that another run need not have.
    pub(super) const fn is_from_outside(self) -> bool {
        matches!(self, Self::Limit | Self::Cancelled | Self::Host)
    }
}

impl From<&Result<Answer, CallError>> for Ending {
    fn from(result: &Result<Answer, CallError>) -> Self {
        let error = match result {
            Ok(answer) => return Self::Answer(answer.clone()),
            Err(error) => error,
        };
        let kind = match error {
            CallError::UnknownTool { .. } => FailureKind::UnknownTool,
            CallError::InvalidArguments { .. } => FailureKind::InvalidArguments,
            CallError::NotOffered { .. } => FailureKind::NotOffered,
            CallError::Tool { .. } => FailureKind::Tool,
            CallError::Trap { .. } => FailureKind::Trap,
            CallError::BadAnswer { .. } => FailureKind::BadAnswer,
            CallError::Limit(_) => FailureKind::Limit,
            CallError::Cancelled => FailureKind::Cancelled,
            CallError::Host { .. } => FailureKind::Host,
        };
        Self::Failed {
            kind,
            message: error.to_string(),
        }
    }
}

/// A call that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recorded {
    /// Where it begins in the file, in lines from 1.
    pub(super) line: usize,
    pub(super) begun: Begun,
    pub(super) exchanges: Vec<Exchange>,
    /// None when the recording was cut.
    pub(super) end: Option<Ending>,
}

/// A recording that was read: the calls of tools, each with what was asked and answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub(super) calls: Vec<Recorded>,
}

/// What was read is no recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It cannot be read.
    #[error("the recording cannot be read")]
    Unreadable(#[from] io::Error),
    /// A line is not what it should be.
    #[error("line {line} of the recording: {message}")]
    Malformed {
        /// From 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A version that is not known here.
    #[error(
        "the recording is of version {version}, and this program reads version {FORMAT_VERSION}; record it anew"
    )]
    Version {
        /// What the file says.
        version: u32,
    },
}

impl Recording {
    /// Reads a recording. One whose writer was ended in the middle of a call is as good as what is in it.
    ///
    /// # Errors
    /// [`RecordingError`].
    pub fn read(mut from: impl BufRead) -> Result<Self, RecordingError> {
        let mut calls: Vec<Recorded> = Vec::new();
        let mut number = 0;
        while let Some(line) = line(&mut from, &mut number)? {
            let wrong = |message: &str| RecordingError::Malformed {
                line: number,
                message: message.to_owned(),
            };
            let open = calls.last_mut().filter(|call| call.end.is_none());
            match (line, open) {
                (Line::Recording(header), None) if number == 1 => check(&header)?,
                _ if number == 1 => return Err(wrong("a recording begins with its version")),
                (Line::Recording(_), _) => return Err(wrong("a second beginning")),
                (Line::Call(begun), None) => calls.push(Recorded {
                    line: number,
                    begun,
                    exchanges: Vec::new(),
                    end: None,
                }),
                (Line::Exchange(exchange), Some(call)) => call.exchanges.push(exchange),
                (Line::End(end), Some(call)) => call.end = Some(end),
                (Line::Call(_), Some(_)) => return Err(wrong("the call before has no end")),
                (Line::Exchange(_) | Line::End(_), None) => return Err(wrong("there is no call")),
            }
        }
        if number == 0 {
            return Err(RecordingError::Malformed {
                line: 1,
                message: "a recording begins with its version".into(),
            });
        }
        Ok(Self { calls })
    }

    /// How many calls of tools there are.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.calls.len()
    }
}

fn check(header: &Header) -> Result<(), RecordingError> {
    match header.version {
        FORMAT_VERSION => Ok(()),
        version => Err(RecordingError::Version { version }),
    }
}

/// The next line; none at the end.
fn line(from: &mut impl BufRead, number: &mut usize) -> Result<Option<Line>, RecordingError> {
    let mut text = Vec::new();
    from.by_ref()
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut text)?;
    if text.is_empty() {
        return Ok(None);
    }
    *number += 1;
    let malformed = |message| RecordingError::Malformed {
        line: *number,
        message,
    };
    if !text.ends_with(b"\n") && text.len() as u64 == MAX_LINE_BYTES {
        return Err(malformed(format!("it is over {MAX_LINE_BYTES} bytes")));
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| malformed(error.to_string()))
}
