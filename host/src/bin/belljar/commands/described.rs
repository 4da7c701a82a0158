//! A tool's description as JSON, for the subcommands that show it.

use belljar::ToolDescription;
use serde_json::{Value, json};

/// The description, named as `tools.wit` names it; schemas are values and not text.
pub(super) fn described(tool: &ToolDescription) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input-schema": tool.input_schema,
        "output-schema": tool.output_schema,
        "read-only": tool.read_only,
        "destructive": tool.destructive,
        "idempotent": tool.idempotent,
        "needs": tool.needs,
    })
}
