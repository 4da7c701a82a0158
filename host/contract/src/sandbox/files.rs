//! The functions of `files`.

use super::{
    Sandbox, ask, invalid, not_root,
    options::{QueryOptions, ScopeOptions},
};
use crate::{
    error::{Error, ErrorKind, Result},
    files::{
        Chunk, Content, GlobResult, Info, Listing, MAX_CONTEXT_LINES, ReplaceOptions, Replaced,
        SearchResult, WriteOptions,
    },
    path::{GuestPath, Pattern},
    request::{Operation, Query, Request, Response},
    version::{Expected, Version},
};

/// The longest search pattern, in bytes: what a regular expression of that size compiles to stays
/// within the engine's own limit.
pub const MAX_SEARCH_PATTERN_BYTES: usize = 64 << 10;
/// The most globs in one `include` or `exclude`.
pub const MAX_FILTERS: usize = 256;

impl Sandbox {
    /// Reads a whole file.
    ///
    /// # Errors
    /// As `files.read`.
    pub async fn read(&self, path: &str) -> Result<Content> {
        let path = self.path(Operation::Read, path)?;
        ask!(self, Operation::Read, Request::Read { path }, Content)
    }

    /// Reads a part of a file.
    ///
    /// # Errors
    /// As `files.read-range`.
    pub async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Chunk> {
        let operation = Operation::ReadRange;
        let parsed = self.path(operation, path)?;
        self.fits(operation, "the length", length)
            .map_err(|error| error.at(path))?;
        ask!(
            self,
            operation,
            Request::ReadRange {
                path: parsed,
                offset,
                length
            },
            Chunk
        )
    }

    /// Makes `bytes` the content of a file.
    ///
    /// # Errors
    /// As `files.write`.
    pub async fn write(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        let (path, bytes) = self.change(Operation::Write, path, bytes.into())?;
        ask!(
            self,
            Operation::Write,
            Request::Write {
                path,
                bytes,
                options
            },
            Version
        )
    }

    /// Adds `bytes` at the end of a file.
    ///
    /// # Errors
    /// As `files.append`.
    pub async fn append(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        let (path, bytes) = self.change(Operation::Append, path, bytes.into())?;
        ask!(
            self,
            Operation::Append,
            Request::Append {
                path,
                bytes,
                options
            },
            Version
        )
    }

    /// Replaces `old` by `new` in a file.
    ///
    /// # Errors
    /// As `files.replace`.
    pub async fn replace(
        &self,
        path: &str,
        old: impl Into<Vec<u8>>,
        new: impl Into<Vec<u8>>,
        options: ReplaceOptions,
    ) -> Result<Replaced> {
        let operation = Operation::Replace;
        let (parsed, new) = self.change(operation, path, new.into())?;
        let old = old.into();
        if old.is_empty() {
            return Err(invalid(operation, "the text to replace is empty").at(path));
        }
        self.fits(operation, "the text to replace", old.len() as u64)
            .map_err(|error| error.at(path))?;
        ask!(
            self,
            operation,
            Request::Replace {
                path: parsed,
                old,
                new,
                options
            },
            Replaced
        )
    }

    /// Lists a directory.
    ///
    /// # Errors
    /// As `files.list`.
    pub async fn list(&self, path: &str, limit: Option<u32>) -> Result<Listing> {
        let path = self.path(Operation::List, path)?;
        let limit = self.limit(limit);
        ask!(
            self,
            Operation::List,
            Request::List { path, limit },
            Listing
        )
    }

    /// Finds paths by a pattern.
    ///
    /// # Errors
    /// As `files.glob`.
    pub async fn glob(&self, pattern: &str, scope: ScopeOptions) -> Result<GlobResult> {
        let parsed = self.pattern(Operation::Glob, pattern)?;
        let scope = self.scope(Operation::Glob, scope)?;
        ask!(
            self,
            Operation::Glob,
            Request::Glob {
                pattern: parsed,
                scope
            },
            Glob
        )
    }

