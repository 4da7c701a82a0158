//! A program's events, out of the Connect protocol's frames.
//!
//! A frame is a byte of flags, the length of its content in four bytes, most significant first, and the content: a
//! message as JSON, or, in the last one, `{}` or an error. Members that are nothing are left out, and those that nobody
//! knows yet are passed over.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_guest::lend::{Failure, Output};
use serde::Deserialize;

use crate::refusal::refused;

/// The flag of a frame that is compressed, which nobody asked for.
const COMPRESSED: u8 = 1;
/// The flag of the last frame.
const END: u8 = 2;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    event: Event<'a>,
}

/// One of these, or none: a sign of life.
#[derive(Deserialize)]
struct Event<'a> {
    start: Option<Started>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
    end: Option<Ended>,
}

#[derive(Deserialize)]
struct Started {}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    stdout: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stderr: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ended {
    #[serde(default)]
    exit_code: i32,
    #[serde(default)]
    exited: bool,
    #[serde(default)]
    status: String,
}

#[derive(Deserialize)]
struct Last {
    error: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// What a program came to, of the whole answer to its start.
pub(crate) fn output(mut body: &[u8]) -> Result<Output, Failure> {
    let mut output = Output::default();
    let (mut is_started, mut code) = (false, None);
    loop {
        let (flags, content) = frame(&mut body)?;
        match flags {
            0 => {
                let message: Message = serde_json::from_slice(content)
                    .map_err(|error| wrong(&format!("an event is none: {error}")))?;
                is_started |= message.event.start.is_some();
                if let Some(data) = message.event.data {
                    append(&mut output.stdout, data.stdout)?;
                    append(&mut output.stderr, data.stderr)?;
                }
                if let Some(ended) = message.event.end {
                    code = Some(ended.code());
                }
            }
            END => {
                let last: Last = serde_json::from_slice(content)
                    .map_err(|error| wrong(&format!("the end is none: {error}")))?;
                if let Some(error) = last.error {
                    return Err(refused(&error.code, &error.message));
                }
                break;
            }
            flags if flags & COMPRESSED != 0 => return Err(wrong("a frame is compressed")),
            flags => return Err(wrong(&format!("a frame has the flags {flags}"))),
        }
    }
    match code {
        _ if !body.is_empty() => Err(wrong("something comes after the end")),
        Some(code) if is_started => Ok(Output { code, ..output }),
        _ => Err(wrong("it ends before the program does")),
    }
}

/// Takes the first frame off.
fn frame<'a>(body: &mut &'a [u8]) -> Result<(u8, &'a [u8]), Failure> {
    let (head, rest) = body
        .split_first_chunk::<5>()
        .ok_or_else(|| wrong("it is cut before its end"))?;
    let [flags, length @ ..] = *head;
    let length = u32::from_be_bytes(length);
    let found = usize::try_from(length)
        .ok()
        .and_then(|length| rest.split_at_checked(length));
    let Some((content, rest)) = found else {
        let message = format!(
            "a frame of {length} bytes is announced, and {} are there",
            rest.len()
        );
        return Err(wrong(&message));
    };
    *body = rest;
    Ok((flags, content))
}

fn append(output: &mut Vec<u8>, text: Option<Cow<'_, str>>) -> Result<(), Failure> {
    match text.map(|text| STANDARD.decode_vec(&*text, output)) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(wrong(&format!("an output is no base64: {error}"))),
    }
}

impl Ended {
    /// As a shell tells it.
    fn code(&self) -> i32 {
        match (self.exited, self.status.as_str()) {
            (true, _) => self.exit_code,
            (false, "signal: terminated") => 128 + 15,
            (false, _) => 128 + 9,
        }
    }
}

fn wrong(what: &str) -> Failure {
    Failure::Failed(format!(
        "the answer to a command's start is not understood: {what}"
    ))
}
