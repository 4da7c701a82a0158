//! Reading the file of a component, or of a program.

use std::{
    io::{self, Read as _},
    path::Path,
};

use super::{LoadError, MAX_COMPONENT_BYTES};

/// Reads a component's file, and no more of it than shows that it is too large.
///
/// # Ambient authority
/// The path is the host's.
///
/// # Errors
/// [`LoadError::Read`] and [`LoadError::TooLarge`].
pub(crate) fn read_component_ambient(path: &Path) -> Result<Vec<u8>, LoadError> {
    let bytes = read_ambient(path).map_err(|source| LoadError::Read {
        path: path.to_owned(),
        source,
    })?;
    match bytes.len() as u64 > MAX_COMPONENT_BYTES {
        true => Err(LoadError::TooLarge {
            most: MAX_COMPONENT_BYTES,
        }),
        false => Ok(bytes),
    }
}

/// Reads a file, and no more of it than shows that it is too large.
///
/// # Ambient authority
/// The path is the host's.
pub(crate) fn read_ambient(path: &Path) -> io::Result<Vec<u8>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the component is a file of the operator's, not of the workspace"
    )]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
