//! Where a component is.

use std::{fmt, str::FromStr};

use super::error::RegistryError;

/// A place in a registry: `registry.example/ada/coding:1.2`, or one version of it, `registry.example/ada/coding@sha256:…`.
///
/// ```
/// use belljar::registry::Reference;
///
/// let reference: Reference = "registry.example/ada/coding:1.2".parse()?;
/// assert_eq!((reference.registry(), reference.repository()), ("registry.example", "ada/coding"));
/// assert!("coding.wasm".parse::<Reference>().is_err());
/// # Ok::<(), belljar::registry::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Reference(oci_client::Reference);

impl Reference {
    /// The registry, with its port where it has one.
    #[must_use]
    pub fn registry(&self) -> &str {
        self.0.registry()
    }

    /// The name in the registry.
    #[must_use]
    pub fn repository(&self) -> &str {
        self.0.repository()
    }

    /// The last part of the name: what a file of it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        let repository = self.0.repository();
        repository.rsplit('/').next().unwrap_or(repository)
    }

    /// The same place, at one manifest.
    pub(super) fn at(&self, manifest: &str) -> Self {
        Self(self.0.clone_with_digest(manifest.to_owned()))
    }

    pub(super) const fn inner(&self) -> &oci_client::Reference {
        &self.0
    }
}

impl FromStr for Reference {
    type Err = RegistryError;

    /// Parses a reference that names its registry: no default one is assumed, for a component is not looked for in a place
    /// that nobody named.
    fn from_str(text: &str) -> Result<Self, RegistryError> {
        let bad = |message: String| RegistryError::BadReference {
            text: text.to_owned(),
            message,
        };
        let registry = text.split_once('/').map_or("", |(registry, _)| registry);
        let named = registry == "localhost" || registry.contains(['.', ':']);
        if !named {
            return Err(bad(
                "it begins with a registry, as registry.example/ada/coding:1.2 does".into(),
            ));
        }
        let reference: oci_client::Reference = text
            .parse()
            .map_err(|error: oci_client::ParseError| bad(error.to_string()))?;
        if reference.tag().is_some() && reference.digest().is_some() {
            return Err(bad("it has a tag and a digest; one says which".into()));
        }
        Ok(Self(reference))
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.whole())
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reference({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_its_registry() {
        for (text, whole) in [
            (
                "registry.example/ada/coding:1.2",
                "registry.example/ada/coding:1.2",
            ),
            ("localhost/coding", "localhost/coding:latest"),
            ("127.0.0.1:5000/a/b/c:x", "127.0.0.1:5000/a/b/c:x"),
        ] {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), whole);
        }
        for bad in [
            "",
            "coding",
            "ada/coding",
            "registry.example",
            "registry.example/Ada",
            "registry.example/a:b:c",
            "registry.example/a@sha256:1",
            "https://registry.example/a",
        ] {
            assert!(bad.parse::<Reference>().is_err(), "{bad}");
        }
    }
}
