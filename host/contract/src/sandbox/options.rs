//! Options as a caller gives them: nothing here is validated yet.

use crate::files::Syntax;

/// Which part of the tree to look at, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ScopeOptions {
    /// Where to begin; the root when absent.
    pub base: Option<String>,
    /// Whether entries whose name begins with `.` count.
    pub hidden: bool,
    /// Whether entries that ignore files exclude count.
    pub ignored: bool,
    /// The most results; the session's limit when absent.
    pub limit: Option<u32>,
}

/// What to search for, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct QueryOptions {
    /// Not empty.
    pub pattern: String,
    /// How it is read.
    pub syntax: Syntax,
    /// Whether case does not matter.
    pub ignore_case: bool,
    /// Only files that match one of these globs; all when empty.
    pub include: Vec<String>,
    /// No files that match one of these globs.
    pub exclude: Vec<String>,
    /// Lines around each match.
    pub context: u32,
}

/// How to run a program, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunOptions {
    /// The working directory; the root when absent.
    pub directory: Option<String>,
    /// Added to the documented defaults; of two with one name the last counts.
    pub environment: Vec<(String, String)>,
    /// Everything on standard input.
    #[serde(with = "crate::bytes")]
    pub stdin: Vec<u8>,
    /// The user to run as.
    pub user: Option<String>,
    /// Wall-clock limit in milliseconds.
    pub timeout: Option<u64>,
    /// Bytes kept of each output.
    pub output_limit: Option<u64>,
}
