//! The exports `files` and `narrowed`.

use belljar_contract::{Operation, Request, files::ReplaceOptions};

use super::{super::Backend, Exported, convert, done};
use crate::bindings::{
    backend::exports::belljar::sandbox::{files as wit, narrowed},
    tool::belljar::sandbox::types::{self, Expected},
};

type Answer<T> = Result<T, types::Error>;

/// A request that is made of what the host gave, and its answer.
macro_rules! answer {
    ($request:expr, $take:expr) => {
        $request
            .and_then(|request| Self::answer(request, $take))
            .map_err(convert::error)
    };
}

impl<T: Backend> wit::Guest for Exported<T> {
    fn read(path: String) -> Answer<wit::Content> {
        let path = convert::path(Operation::Read, path);
        answer!(path.map(|path| Request::Read { path }), variant!(Content)).map(convert::content)
    }

    fn read_range(path: String, offset: u64, length: u64) -> Answer<wit::Chunk> {
        let path = convert::path(Operation::ReadRange, path);
        let request = path.map(|path| Request::ReadRange {
            path,
            offset,
            length,
        });
        answer!(request, variant!(Chunk)).map(convert::chunk)
    }

    fn write(path: String, bytes: Vec<u8>, options: wit::WriteOptions) -> Answer<String> {
        let operation = Operation::Write;
        let request = convert::path(operation, path).and_then(|path| {
            Ok(Request::Write {
                path,
                bytes,
                options: convert::write_options(operation, options)?,
            })
        });
        answer!(request, variant!(Version)).map(Into::into)
    }

    fn append(path: String, bytes: Vec<u8>, options: wit::WriteOptions) -> Answer<String> {
        let operation = Operation::Append;
        let request = convert::path(operation, path).and_then(|path| {
            Ok(Request::Append {
                path,
                bytes,
                options: convert::write_options(operation, options)?,
            })
        });
        answer!(request, variant!(Version)).map(Into::into)
    }

    fn replace(
        path: String,
        old: Vec<u8>,
        new: Vec<u8>,
        options: wit::ReplaceOptions,
    ) -> Answer<wit::Replaced> {
        let operation = Operation::Replace;
        let request = convert::path(operation, path).and_then(|path| {
            let options = ReplaceOptions {
                expected: convert::expected(operation, options.expected)?,
                all: options.all,
            };
            Ok(Request::Replace {
                path,
                old,
                new,
                options,
            })
        });
        answer!(request, variant!(Replaced)).map(convert::replaced)
    }

    fn list(path: String, limit: Option<u32>) -> Answer<wit::Listing> {
        let limit = limit.unwrap_or(u32::MAX);
        let path = convert::path(Operation::List, path);
        let request = path.map(|path| Request::List { path, limit });
        answer!(request, variant!(Listing)).map(convert::listing)
    }

    fn glob(pattern: String, scope: wit::Scope) -> Answer<wit::GlobResult> {
        <Self as narrowed::Guest>::glob(pattern, scope, Vec::new())
    }

    fn search(query: wit::Query, scope: wit::Scope) -> Answer<wit::SearchResult> {
        <Self as narrowed::Guest>::search(query, scope, Vec::new())
    }

    fn stat(path: String) -> Answer<wit::Info> {
        let path = convert::path(Operation::Stat, path);
        answer!(path.map(|path| Request::Stat { path }), variant!(Info)).map(convert::info)
    }

    fn resolve(path: String) -> Answer<String> {
        let path = convert::path(Operation::Resolve, path);
        let request = path.map(|path| Request::Resolve { path });
        answer!(request, variant!(Path)).map(|path| path.to_string())
    }

    fn make_directory(path: String) -> Answer<()> {
        let path = convert::path(Operation::MakeDirectory, path);
        answer!(path.map(|path| Request::MakeDirectory { path }), done)
    }

    fn remove(path: String, recursive: bool) -> Answer<()> {
        let path = convert::path(Operation::Remove, path);
        let request = path.map(|path| Request::Remove { path, recursive });
        answer!(request, done)
    }

    fn rename(source: String, target: String, destination: Expected) -> Answer<()> {
        let operation = Operation::Rename;
        let request = convert::path(operation, source).and_then(|source| {
            Ok(Request::Rename {
                source,
                target: convert::path(operation, target)?,
                destination: convert::expected(operation, destination)?,
            })
        });
        answer!(request, done)
    }

    fn copy(source: String, target: String, destination: Expected) -> Answer<String> {
        let operation = Operation::Copy;
        let request = convert::path(operation, source).and_then(|source| {
            Ok(Request::Copy {
                source,
                target: convert::path(operation, target)?,
                destination: convert::expected(operation, destination)?,
            })
        });
        answer!(request, variant!(Version)).map(Into::into)
    }
}

impl<T: Backend> narrowed::Guest for Exported<T> {
    fn glob(
        pattern: String,
        scope: wit::Scope,
        within: Vec<Vec<String>>,
    ) -> Answer<wit::GlobResult> {
        let operation = Operation::Glob;
        let request = convert::pattern(operation, &pattern).and_then(|pattern| {
            Ok(Request::Glob {
                pattern,
                scope: convert::scope(operation, scope, &within)?,
            })
        });
        answer!(request, variant!(Glob)).map(convert::glob_result)
    }

    fn search(
        query: wit::Query,
        scope: wit::Scope,
        within: Vec<Vec<String>>,
    ) -> Answer<wit::SearchResult> {
        let operation = Operation::Search;
        let request = convert::query(query).and_then(|query| {
            Ok(Request::Search {
                query,
                scope: convert::scope(operation, scope, &within)?,
            })
        });
        answer!(request, variant!(Search)).map(convert::search_result)
    }
}
