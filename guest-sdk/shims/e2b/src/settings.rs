//! What the operator set.

use std::collections::BTreeMap;

use belljar_guest::{Error, ErrorKind, Result, settings};

use crate::failed;

/// The longest time of a sandbox that any team may ask for, in seconds.
const LONGEST: u64 = 24 * 60 * 60;
/// The shortest one: a third of it is how often it is renewed.
const SHORTEST: u64 = 6;

/// The settings, checked.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Secret.
    pub(crate) api_key: String,
    /// Without a slash at its end.
    pub(crate) api_url: String,
    /// Where sandboxes are reached when the answer does not say.
    pub(crate) domain: String,
    /// One place for all sandboxes.
    pub(crate) sandbox_url: Option<String>,
    pub(crate) template: String,
    /// None: the template's own.
    pub(crate) user: Option<String>,
    pub(crate) root: String,
    pub(crate) scratch: String,
    /// In seconds.
    pub(crate) timeout: u64,
    pub(crate) internet: bool,
    pub(crate) metadata: BTreeMap<String, String>,
}

impl Settings {
    pub(crate) fn read() -> Result<Self> {
        let domain = settings::get("domain").unwrap_or_else(|| "e2b.app".to_owned());
        if !is_host(&domain) {
            return Err(wrong("domain", "a host's name, as e2b.app"));
        }
        let api_url = match url("api-url")? {
            Some(url) => url,
            None => format!("https://api.{domain}"),
        };
        Ok(Self {
            api_key: settings::required("api-key")?,
            api_url,
            domain,
            sandbox_url: url("sandbox-url")?,
            template: settings::get("template").unwrap_or_else(|| "base".to_owned()),
            user: match settings::get("user") {
                Some(user) if user.is_empty() || user.contains([':', '\0']) => {
                    return Err(wrong("user", "a user of the template"));
                }
                user => user,
            },
            root: absolute("root", "/home/user/work")?,
            scratch: absolute("scratch", "/tmp")?,
            timeout: match settings::get("timeout").map(|text| text.parse()) {
                None => 300,
                Some(Ok(seconds @ SHORTEST..=LONGEST)) => seconds,
                Some(_) => {
                    let what = format!("a number of seconds, {SHORTEST} to {LONGEST}");
                    return Err(wrong("timeout", &what));
                }
            },
            internet: match settings::get("internet").as_deref() {
                None | Some("false") => false,
                Some("true") => true,
                Some(_) => return Err(wrong("internet", "true or false")),
            },
            metadata: match settings::get("metadata") {
                None => BTreeMap::new(),
                Some(text) => serde_json::from_str(&text).map_err(|_| {
                    wrong("metadata", r#"a JSON object of texts, as {"team": "red"}"#)
                })?,
            },
        })
    }
}

/// A setting that is a URL, without a slash at its end.
fn url(name: &str) -> Result<Option<String>> {
    let Some(url) = settings::get(name) else {
        return Ok(None);
    };
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://"));
    match rest {
        Some(rest) if !rest.is_empty() && !rest.contains(['?', '#', '@']) => {
            Ok(Some(url.trim_end_matches('/').to_owned()))
        }
        _ => Err(wrong(name, "a URL, as https://api.e2b.app")),
    }
}

/// A setting that is a path.
fn absolute(name: &str, usual: &str) -> Result<String> {
    let path = settings::get(name).unwrap_or_else(|| usual.to_owned());
    match path.starts_with('/') && !path.contains('\0') {
        true => Ok(path),
        false => Err(wrong(name, "an absolute path in the sandbox")),
    }
}

/// Whether a text can be put into a URL as its host, or as a part of it.
pub(crate) fn is_host(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    !text.is_empty() && text.bytes().all(is_part)
}

fn wrong(name: &str, what: &str) -> Error {
    let message = format!("the setting {name} must be {what}");
    failed(ErrorKind::InvalidArgument, message)
}
