//! The functions that change something.

use belljar::{ReplaceOptions, Sandbox, Version, WriteOptions};
use clap::Args;
use serde_json::Value;

use super::expected::ExpectedArguments;
use crate::{ambient, exit_code::Exit, failure::Failure, output::Output};

/// How a file is written.
#[derive(Debug, Args)]
struct Writing {
    path: String,
    #[command(flatten)]
    expected: ExpectedArguments,
    /// Make the missing parent directories
    #[arg(long)]
    make_parents: bool,
    /// Make it executable
    #[arg(long)]
    executable: bool,
}

impl Writing {
    fn options(self) -> (String, WriteOptions) {
        let options = WriteOptions {
            expected: self.expected.get(),
            make_parents: self.make_parents,
            executable: self.executable,
        };
        (self.path, options)
    }
}

/// Standard input, read on a thread of its own: it may be a terminal.
async fn stdin(sandbox: &Sandbox) -> Result<Vec<u8>, Failure> {
    let description = sandbox.describe();
    if !description.writable {
        // Nothing is typed for nothing.
        return Ok(Vec::new());
    }
    let most = description.limits.file_bytes;
    let read = tokio::task::spawn_blocking(move || ambient::read_stdin(most));
    let context = sandbox.context().clone();
    let read = tokio::select! {
        read = read => read.map_err(|error| Failure::new(Exit::Host, error))?,
        () = context.cancellation().cancelled() => return Err(Failure::interrupted()),
    };
    read.map_err(|error| Failure::new(Exit::Failed, error))
}

fn version(version: &Version, output: Output) -> Result<(), Failure> {
    match output.is_json() {
        true => output.value(version),
        false => output.line(version.as_str()),
    }
}

/// What a function without a result prints.
fn done(output: Output) -> Result<(), Failure> {
    match output.is_json() {
        true => output.value(&Value::Null),
        false => Ok(()),
    }
}

/// Write standard input to a file, and print its version
#[derive(Debug, Args)]
pub(super) struct Write {
    #[command(flatten)]
    writing: Writing,
}

impl Write {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let (path, options) = self.writing.options();
        let bytes = stdin(sandbox).await?;
        version(&sandbox.write(&path, bytes, options).await?, output)
    }
}

/// Add standard input to the end of a file, and print its version
#[derive(Debug, Args)]
pub(super) struct Append {
    #[command(flatten)]
    writing: Writing,
}

impl Append {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let (path, options) = self.writing.options();
        let bytes = stdin(sandbox).await?;
        version(&sandbox.append(&path, bytes, options).await?, output)
    }
}

/// Replace text in a file, which must occur exactly once, and print how often and the version
#[derive(Debug, Args)]
pub(super) struct Replace {
    path: String,
    #[arg(allow_hyphen_values = true)]
    old: String,
    #[arg(allow_hyphen_values = true)]
    new: String,
    /// Replace every occurrence
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    expected: ExpectedArguments,
}

impl Replace {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let options = ReplaceOptions {
            expected: self.expected.get(),
            all: self.all,
        };
        let replaced = sandbox
            .replace(&self.path, self.old, self.new, options)
            .await?;
        match output.is_json() {
            true => output.value(&replaced),
            false => output.line(&format!("{} {}", replaced.count, replaced.version.as_str())),
        }
    }
}

/// Make a directory and its missing parents
#[derive(Debug, Args)]
pub(super) struct Mkdir {
    path: String,
}

impl Mkdir {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        sandbox.make_directory(&self.path).await?;
        done(output)
    }
}

/// Remove a file, a link or a directory
#[derive(Debug, Args)]
pub(super) struct Remove {
    path: String,
    /// Also what is in the directory
    #[arg(long, short)]
    recursive: bool,
}

impl Remove {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        sandbox.remove(&self.path, self.recursive).await?;
        done(output)
    }
}

/// Move a file, a link or a directory
#[derive(Debug, Args)]
pub(super) struct Rename {
    source: String,
    target: String,
    #[command(flatten)]
    destination: ExpectedArguments,
}

impl Rename {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        sandbox
            .rename(&self.source, &self.target, self.destination.get())
            .await?;
        done(output)
    }
}

/// Copy a file, and print the copy's version
#[derive(Debug, Args)]
pub(super) struct Copy {
    source: String,
    target: String,
    #[command(flatten)]
    destination: ExpectedArguments,
}

impl Copy {
    pub(super) async fn run(self, sandbox: &Sandbox, output: Output) -> Result<(), Failure> {
        let copied = sandbox
            .copy(&self.source, &self.target, self.destination.get())
            .await?;
        version(&copied, output)
    }
}
