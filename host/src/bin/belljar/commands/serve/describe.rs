//! Tools and their answers, as the protocol has them.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar::{Answer, Capability, ContentPart, ToolDescription};
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, ResourceContents, Tool, ToolAnnotations,
};
use serde_json::Value;

/// A tool as clients see it.
pub(super) fn tool(description: &ToolDescription) -> Tool {
    let mut tool = Tool::new(
        description.name.clone(),
        description.description.clone(),
        object(&description.input_schema),
    );
    // The protocol knows objects only. What a tool answers beside one is still in its content.
    let output = description.output_schema.as_ref();
    let output = output.filter(|schema| schema.get("type").is_some_and(|kind| kind == "object"));
    tool.output_schema = output.map(object);
    let annotations = ToolAnnotations::new()
        .read_only(description.read_only)
        .destructive(description.destructive)
        .idempotent(description.idempotent)
        // All that a tool reaches is its sandbox; what a program there reaches is open.
        .open_world(description.needs.contains(&Capability::Run));
    tool.annotations = Some(annotations);
    tool
}

/// A component's schema was checked: it is an object.
fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// A tool's answer.
pub(super) fn answer(answer: Answer) -> CallToolResult {
    let parts = answer.content.into_iter().enumerate();
    let mut content: Vec<ContentBlock> = parts.map(|(index, part)| block(index, part)).collect();
    let structured = answer.structured.filter(Value::is_object);
    if let (Some(value), true) = (&structured, content.is_empty()) {
        // For clients that know no structured content.
        content.push(ContentBlock::text(value.to_string()));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = structured;
    result
}

fn block(index: usize, part: ContentPart) -> ContentBlock {
    let (media_type, bytes) = match part {
        ContentPart::Text(text) => return ContentBlock::text(text),
        ContentPart::Data { media_type, bytes } => (media_type, STANDARD.encode(bytes)),
    };
    if media_type.starts_with("image/") {
        ContentBlock::image(bytes, media_type)
    } else if media_type.starts_with("audio/") {
        ContentBlock::audio(bytes, media_type)
    } else {
        // An embedded resource must have an address; nothing is to be found at this one.
        let address = format!("belljar:answer/{index}");
        ContentBlock::resource(ResourceContents::blob(bytes, address).with_mime_type(media_type))
    }
}

/// A tool's failure: a result, which the model reads.
pub(super) fn failed(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(needs: Vec<Capability>, output: Option<Value>) -> ToolDescription {
        ToolDescription {
            name: "a".into(),
            description: "does a".into(),
            input_schema: json!({"type": "object"}),
            output_schema: output,
            read_only: false,
            destructive: true,
            idempotent: true,
            needs,
        }
    }

    #[test]
    fn a_tool_has_its_schemas_and_hints() {
        let output = json!({"type": "object", "properties": {}});
        let shown = tool(&described(vec![Capability::Read], Some(output.clone())));
        assert_eq!(
            serde_json::to_value(shown).unwrap(),
            json!({
                "name": "a",
                "description": "does a",
                "inputSchema": {"type": "object"},
                "outputSchema": output,
                "annotations": {
                    "readOnlyHint": false,
                    "destructiveHint": true,
                    "idempotentHint": true,
                    "openWorldHint": false,
                },
            })
        );
        let shown = tool(&described(
            vec![Capability::Run],
            Some(json!({"type": "array"})),
        ));
        assert_eq!(shown.output_schema, None);
        assert_eq!(shown.annotations.unwrap().open_world_hint, Some(true));
    }

    #[test]
    fn parts_become_blocks() {
        let data = |media_type: &str| ContentPart::Data {
            media_type: media_type.into(),
            bytes: vec![0, 255],
        };
        let shown = answer(Answer {
            content: vec![
                ContentPart::Text("hello".into()),
                data("image/png"),
                data("audio/wav"),
                data("application/pdf"),
            ],
            structured: Some(json!({"n": 1})),
        });
        assert_eq!(
            serde_json::to_value(shown).unwrap()["content"],
            json!([
                {"type": "text", "text": "hello"},
                {"type": "image", "data": "AP8=", "mimeType": "image/png"},
                {"type": "audio", "data": "AP8=", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {
                    "uri": "belljar:answer/3", "mimeType": "application/pdf", "blob": "AP8="
                }},
            ])
        );
    }

    #[test]
    fn a_value_alone_is_text_too() {
        let shown = answer(Answer {
            content: Vec::new(),
            structured: Some(json!({"n": 1})),
        });
        assert_eq!(shown.content, [ContentBlock::text(r#"{"n":1}"#)]);
        assert_eq!(shown.structured_content, Some(json!({"n": 1})));
    }
}
