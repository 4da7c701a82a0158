//! stub

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Pattern, Result, Scope, files::GlobResult,
};

use super::tree::Tree;

pub(super) fn glob(_: &Context, _: &Tree, _: &Pattern, _: &Scope) -> Result<GlobResult> {
    Err(Error::new(ErrorKind::Unsupported, Operation::Glob, "stub"))
}
