//! The functions of `files` in a case's directory.

use belljar_contract::{
    Error, Expected, QueryOptions, Result, ScopeOptions, Version,
    files::{
        Chunk, Content, EntryKind, GlobResult, Info, Listing, Name, ReplaceOptions, Replaced,
        SearchResult, Syntax, WriteOptions,
    },
};

use crate::{
    check::{self, Failure},
    fixture::Fixture,
    outside::Filling,
};

/// The functions with the case's paths; what they answer is what the contract's functions do.
#[expect(
    clippy::missing_errors_doc,
    reason = "each has the errors of the contract's function of its name"
)]
impl Fixture {
    /// `files.read`.
    pub async fn read(&self, path: &str) -> Result<Content> {
        self.sandbox.read(&self.path(path)).await
    }

    /// `files.read-range`.
    pub async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Chunk> {
        self.sandbox
            .read_range(&self.path(path), offset, length)
            .await
    }

    /// `files.write`.
    pub async fn write(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        expected: Expected,
    ) -> Result<Version> {
        let options = WriteOptions {
            expected,
            ..WriteOptions::default()
        };
        self.sandbox.write(&self.path(path), bytes, options).await
    }

    /// `files.write` with the caller's options.
    pub async fn write_with(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        self.sandbox.write(&self.path(path), bytes, options).await
    }

    /// `files.append`.
    pub async fn append(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        expected: Expected,
    ) -> Result<Version> {
        let options = WriteOptions {
            expected,
            ..WriteOptions::default()
        };
        self.sandbox.append(&self.path(path), bytes, options).await
    }

    /// `files.append` with the caller's options.
    pub async fn append_with(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        self.sandbox.append(&self.path(path), bytes, options).await
    }

    /// `files.replace` of exactly one.
    pub async fn replace(
        &self,
        path: &str,
        old: impl Into<Vec<u8>>,
        new: impl Into<Vec<u8>>,
    ) -> Result<Replaced> {
        let options = ReplaceOptions::default();
        self.replace_with(path, old, new, options).await
    }

    /// `files.replace` of all.
    pub async fn replace_all(
        &self,
        path: &str,
        old: impl Into<Vec<u8>>,
        new: impl Into<Vec<u8>>,
    ) -> Result<Replaced> {
        let options = ReplaceOptions {
            all: true,
            ..ReplaceOptions::default()
        };
        self.replace_with(path, old, new, options).await
    }

    /// `files.replace` with the caller's options.
    pub async fn replace_with(
        &self,
        path: &str,
        old: impl Into<Vec<u8>>,
        new: impl Into<Vec<u8>>,
        options: ReplaceOptions,
    ) -> Result<Replaced> {
        self.sandbox
            .replace(&self.path(path), old, new, options)
            .await
    }

    /// `files.list`.
    pub async fn list(&self, path: &str) -> Result<Listing> {
        self.sandbox.list(&self.path(path), None).await
    }

    /// `files.glob`, with paths as the case sees them.
    pub async fn glob(&self, pattern: &str, mut scope: ScopeOptions) -> Result<GlobResult> {
        scope.base = self.base(scope.base);
        let mut result = self.sandbox.glob(pattern, scope).await?;
        for found in &mut result.paths {
            self.see(&mut found.path);
        }
        Ok(result)
    }

    /// `files.search`, with paths as the case sees them.
    pub async fn search(
        &self,
        query: QueryOptions,
        mut scope: ScopeOptions,
    ) -> Result<SearchResult> {
        scope.base = self.base(scope.base);
        let mut result = self.sandbox.search(query, scope).await?;
        for found in &mut result.matches {
            self.see(&mut found.path);
        }
        Ok(result)
    }

    /// `files.stat`.
    pub async fn stat(&self, path: &str) -> Result<Info> {
        self.sandbox.stat(&self.path(path)).await
    }

    /// `files.resolve`, as the case sees it.
    pub async fn resolve(&self, path: &str) -> Result<String> {
        let resolved = self.sandbox.resolve(&self.path(path)).await?;
        let text = resolved.to_string();
        if text == self.prefix.trim_end_matches('/') {
            return Ok(".".to_owned());
        }
        Ok(self.seen(&text).to_owned())
    }

    /// `files.make-directory`.
    pub async fn make_directory(&self, path: &str) -> Result<()> {
        self.sandbox.make_directory(&self.path(path)).await
    }

    /// `files.remove`.
    pub async fn remove(&self, path: &str, recursive: bool) -> Result<()> {
        self.sandbox.remove(&self.path(path), recursive).await
    }

    /// `files.rename`.
    pub async fn rename(&self, source: &str, target: &str, destination: Expected) -> Result<()> {
        self.sandbox
            .rename(&self.path(source), &self.path(target), destination)
            .await
    }

    /// `files.copy`.
    pub async fn copy(&self, source: &str, target: &str, destination: Expected) -> Result<Version> {
        self.sandbox
            .copy(&self.path(source), &self.path(target), destination)
            .await
    }

    fn base(&self, base: Option<String>) -> Option<String> {
        match base {
            Some(base) => Some(self.path(&base)),
            None if self.prefix.is_empty() => None,
            None => Some(self.path(".")),
        }
    }

    fn see(&self, name: &mut Name) {
        if let Some(rest) = name.text.strip_prefix(&*self.prefix) {
            name.text = rest.to_owned();
        }
        if let Some(raw) = &mut name.raw
            && raw.starts_with(self.prefix.as_bytes())
        {
            raw.drain(..self.prefix.len());
        }
    }
}

