//! Panics on `a`, and answers everything else as it is.

use belljar_guest::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// What to answer; not `a`.
    text: String,
}

/// Answers the text it is given, unless it is `a`.
#[tool(read_only)]
fn run(arguments: Arguments) -> String {
    assert_ne!(arguments.text, "a", "this tool cannot stand an a");
    arguments.text
}

belljar_guest::component!(run);
