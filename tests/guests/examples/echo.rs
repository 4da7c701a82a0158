//! Answers the text it is given, as a well-behaved tool does.

use belljar_guest::tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    /// What to answer.
    text: String,
}

/// Answers the text it is given.
#[tool(read_only)]
fn run(arguments: Arguments) -> String {
    arguments.text
}

belljar_guest::component!(run);