    /// Finds lines.
    ///
    /// # Errors
    /// As `files.search`.
    pub async fn search(&self, query: QueryOptions, scope: ScopeOptions) -> Result<SearchResult> {
        let operation = Operation::Search;
        let scope = self.scope(operation, scope)?;
        if query.pattern.is_empty() {
            return Err(invalid(operation, "the pattern is empty"));
        }
        if query.pattern.len() > MAX_SEARCH_PATTERN_BYTES {
            let message = format!("the pattern is over {MAX_SEARCH_PATTERN_BYTES} bytes");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        if query.context > MAX_CONTEXT_LINES {
            let message = format!("the context is over {MAX_CONTEXT_LINES} lines");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        let filters = |globs: &[String]| -> Result<Vec<Pattern>> {
            if globs.len() > MAX_FILTERS {
                let message = format!("more than {MAX_FILTERS} globs to include or exclude");
                return Err(Error::new(ErrorKind::TooLarge, operation, message));
            }
            globs
                .iter()
                .map(|glob| self.pattern(operation, glob))
                .collect()
        };
        let query = Query {
            include: filters(&query.include)?,
            exclude: filters(&query.exclude)?,
            pattern: query.pattern,
            syntax: query.syntax,
            ignore_case: query.ignore_case,
            context: query.context,
        };
        ask!(self, operation, Request::Search { query, scope }, Search)
    }

    /// Says what a path is.
    ///
    /// # Errors
    /// As `files.stat`.
    pub async fn stat(&self, path: &str) -> Result<Info> {
        let path = self.path(Operation::Stat, path)?;
        ask!(self, Operation::Stat, Request::Stat { path }, Info)
    }

    /// Gives the path with its links resolved.
    ///
    /// # Errors
    /// As `files.resolve`.
    pub async fn resolve(&self, path: &str) -> Result<GuestPath> {
        let path = self.path(Operation::Resolve, path)?;
        ask!(self, Operation::Resolve, Request::Resolve { path }, Path)
    }

    /// Makes a directory and its missing parents.
    ///
    /// # Errors
    /// As `files.make-directory`.
    pub async fn make_directory(&self, path: &str) -> Result<()> {
        let (path, _) = self.change(Operation::MakeDirectory, path, Vec::new())?;
        ask!(
            self,
            Operation::MakeDirectory,
            Request::MakeDirectory { path }
        )
    }

    /// Removes a file, a link, or a directory.
    ///
    /// # Errors
    /// As `files.remove`.
    pub async fn remove(&self, path: &str, recursive: bool) -> Result<()> {
        let operation = Operation::Remove;
        let (parsed, _) = self.change(operation, path, Vec::new())?;
        not_root(operation, &parsed)?;
        ask!(
            self,
            operation,
            Request::Remove {
                path: parsed,
                recursive
            }
        )
    }

    /// Moves a file, link or directory.
    ///
    /// # Errors
    /// As `files.rename`.
    pub async fn rename(&self, source: &str, target: &str, destination: Expected) -> Result<()> {
        let operation = Operation::Rename;
        let (source, _) = self.change(operation, source, Vec::new())?;
        let target = self.path(operation, target)?;
        not_root(operation, &source)?;
        not_root(operation, &target)?;
        if target != source && target.starts_with(&source) {
            return Err(
                invalid(operation, "a directory cannot be moved into itself")
                    .at(target.to_string()),
            );
        }
        ask!(
            self,
            operation,
            Request::Rename {
                source,
                target,
                destination
            }
        )
    }

    /// Copies a file.
    ///
    /// # Errors
    /// As `files.copy`.
    pub async fn copy(&self, source: &str, target: &str, destination: Expected) -> Result<Version> {
        let operation = Operation::Copy;
        let source = self.path(operation, source)?;
        let (target, _) = self.change(operation, target, Vec::new())?;
        ask!(
            self,
            operation,
            Request::Copy {
                source,
                target,
                destination
            },
            Version
        )
    }
}
