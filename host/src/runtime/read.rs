//! Reading a component's file.

use std::{io::Read as _, path::Path};

use super::{LoadError, MAX_COMPONENT_BYTES};

/// Reads a component's file, and no more of it than shows that it is too large.
///
/// # Ambient authority
/// The path is the host's.
///
/// # Errors
/// [`LoadError::Read`] and [`LoadError::TooLarge`].
pub(crate) fn read_component_ambient(path: &Path) -> Result<Vec<u8>, LoadError> {
    let read = |source| LoadError::Read {
        path: path.to_owned(),
        source,
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the component is a file of the operator's, not of the workspace"
    )]
    let file = std::fs::File::open(path).map_err(read)?;
    let mut bytes = Vec::new();
    file.take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(read)?;
    match bytes.len() as u64 > MAX_COMPONENT_BYTES {
        true => Err(LoadError::TooLarge {
            most: MAX_COMPONENT_BYTES,
        }),
        false => Ok(bytes),
    }
}
