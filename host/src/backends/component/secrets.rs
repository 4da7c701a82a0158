//! Secrets: named in a configuration, read when a session is opened, and shown to nobody but their component.

use std::{collections::BTreeMap, fmt, io::Read as _, path::PathBuf};

/// The largest secret; a key and its certificates fit.
const SECRET_BYTES: u64 = 64 << 10;

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretSource {
    /// In a variable of the application's environment, which the application gives: see [`SecretVariables`].
    Environment {
        /// The variable's name.
        name: String,
    },
    /// In a file of this machine; a line end at its end is no part of it.
    File {
        /// Where the file is.
        path: PathBuf,
    },
}

/// Variables with secrets, which an application takes from its environment: the library never asks for it.
///
/// ```
/// use belljar::backends::SecretVariables;
///
/// let variables = SecretVariables::from([("TOKEN".to_owned(), "s3cret".to_owned())]);
/// assert!(!format!("{variables:?}").contains("s3cret"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretVariables(BTreeMap<String, String>);

impl<const COUNT: usize> From<[(String, String); COUNT]> for SecretVariables {
    fn from(variables: [(String, String); COUNT]) -> Self {
        variables.into_iter().collect()
    }
}

impl FromIterator<(String, String)> for SecretVariables {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

impl fmt::Debug for SecretVariables {
    /// Leaves out the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Why a secret is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// The application has no such variable.
    #[error("the secret {secret} is in the variable {name}, which is not set")]
    NotSet {
        /// The secret's name.
        secret: String,
        /// The variable.
        name: String,
    },
    /// The file cannot be read.
    #[error("the file of the secret {secret}, {}, cannot be read", path.display())]
    Unreadable {
        /// The secret's name.
        secret: String,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What is there can be none.
    #[error("the secret {secret} is empty, over 64 KiB, or has a NUL character")]
    Unusable {
        /// The secret's name.
        secret: String,
    },
}

impl SecretSource {
    /// Reads the secret of this name.
    ///
    /// # Ambient authority
    /// A file is the host's.
    #[cfg_attr(
        not(feature = "component-backend"),
        expect(dead_code, reason = "nothing opens such a backend in this build")
    )]
    pub(crate) fn read_ambient(
        &self,
        secret: &str,
        variables: &SecretVariables,
    ) -> Result<String, SecretError> {
        let text = match self {
            Self::Environment { name } => match variables.0.get(name) {
                Some(value) => value.clone(),
                None => {
                    return Err(SecretError::NotSet {
                        secret: secret.to_owned(),
                        name: name.clone(),
                    });
                }
            },
            Self::File { path } => {
                let mut text = read_ambient(path).map_err(|source| SecretError::Unreadable {
                    secret: secret.to_owned(),
                    path: path.clone(),
                    source,
                })?;
                let line = text.trim_end_matches(['\r', '\n']).len();
                text.truncate(line);
                text
            }
        };
        let usable = !text.is_empty() && text.len() as u64 <= SECRET_BYTES && !text.contains('\0');
        match usable {
            true => Ok(text),
            false => Err(SecretError::Unusable {
                secret: secret.to_owned(),
            }),
        }
    }
}

fn read_ambient(path: &std::path::Path) -> std::io::Result<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the operator's, not of the workspace"
    )]
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    file.take(SECRET_BYTES + 2).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_where_it_is_said_to_be() {
        let variables = SecretVariables::from([("KEY".to_owned(), "k".to_owned())]);
        let environment = |name: &str| SecretSource::Environment { name: name.into() };
        let read = environment("KEY").read_ambient("key", &variables);
        assert_eq!(read.ok().as_deref(), Some("k"));
        let missing = environment("OTHER").read_ambient("key", &variables);
        assert!(matches!(missing, Err(SecretError::NotSet { .. })));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        let file = SecretSource::File { path: path.clone() };
        let unreadable = file.read_ambient("key", &variables);
        assert!(matches!(unreadable, Err(SecretError::Unreadable { .. })));
        for (content, right) in [
            ("a b\n", Some("a b")),
            ("x\r\n", Some("x")),
            ("\n", None),
            ("a\0", None),
        ] {
            #[expect(clippy::disallowed_methods, reason = "the test's own file")]
            std::fs::write(&path, content).expect("it is written");
            let read = file.read_ambient("key", &variables).ok();
            assert_eq!(read.as_deref(), right, "{content:?}");
        }
    }
}
