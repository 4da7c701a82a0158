//! What the benchmarks call: a trivial tool, and tools that repeat one host call.

use belljar_guest::{ToolError, component, files, progress, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Repeat {
    path: String,
    count: u32,
}

/// Gives the text back.
#[tool(read_only)]
fn echo(arguments: Text) -> Result<String, ToolError> {
    Ok(arguments.text)
}

/// Reports progress again and again: a host call that asks no sandbox.
#[tool(read_only)]
fn report_many(arguments: Repeat) -> Result<String, ToolError> {
    for step in 0..arguments.count {
        progress::report(u64::from(step), None, "");
    }
    Ok(String::new())
}

/// Asks what a path is, again and again.
#[tool(read_only, needs(read))]
fn stat_many(arguments: Repeat) -> Result<String, ToolError> {
    for _ in 0..arguments.count {
        files::stat(&arguments.path)?;
    }
    Ok(String::new())
}

/// Reads a file again and again.
#[tool(read_only, needs(read))]
fn read_many(arguments: Repeat) -> Result<String, ToolError> {
    let mut bytes = 0;
    for _ in 0..arguments.count {
        bytes += files::read(&arguments.path)?.bytes.len();
    }
    Ok(bytes.to_string())
}

component!(echo, report_many, stat_many, read_many);
