//! The import `files`.

use belljar_contract::{
    Operation,
    files::{ReplaceOptions, WriteOptions},
};

use crate::runtime::{
    bindings::belljar::sandbox::{files as wit, types},
    convert,
    state::CallState,
};

type Answer<T> = wasmtime::Result<Result<T, types::Error>>;

/// What a path, a name or a line costs beside its text, for the count of copied bytes.
const RECORD_BYTES: usize = 32;

impl wit::Host for CallState {
    fn read(&mut self, path: String) -> Answer<wit::Content> {
        self.ask(
            Operation::Read,
            path.len(),
            async |sandbox| sandbox.read(&path).await,
            |content| {
                let bytes = content.bytes.len();
                (convert::content(content), bytes)
            },
        )
    }

    fn read_range(&mut self, path: String, offset: u64, length: u64) -> Answer<wit::Chunk> {
        self.ask(
            Operation::ReadRange,
            path.len(),
            async |sandbox| sandbox.read_range(&path, offset, length).await,
            |chunk| {
                let bytes = chunk.bytes.len();
                (convert::chunk(chunk), bytes)
            },
        )
    }

    fn write(
        &mut self,
        path: String,
        bytes: Vec<u8>,
        options: wit::WriteOptions,
    ) -> Answer<types::Version> {
        self.ask(
            Operation::Write,
            path.len() + bytes.len(),
            async |sandbox| {
                let options = write_options(options, Operation::Write, &path)?;
                sandbox.write(&path, bytes, options).await
            },
            version,
        )
    }

    fn append(
        &mut self,
        path: String,
        bytes: Vec<u8>,
        options: wit::WriteOptions,
    ) -> Answer<types::Version> {
        self.ask(
            Operation::Append,
            path.len() + bytes.len(),
            async |sandbox| {
                let options = write_options(options, Operation::Append, &path)?;
                sandbox.append(&path, bytes, options).await
            },
            version,
        )
    }

    fn replace(
        &mut self,
        path: String,
        old: Vec<u8>,
        new: Vec<u8>,
        options: wit::ReplaceOptions,
    ) -> Answer<wit::Replaced> {
        self.ask(
            Operation::Replace,
            path.len() + old.len() + new.len(),
            async |sandbox| {
                let expected = convert::expected(options.expected, Operation::Replace, &path)?;
                sandbox
                    .replace(
                        &path,
                        old,
                        new,
                        ReplaceOptions {
                            expected,
                            all: options.all,
                        },
                    )
                    .await
            },
            |replaced| (convert::replaced(replaced), RECORD_BYTES),
        )
    }

    fn list(&mut self, path: String, limit: Option<u32>) -> Answer<wit::Listing> {
        self.ask(
            Operation::List,
            path.len(),
            async |sandbox| sandbox.list(&path, limit).await,
            |listing| {
                let names = listing
                    .entries
                    .iter()
                    .map(|entry| entry.name.text.len() + RECORD_BYTES);
                let bytes = names.sum();
                (convert::listing(listing), bytes)
            },
        )
    }

    fn glob(&mut self, pattern: String, scope: wit::Scope) -> Answer<wit::GlobResult> {
        self.ask(
            Operation::Glob,
            pattern.len(),
            async |sandbox| sandbox.glob(&pattern, convert::scope(scope)).await,
            |result| {
                let bytes = result
                    .paths
                    .iter()
                    .map(|found| found.path.text.len() + RECORD_BYTES)
                    .sum();
                (convert::glob_result(result), bytes)
            },
        )
    }

    fn search(&mut self, query: wit::Query, scope: wit::Scope) -> Answer<wit::SearchResult> {
        let sent = query.pattern.len()
            + query
                .include
                .iter()
                .chain(&query.exclude)
                .map(String::len)
                .sum::<usize>();
        self.ask(
            Operation::Search,
            sent,
            async |sandbox| {
                sandbox
                    .search(convert::query(query), convert::scope(scope))
                    .await
            },
            |result| {
                let lines = |found: &belljar_contract::files::Match| {
                    found.path.text.len()
                        + found.line.text.len()
                        + found
                            .before
                            .iter()
                            .chain(&found.after)
                            .map(|line| line.text.len() + RECORD_BYTES)
                            .sum::<usize>()
                        + RECORD_BYTES
                };
                let bytes = result.matches.iter().map(lines).sum();
                (convert::search_result(result), bytes)
            },
        )
    }

    fn stat(&mut self, path: String) -> Answer<wit::Info> {
        self.ask(
            Operation::Stat,
            path.len(),
            async |sandbox| sandbox.stat(&path).await,
            |info| (convert::info(info), RECORD_BYTES),
        )
    }

    fn resolve(&mut self, path: String) -> Answer<String> {
        self.ask(
            Operation::Resolve,
            path.len(),
            async |sandbox| sandbox.resolve(&path).await,
            |path| {
                let text = path.to_string();
                let bytes = text.len();
                (text, bytes)
            },
        )
    }

    fn make_directory(&mut self, path: String) -> Answer<()> {
        self.ask(
            Operation::MakeDirectory,
            path.len(),
            async |sandbox| sandbox.make_directory(&path).await,
            done,
        )
    }

    fn remove(&mut self, path: String, recursive: bool) -> Answer<()> {
        self.ask(
            Operation::Remove,
            path.len(),
            async |sandbox| sandbox.remove(&path, recursive).await,
            done,
        )
    }

    fn rename(
        &mut self,
        source: String,
        target: String,
        destination: types::Expected,
    ) -> Answer<()> {
        self.ask(
            Operation::Rename,
            source.len() + target.len(),
            async |sandbox| {
                let destination = convert::expected(destination, Operation::Rename, &target)?;
                sandbox.rename(&source, &target, destination).await
            },
            done,
        )
    }

    fn copy(
        &mut self,
        source: String,
        target: String,
        destination: types::Expected,
    ) -> Answer<types::Version> {
        self.ask(
            Operation::Copy,
            source.len() + target.len(),
            async |sandbox| {
                let destination = convert::expected(destination, Operation::Copy, &target)?;
                sandbox.copy(&source, &target, destination).await
            },
            version,
        )
    }
}

fn write_options(
    options: wit::WriteOptions,
    operation: Operation,
    path: &str,
) -> belljar_contract::Result<WriteOptions> {
    let wit::WriteOptions {
        expected,
        make_parents,
        executable,
    } = options;
    Ok(WriteOptions {
        expected: convert::expected(expected, operation, path)?,
        make_parents,
        executable,
    })
}

fn version(version: belljar_contract::Version) -> (types::Version, usize) {
    let text = String::from(version);
    let bytes = text.len();
    (text, bytes)
}

const fn done(_: ()) -> ((), usize) {
    ((), 0)
}
