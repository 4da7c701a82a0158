//! What the operator configured for a backend component, secrets among it.

use crate::imports;

/// A setting or secret by name; none when it is not set.
///
/// ```
/// use belljar_guest::{settings, testing};
///
/// testing::with_settings([("url", "https://sandboxes.example")], || {
///     assert_eq!(settings::get("url").as_deref(), Some("https://sandboxes.example"));
///     assert_eq!(settings::get("token"), None);
/// });
/// ```
#[must_use]
pub fn get(name: &str) -> Option<String> {
    imports::setting(name)
}

/// A setting that must be there.
///
/// # Errors
/// `invalid-argument` when it is not set; the message names it.
pub fn required(name: &str) -> crate::Result<String> {
    get(name).ok_or_else(|| {
        let message = format!("the setting {name} is missing");
        crate::Error::new(
            crate::ErrorKind::InvalidArgument,
            crate::Operation::Open,
            message,
        )
    })
}
