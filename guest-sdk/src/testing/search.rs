//! stub

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Query, Result, Scope, files::SearchResult,
};

use super::tree::Tree;

pub(super) fn search(_: &Context, _: &Tree, _: &Query, _: &Scope) -> Result<SearchResult> {
    Err(Error::new(
        ErrorKind::Unsupported,
        Operation::Search,
        "stub",
    ))
}
