//! JSON-RPC 2.0: a line as requests, and their answers.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::methods::MethodError;

/// The most requests in one batch: more are sent in several.
const MAX_BATCH: usize = 1000;

/// An id, as its sender wrote it: a number is not rounded.
#[derive(Clone, Debug)]
pub(super) struct Id(Box<RawValue>);

/// What makes two ids the same: a text's characters, a number's digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum IdKey {
    Null,
    Number(String),
    Text(String),
}

impl Id {
    fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// An id from JSON; none for what is no id.
    pub(super) fn parse(raw: &RawValue) -> Option<Self> {
        let id = Self(raw.to_owned());
        id.key_or_none().map(|_| id)
    }

    pub(super) fn key(&self) -> IdKey {
        self.key_or_none().unwrap_or(IdKey::Null)
    }

    fn key_or_none(&self) -> Option<IdKey> {
        let text = self.0.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(IdKey::Text),
            b'n' => Some(IdKey::Null),
            b'-' | b'0'..=b'9' => Some(IdKey::Number(text.to_owned())),
            _ => None,
        }
    }
}

/// A request, or a notification when it has no id.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) id: Option<Id>,
    pub(super) method: String,
    /// A JSON object.
    pub(super) params: Box<RawValue>,
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Message {
    One(Result<Request, Answer>),
    Batch(Vec<Result<Request, Answer>>),
}

/// Why there is no result.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RpcError {
    code: i32,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<belljar::Error>>,
}

impl RpcError {
    pub(super) fn parse(message: impl Into<String>) -> Self {
        Self::new(-32700, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    /// Too many calls wait.
    pub(super) fn busy() -> Self {
        Self::new(-32001, "too many requests wait for an answer")
    }

    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }
}

impl From<MethodError> for RpcError {
    fn from(error: MethodError) -> Self {
        let message = error.to_string();
        match error {
            MethodError::Unknown(_) => Self::new(-32601, message),
            MethodError::Parameters(_) => Self::invalid_params(message),
            MethodError::Internal(_) => Self::internal(message),
            MethodError::Failed(error) => Self {
                data: Some(Box::new(error)),
                ..Self::new(-32000, message)
            },
        }
    }
}

/// An answer.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    jsonrpc: &'static str,
    id: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<RpcError>,
}

impl Answer {
    pub(super) fn new(id: Id, result: Result<Box<RawValue>, RpcError>) -> Self {
        let (result, error) = match result {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            jsonrpc: "2.0",
            id: id.0,
            result,
            error,
        }
    }

    /// An answer to what has no id that could be read.
    pub(super) fn nobody(error: RpcError) -> Self {
        Self::new(Id::null(), Err(error))
    }
}

/// The parameters of a cancellation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    pub(super) id: Box<RawValue>,
}

/// Reads a line.
pub(super) fn parse(line: &[u8]) -> Message {
    let raw: &RawValue = match serde_json::from_slice(line) {
        Ok(raw) => raw,
        Err(error) => {
            let error = RpcError::parse(format!("the line is not JSON: {error}"));
            return Message::One(Err(Answer::nobody(error)));
        }
    };
    if !raw.get().starts_with('[') {
        return Message::One(request(raw));
    }
    let refuse =
        |message: &str| Message::One(Err(Answer::nobody(RpcError::invalid_request(message))));
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Ok(batch) if batch.is_empty() => refuse("the batch is empty"),
        Ok(batch) if batch.len() > MAX_BATCH => {
            refuse(&format!("the batch has over {MAX_BATCH} requests"))
        }
        Ok(batch) => Message::Batch(batch.into_iter().map(request).collect()),
        Err(error) => refuse(&error.to_string()),
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// A value that is there, `null` too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn request(raw: &RawValue) -> Result<Request, Answer> {
    let refuse =
        |id: Option<Id>, error: RpcError| Answer::new(id.unwrap_or_else(Id::null), Err(error));
    let envelope: Envelope<'_> = serde_json::from_str(raw.get()).map_err(|error| {
        refuse(
            None,
            RpcError::invalid_request(format!("not a request: {error}")),
        )
    })?;
    let id = match envelope.id {
        None => None,
        Some(raw) => match Id::parse(raw) {
            Some(id) => Some(id),
            None => {
                let error = RpcError::invalid_request("id: neither text nor a number");
                return Err(refuse(None, error));
            }
        },
    };
    if envelope.jsonrpc.as_deref() != Some("2.0") {
        return Err(refuse(
            id,
            RpcError::invalid_request("jsonrpc: not \"2.0\""),
        ));
    }
    let Some(method) = envelope.method else {
        return Err(refuse(id, RpcError::invalid_request("method: missing")));
    };
    let params = match envelope.params {
        None => RawValue::from_string("{}".into())
            .map_err(|error| refuse(id.clone(), RpcError::internal(error.to_string())))?,
        Some(raw) if raw.get().starts_with('{') => raw.to_owned(),
        Some(_) => {
            let error =
                RpcError::invalid_params("params: not an object; parameters are given by name");
            return Err(refuse(id, error));
        }
    };
    Ok(Request { id, method, params })
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn one(line: &str) -> Result<Request, Answer> {
        match parse(line.as_bytes()) {
            Message::One(one) => one,
            Message::Batch(_) => panic!("a batch"),
        }
    }

    #[test]
    fn an_id_comes_back_as_it_was() {
        for id in [
            "0",
            "-1",
            "1784000000000000000",
            "9007199254740993",
            "1e400",
            "\"\"",
            "\"a\"",
            "\"\\u00e9\"",
            "null",
        ] {
            let request = one(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)).unwrap();
            let answer = Answer::new(request.id.unwrap(), Ok(to_raw_value(&1).unwrap()));
            assert_eq!(
                serde_json::to_string(&answer).unwrap(),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#)
            );
        }
    }

    #[test]
    fn a_text_id_is_the_same_however_it_is_written() {
        let key = |id: &str| {
            let raw = RawValue::from_string(id.into()).unwrap();
            Id::parse(&raw).unwrap().key()
        };
        assert_eq!(key("\"a\""), key("\"\\u0061\""));
        assert_ne!(key("\"1\""), key("1"));
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_code() {
        for (line, code) in [
            ("", -32700),
            ("{", -32700),
            ("{} {}", -32700),
            ("\u{feff}{}", -32700),
            ("{}", -32600),
            ("1", -32600),
            ("[]", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":[],"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":2}"#, -32600),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#,
                -32602,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#,
                -32602,
            ),
        ] {
            let answer = one(line).unwrap_err();
            assert_eq!(answer.error.unwrap().code, code, "{line}");
        }
    }

    #[test]
    fn a_request_without_an_id_is_a_notification() {
        let request = one(r#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
        assert!(request.id.is_none() && request.params.get() == "{}");
    }
}
