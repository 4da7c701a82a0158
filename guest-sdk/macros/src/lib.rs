//! The attribute macro of belljar-guest, which documents it.
//!
//! `options` reads the attribute, `signature` the function, and `expand` writes what both
//! say. All that is wrong is reported at once, each fault where it stands.

mod expand;
mod options;
mod signature;

use proc_macro::TokenStream;

/// Makes a tool of a function.
///
/// The function takes one argument, by value: a struct that derives `serde::Deserialize` and
/// `schemars::JsonSchema` (or nothing), and returns a `Reply`, as a rule `Result<String, ToolError>`. Its
/// doc comment is the tool's description, its name the tool's name.
///
/// | option | says |
/// |---|---|
/// | `name = "…"` | another name than the function's: 1 to 64 of `a-z A-Z 0-9 _ -` |
/// | `read_only` | it changes nothing |
/// | `destructive` | it may change or remove what is there |
/// | `idempotent` | a second call with the same arguments changes nothing more |
/// | `needs(…)` | what a sandbox must have for the tool to be offered: `read`, `write`, `run`, `start`, `user`, `modes`, `links`, `raw_names`, `out_of_memory` |
///
/// The function stays what it is and can be called as one. Beside it the macro declares an empty type
/// of the same name, which is what `belljar_guest::component!` takes.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), function.into()).into()
}
