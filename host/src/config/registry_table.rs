//! The `[registry]` table: how components of registries are fetched, and who must have signed them.

use std::collections::BTreeMap;

use toml::Spanned;

use super::{document::Registry, interpret::Reading};
use crate::registry::{Reference, TrustedKey};

/// What an operator decides of components that come from registries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryConfig {
    /// Whether a component of a registry is only loaded with a trusted signature.
    pub require_signature: bool,
    /// The keys that are trusted, by a name for people.
    pub keys: BTreeMap<String, TrustedKey>,
    /// Registries, each with its port, that are asked without TLS.
    pub plain_http: Vec<String>,
}

pub(super) fn read(reading: &mut Reading<'_>, table: &Registry) -> RegistryConfig {
    let mut keys = BTreeMap::new();
    for (name, text) in &table.keys {
        match text.get_ref().parse::<TrustedKey>() {
            Ok(key) => drop(keys.insert(name.clone(), key)),
            Err(error) => {
                let key = format!("registry.keys.{name}");
                reading.bad(key, text.span().start, error.to_string());
            }
        }
    }
    let require_signature = table.require_signature.as_ref();
    if let Some(required) = require_signature
        && *required.get_ref()
        && table.keys.is_empty()
    {
        let message = "no signature can be trusted without a key in [registry.keys]".to_owned();
        let key = "registry.require-signature".to_owned();
        reading.bad(key, required.span().start, message);
    }
    RegistryConfig {
        require_signature: require_signature.is_some_and(|required| *required.get_ref()),
        keys,
        plain_http: table.plain_http.clone(),
    }
}

/// The reference of a tool's table.
pub(super) fn reference(
    reading: &mut Reading<'_>,
    key: String,
    text: &Spanned<String>,
) -> Option<Reference> {
    match text.get_ref().parse() {
        Ok(reference) => Some(reference),
        Err(error) => {
            let error: crate::registry::RegistryError = error;
            reading.bad(key, text.span().start, error.to_string());
            None
        }
    }
}