/// What cases ask most, in one line.
#[expect(
    clippy::missing_errors_doc,
    reason = "each fails as the contract's functions that it calls"
)]
impl Fixture {
    /// Writes a file and its missing parents.
    pub async fn put(&self, path: &str, bytes: impl Into<Vec<u8>>) -> Result<Version> {
        let options = WriteOptions {
            make_parents: true,
            ..WriteOptions::default()
        };
        self.write_with(path, bytes, options).await
    }

    /// Makes a directory with many entries: in one go where something can, else one by one.
    pub async fn fill(&self, directory: &str, fillings: &[Filling]) -> Result<(), Failure> {
        self.make_directory(directory).await?;
        match self.outside.fill(&self.path(directory), fillings).await {
            Err(Failure::Unmet(_)) => {}
            filled => return filled,
        }
        for Filling { name, size } in fillings {
            let path = format!("{directory}/{name}");
            match size {
                Some(size) => drop(
                    self.write(&path, vec![b' '; *size], Expected::Absent)
                        .await?,
                ),
                None => self.make_directory(&path).await?,
            }
        }
        Ok(())
    }

    /// Requires a file to have this content.
    pub async fn holds(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
        let content = self.read(path).await?;
        check::same_bytes(path, &content.bytes, bytes.as_ref())
    }

    /// Requires nothing to be at a path.
    pub async fn absent(&self, path: &str) -> Result<(), Failure> {
        let listing = self.names(parent(path)).await?;
        let name = path.rsplit('/').next().unwrap_or(path);
        check::that(
            !listing.iter().any(|listed| listed == name),
            &format!("{path} is there, and must not be"),
        )
    }

    /// The names in a directory.
    pub async fn names(&self, path: &str) -> Result<Vec<String>> {
        let listing = self.list(path).await?;
        Ok(listing
            .entries
            .into_iter()
            .map(|entry| entry.name.text)
            .collect())
    }

    /// What a directory entry is, links not resolved.
    pub async fn kind(&self, path: &str) -> Result<Option<EntryKind>> {
        let listing = self.list(parent(path)).await?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(listing
            .entries
            .into_iter()
            .find(|entry| entry.name.text == name)
            .map(|entry| entry.kind))
    }

    /// The paths that a pattern finds in the default scope.
    pub async fn found(&self, pattern: &str) -> Result<Vec<String>> {
        self.found_in(pattern, ScopeOptions::default()).await
    }

    /// The paths that a pattern finds.
    pub async fn found_in(&self, pattern: &str, scope: ScopeOptions) -> Result<Vec<String>> {
        let result = self.glob(pattern, scope).await?;
        Ok(result
            .paths
            .into_iter()
            .map(|found| found.path.text)
            .collect())
    }

    /// `path:line-number` of each line that has a literal.
    pub async fn lines(&self, literal: &str, scope: ScopeOptions) -> Result<Vec<String>> {
        self.lines_of(
            QueryOptions {
                pattern: literal.to_owned(),
                ..QueryOptions::default()
            },
            scope,
        )
        .await
    }

    /// `path:line-number` of each line that matches a regular expression.
    pub async fn lines_like(&self, regex: &str, scope: ScopeOptions) -> Result<Vec<String>> {
        self.lines_of(
            QueryOptions {
                pattern: regex.to_owned(),
                syntax: Syntax::Regex,
                ..QueryOptions::default()
            },
            scope,
        )
        .await
    }

    /// `path:line-number` of each line that a query finds.
    pub async fn lines_of(&self, query: QueryOptions, scope: ScopeOptions) -> Result<Vec<String>> {
        let result = self.search(query, scope).await?;
        Ok(result
            .matches
            .into_iter()
            .map(|found| format!("{}:{}", found.path.text, found.line_number))
            .collect())
    }

    /// Makes a symbolic link with this text.
    pub async fn symlink(&self, text: &str, link: &str) -> Result<(), Failure> {
        self.outside.symlink(text, &self.path(link)).await
    }

    /// Makes a FIFO.
    pub async fn mkfifo(&self, path: &str) -> Result<(), Failure> {
        self.outside.mkfifo(&self.path(path)).await
    }

    /// Sets mode bits.
    pub async fn chmod(&self, path: &str, mode: u32) -> Result<(), Failure> {
        self.outside.chmod(&self.path(path), mode).await
    }

    /// Writes a file whose path need not be UTF-8.
    pub async fn write_raw(&self, path: &[u8], bytes: &[u8]) -> Result<(), Failure> {
        let path = [self.prefix.as_bytes(), path].concat();
        self.outside.write(&path, bytes).await
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(parent, _)| parent)
}

/// A scope that begins here.
pub(crate) fn below(base: &str) -> ScopeOptions {
    ScopeOptions {
        base: Some(base.to_owned()),
        ..ScopeOptions::default()
    }
}

/// A scope with this limit.
pub(crate) fn at_most(limit: u32) -> ScopeOptions {
    ScopeOptions {
        limit: Some(limit),
        ..ScopeOptions::default()
    }
}

/// A scope in which everything counts.
pub(crate) fn all() -> ScopeOptions {
    ScopeOptions {
        hidden: true,
        ignored: true,
        ..ScopeOptions::default()
    }
}

/// Whether an error has this kind.
pub(crate) fn is<T>(result: &Result<T>, kind: belljar_contract::ErrorKind) -> bool {
    matches!(result, Err(Error { kind: got, .. }) if *got == kind)
}
