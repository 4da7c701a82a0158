//! The functions that look.

use belljar::{ErrorKind, QueryOptions, Sandbox, ScopeOptions, Version, files::Syntax};
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
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let range = match (self.offset, self.length) {
            (None, None) => match sandbox.read(&self.path).await {
                Ok(content) if output.is_json() => return output.value(&content),
                Ok(content) => return output.bytes(&content.bytes),
                // A file of any size can be printed, and not held as one JSON value.
                Err(error) if error.kind == ErrorKind::TooLarge && !output.is_json() => {
                    (0, u64::MAX)
                }
                Err(error) => return Err(error.into()),
            },
            (offset, length) => (offset.unwrap_or(0), length.unwrap_or(u64::MAX)),
        };
        if output.is_json() {
            let most = sandbox.describe().limits.file_bytes;
            let chunk = sandbox.read_range(&self.path, range.0, range.1.min(most));
            return output.value(&chunk.await?);
        }
        self.parts(range, sandbox, output).await
    }

    /// Prints a range in parts of what one call may give, all of one version.
    async fn parts(
        &self,
        (mut offset, mut left): (u64, u64),
        sandbox: &Sandbox,
        output: Output,
    ) -> Result<(), Failure> {
        let most = sandbox.describe().limits.file_bytes;
        let mut version: Option<Version> = None;
        while left > 0 {
            let asked = left.min(most);
            let chunk = sandbox.read_range(&self.path, offset, asked).await?;
            if version.is_some_and(|version| version != chunk.version) {
                let message = format!("{} changed while it was read", self.path);
                return Err(Failure::new(Exit::Failed, message));
            }
            output.bytes(&chunk.bytes)?;
            let read = chunk.bytes.len() as u64;
            if read < asked {
                break;
            }
            offset = offset.saturating_add(read);
            left -= read;
            version = Some(chunk.version);
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
