//! TODO
use crate::workspace::Workspace;
use anyhow::Result;
pub(crate) fn demo(_: &Workspace) -> Result<()> {
    Ok(())
}
