//! The smallest component: one tool, which says hello.
//!
//! `cargo build -p belljar-guest --example hello --target wasm32-unknown-unknown --profile guest`

use belljar_guest::tool;
use schemars::JsonSchema;
use serde::Deserialize;

/// Whom to greet.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Hello {
    /// A name.
    name: String,
}

/// Greets somebody by name.
#[tool(read_only, idempotent)]
fn hello(Hello { name }: Hello) -> String {
    format!("Hello, {name}.")
}

belljar_guest::component!(hello);
