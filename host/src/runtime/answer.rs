//! A tool's answer.

use belljar_contract::Context;
use serde::{Deserialize, Serialize};

use super::{
    bindings::exports::belljar::sandbox::tools as wit,
    call::{CallError, LimitKind},
    description::LoadedTool,
};

/// A part of an answer. In JSON it is as `tools.wit` has it, bytes in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ContentPart {
    /// Text for the model.
    Text(String),
    /// Something else.
    Data {
        /// `image/png`, …
        media_type: String,
        /// The bytes.
        #[serde(with = "belljar_contract::bytes")]
        bytes: Vec<u8>,
    },
}

/// A tool's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer for the model.
    pub content: Vec<ContentPart>,
    /// The answer as a value, where the tool gives one.
    pub structured: Option<serde_json::Value>,
}

impl Answer {
    /// The text parts, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            ContentPart::Data { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Takes an answer of at most `limit` bytes that fits what the tool says of it.
pub(super) fn convert_answer(
    tool: &LoadedTool,
    answer: wit::Answer,
    limit: u64,
    context: &Context,
) -> Result<Answer, CallError> {
    let parts = answer.content.iter().map(|content| match content {
        wit::Content::Text(text) => text.len(),
        wit::Content::Data(data) => data.media_type.len() + data.bytes.len(),
    });
    let bytes = parts.sum::<usize>() + answer.structured.as_ref().map_or(0, String::len);
    if bytes as u64 > limit {
        return Err(CallError::Limit(LimitKind::AnswerBytes));
    }

    let part = |content| match content {
        wit::Content::Text(text) => ContentPart::Text(text),
        wit::Content::Data(data) => ContentPart::Data {
            media_type: data.media_type,
            bytes: data.bytes,
        },
    };
    let bad = |reason| CallError::BadAnswer { reason };
    let structured: Option<serde_json::Value> = answer
        .structured
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| bad(format!("it is not JSON: {error}")))?;
    let length = answer.structured.as_ref().map_or(0, String::len);
    let structured = tool.check_answer(structured, length, context)?;
    Ok(Answer {
        content: answer.content.into_iter().map(part).collect(),
        structured,
    })
}
