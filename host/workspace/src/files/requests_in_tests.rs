//! Requests that tests make, in short.

use belljar_contract::{
    Expected, GuestPath, Pattern, Query, Request, Scope,
    files::{ReplaceOptions, Syntax, WriteOptions},
};

use super::confinement_tests::path;

/// The path that no link may lead to.
pub(super) fn bound(text: &str) -> GuestPath {
    path(text).without_links()
}

pub(super) fn scope(base: GuestPath) -> Scope {
    Scope {
        base,
        hidden: false,
        ignored: false,
        limit: 100,
        within: Vec::new(),
    }
}

pub(super) fn glob(pattern: &str, base: GuestPath) -> Request {
    Request::Glob {
        pattern: Pattern::parse(pattern).unwrap(),
        scope: scope(base),
    }
}

pub(super) fn search(pattern: &str, base: GuestPath) -> Request {
    let query = Query {
        pattern: pattern.to_owned(),
        syntax: Syntax::Literal,
        ignore_case: false,
        include: Vec::new(),
        exclude: Vec::new(),
        context: 0,
    };
    Request::Search {
        query,
        scope: scope(base),
    }
}

pub(super) fn write(path: GuestPath, bytes: &[u8]) -> Request {
    Request::Write {
        path,
        bytes: bytes.to_vec(),
        options: WriteOptions::default(),
    }
}

pub(super) fn append(path: GuestPath) -> Request {
    append_of(path, b"!")
}

pub(super) fn append_of(path: GuestPath, bytes: &[u8]) -> Request {
    Request::Append {
        path,
        bytes: bytes.to_vec(),
        options: WriteOptions::default(),
    }
}

pub(super) fn replace(path: GuestPath) -> Request {
    Request::Replace {
        path,
        old: b"inside".to_vec(),
        new: b"INSIDE".to_vec(),
        options: ReplaceOptions::default(),
    }
}

pub(super) fn copy(source: GuestPath, target: GuestPath) -> Request {
    Request::Copy {
        source,
        target,
        destination: Expected::Any,
    }
}

pub(super) fn rename(source: GuestPath, target: GuestPath) -> Request {
    Request::Rename {
        source,
        target,
        destination: Expected::Any,
    }
}

pub(super) fn list(path: GuestPath) -> Request {
    Request::List { path, limit: 100 }
}

pub(super) fn remove(path: GuestPath) -> Request {
    Request::Remove {
        path,
        recursive: true,
    }
}
