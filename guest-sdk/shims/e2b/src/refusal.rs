//! What the other side's errors come to.

use belljar_guest::{http::Response, lend::Failure};
use serde::Deserialize;

/// As much of an error's words as is passed on.
const WORDS: usize = 500;

/// An error of the API, of what serves in a sandbox, of the proxy before it, or of the Connect protocol: all have this.
#[derive(Deserialize)]
struct Told {
    message: String,
}

/// An error's status and its own words, at most a few hundred characters.
pub(crate) fn words(response: &Response) -> String {
    let told = serde_json::from_slice::<Told>(&response.body);
    let words = match told {
        Ok(told) => told.message,
        Err(_) => response.text().into_owned(),
    };
    format!("{} (status {})", shortened(&words), response.status)
}

pub(crate) fn shortened(words: &str) -> String {
    words.trim().chars().take(WORDS).collect()
}

/// The failure that a status of what is in a sandbox tells of.
pub(crate) fn failure(response: &Response) -> Failure {
    let words = words(response);
    match response.status {
        // The proxy, when there is no such sandbox, or nothing serves in it.
        502 => Failure::Unavailable(words),
        429 => Failure::Busy(words),
        401 | 403 => Failure::Failed(format!("the sandbox refuses access: {words}")),
        _ => Failure::Failed(words),
    }
}

/// The failure that an error of the Connect protocol tells of.
pub(crate) fn refused(code: &str, message: &str) -> Failure {
    let words = format!("{} ({code})", shortened(message));
    match code {
        "unavailable" => Failure::Unavailable(words),
        "resource_exhausted" => Failure::Busy(words),
        "unauthenticated" | "permission_denied" => {
            Failure::Failed(format!("the sandbox refuses access: {words}"))
        }
        _ => Failure::Failed(words),
    }
}
