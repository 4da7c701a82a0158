//! The functions that look.

use belljar::{
    QueryOptions, Sandbox, ScopeOptions,
    files::{Content, Syntax},
};
use clap::Args;

use super::show;
use crate::{exit_code::Exit, failure::Failure, output::Output};

/// Print a file
#[derive(Debug, Args)]
pub(super) struct Read {
    path: String,
    /// Begin at this byte
    #[arg(long, value_name = "BYTES")]
    offset: Option<u64>,
    /// Print at most so many bytes
    #[arg(long, value_name = "BYTES")]
    length: Option<u64>,
}

impl Read {
    /// Reads any size: in parts of what one call may give, all of one version.
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        if self.offset.is_none() && self.length.is_none() && output.is_json() {
            let content = sandbox.read(&self.path).await?;
            return output.value(&content);
        }
        let most = sandbox.describe().limits.file_bytes;
        let mut offset = self.offset.unwrap_or(0);
        let mut left = self.length.unwrap_or(u64::MAX);
        if output.is_json() {
            return output.value(
                &sandbox
                    .read_range(&self.path, offset, left.min(most))
                    .await?,
            );
        }
        let mut before: Option<Content> = None;
        while left > 0 {
            let asked = left.min(most);
            let chunk = sandbox.read_range(&self.path, offset, asked).await?;
            if before
                .as_ref()
                .is_some_and(|before| before.version != chunk.version)
            {
                return Err(Failure::new(
                    Exit::Failed,
                    format!("{} changed while it was read", self.path),
                ));
            }
            let read = chunk.bytes.len() as u64;
            output.bytes(&chunk.bytes)?;
            if read < asked {
                break;
            }
            offset = offset.saturating_add(read);
            left -= read;
            before = Some(Content {
                bytes: Vec::new(),
                version: chunk.version,
            });
        }
        Ok(())
    }
}

/// List a directory
#[derive(Debug, Args)]
pub(super) struct List {
    #[arg(default_value = ".")]
    path: String,
    /// The most entries
    #[arg(long)]
    limit: Option<u32>,
}

impl List {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let listing = sandbox.list(&self.path, self.limit).await?;
        match output.is_json() {
            true => output.value(&listing),
            false => show::listing(&listing, output),
        }
    }
}

/// Say what a path is
#[derive(Debug, Args)]
pub(super) struct Stat {
    path: String,
}

impl Stat {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let info = sandbox.stat(&self.path).await?;
        match output.is_json() {
            true => output.value(&info),
            false => show::info(&info, output),
        }
    }
}

/// Print a path with its links resolved
#[derive(Debug, Args)]
pub(super) struct Resolve {
    path: String,
}

impl Resolve {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let path = sandbox.resolve(&self.path).await?;
        match output.is_json() {
            true => output.value(&path.to_string()),
            false => output.line(&path.to_string()),
        }
    }
}

/// Which part of the tree.
#[derive(Debug, Args)]
struct Scope {
    /// Begin here
    #[arg(long, value_name = "PATH")]
    base: Option<String>,
    /// Also what begins with a dot
    #[arg(long)]
    hidden: bool,
    /// Also what ignore files exclude
    #[arg(long)]
    ignored: bool,
    /// The most results
    #[arg(long)]
    limit: Option<u32>,
}

impl From<Scope> for ScopeOptions {
    fn from(scope: Scope) -> Self {
        Self {
            base: scope.base,
            hidden: scope.hidden,
            ignored: scope.ignored,
            limit: scope.limit,
        }
    }
}

/// Find paths by a pattern
#[derive(Debug, Args)]
pub(super) struct Glob {
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    #[command(flatten)]
    scope: Scope,
}

impl Glob {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let found = sandbox.glob(&self.pattern, self.scope.into()).await?;
        match output.is_json() {
            true => output.value(&found),
            false => show::glob(&found, output),
        }
    }
}

/// Find lines
#[derive(Debug, Args)]
pub(super) struct Search {
    /// The text to find
    #[arg(allow_hyphen_values = true)]
    pattern: String,
    /// Take it as a regular expression
    #[arg(long)]
    regex: bool,
    /// Let case not matter
    #[arg(long)]
    ignore_case: bool,
    /// Only in files that match this glob; may be given several times
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Not in files that match this glob; may be given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Lines around each match
    #[arg(long, default_value_t = 0, value_name = "LINES")]
    context: u32,
    #[command(flatten)]
    scope: Scope,
}

impl Search {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let query = QueryOptions {
            pattern: self.pattern,
            syntax: if self.regex {
                Syntax::Regex
            } else {
                Syntax::Literal
            },
            ignore_case: self.ignore_case,
            include: self.include,
            exclude: self.exclude,
            context: self.context,
        };
        let found = sandbox.search(query, self.scope.into()).await?;
        match output.is_json() {
            true => output.value(&found),
            false => show::search(&found, output),
        }
    }
}
