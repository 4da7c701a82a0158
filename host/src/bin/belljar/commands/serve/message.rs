//! What a client sends, as a message of the protocol or with what is wrong with it.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde::Deserialize as _;
use serde_json::Value;

/// Reads a message. None: a notification that nobody has to know.
pub(super) fn parse(
    bytes: &[u8],
) -> Result<Option<ClientJsonRpcMessage>, Box<ServerJsonRpcMessage>> {
    let wrong = match serde_json::from_slice(bytes) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => {
            let error = ErrorData::parse_error(format!("it is not JSON: {error}"), None);
            return Err(Box::new(ServerJsonRpcMessage::error(error, None)));
        }
    };
    let is_named = value.get("method").is_some_and(Value::is_string);
    if is_named && value.get("id").is_none() {
        return Ok(None);
    }
    let message = match &value {
        Value::Array(_) => "batches are not part of the protocol".to_owned(),
        _ => format!("it is no message of the protocol: {wrong}"),
    };
    let id = value
        .get("id")
        .and_then(|id| RequestId::deserialize(id).ok());
    let error = ErrorData::invalid_request(message, None);
    Err(Box::new(ServerJsonRpcMessage::error(error, id)))
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorCode;

    use super::*;

    fn refused(text: &str) -> (Option<RequestId>, ErrorCode) {
        match parse(text.as_bytes()).map_err(|refused| *refused) {
            Err(ServerJsonRpcMessage::Error(error)) => (error.id, error.error.code),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for garbage in ["", "{", "\u{1}", r#"{"jsonrpc": "2.0", "id": 1, "#] {
            assert_eq!(refused(garbage), (None, ErrorCode::PARSE_ERROR));
        }
        let one = Some(RequestId::Number(1));
        assert_eq!(
            refused(r#"{"id": 1}"#),
            (one.clone(), ErrorCode::INVALID_REQUEST)
        );
        let other = r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#;
        assert_eq!(refused(other), (one, ErrorCode::INVALID_REQUEST));
        for nameless in [
            "[]",
            "1",
            r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#,
        ] {
            assert_eq!(refused(nameless), (None, ErrorCode::INVALID_REQUEST));
        }
    }

    #[test]
    fn ids_stay_as_they_are() {
        for id in [
            "0",
            r#""a""#,
            r#""""#,
            "9007199254740993",
            "1784000000000000000",
        ] {
            let text = format!(r#"{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}"#);
            let message = parse(text.as_bytes()).unwrap().unwrap();
            let (_, id_back) = message.into_request().unwrap();
            assert_eq!(serde_json::to_string(&id_back).unwrap(), id);
        }
    }
}
