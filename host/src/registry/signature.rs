//! Who vouches for a component.

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use minisign_verify::{Error as Invalid, PublicKey, Signature};

/// How the trusted comment says until when a signature counts.
const EXPIRES: &str = "expires:";

/// The longest signature that is looked at: four lines, and a comment in two of them.
pub(super) const MAX_SIGNATURE_BYTES: usize = 16 << 10;

/// A public key that components may be signed with.
///
/// ```
/// use belljar::registry::TrustedKey;
///
/// // The second line of the file that `minisign -G` writes.
/// let key: TrustedKey = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3".parse()?;
/// # Ok::<(), belljar::registry::SignatureError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TrustedKey {
    key: PublicKey,
    text: String,
}

impl std::str::FromStr for TrustedKey {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        let key = PublicKey::from_base64(text.trim()).map_err(|_| SignatureError::BadKey)?;
        Ok(Self {
            key,
            text: text.trim().to_owned(),
        })
    }
}

impl fmt::Debug for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustedKey({})", self.text)
    }
}

/// Why a component is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is no public key.
    #[error(
        "it is no public key of minisign's; one is a line of 56 characters that begins with RW"
    )]
    BadKey,
    /// There is no signature.
    #[error("it has no signature, and one is required")]
    Missing,
    /// What is there is no signature.
    #[error("its signature is no text of minisign's")]
    Malformed,
    /// It was made with a key that is not trusted.
    #[error("it is signed with a key that is not among the trusted ones ({})", if known.is_empty() { "there are none".to_owned() } else { known.join(", ") })]
    UnknownKey {
        /// The names of the trusted keys.
        known: Vec<String>,
    },
    /// It is no signature of these bytes.
    #[error("its signature is not one of these bytes; they were changed, or it belongs to others")]
    Invalid,
    /// Its time is over.
    #[error("its signature expired {}; it must be signed anew", ago(*by))]
    Expired {
        /// How long ago.
        by: Duration,
    },
}

fn ago(by: Duration) -> String {
    let (days, hours) = (by.as_secs() / 86_400, by.as_secs() / 3600);
    match (days, hours) {
        (0, 0) => format!("{} minutes ago", by.as_secs() / 60),
        (0, hours) => format!("{hours} hours ago"),
        (days, _) => format!("{days} days ago"),
    }
}

/// The keys that are trusted, by a name for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedKeys(BTreeMap<String, TrustedKey>);

impl FromIterator<(String, TrustedKey)> for TrustedKeys {
    fn from_iter<I: IntoIterator<Item = (String, TrustedKey)>>(keys: I) -> Self {
        Self(keys.into_iter().collect())
    }
}

impl TrustedKeys {
    /// Whether no key is trusted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of the key that these bytes are signed with.
    ///
    /// # Errors
    /// [`SignatureError`] unless the signature is of these bytes, by a trusted key, and counts at this moment.
    pub fn verify(
        &self,
        bytes: &[u8],
        signature: Option<&str>,
        now: SystemTime,
    ) -> Result<&str, SignatureError> {
        let text = signature.ok_or(SignatureError::Missing)?;
        if text.len() > MAX_SIGNATURE_BYTES {
            return Err(SignatureError::Malformed);
        }
        let signature = Signature::decode(text).map_err(|_| SignatureError::Malformed)?;
        for (name, TrustedKey { key, .. }) in &self.0 {
            match key.verify(bytes, &signature, false) {
                Ok(()) => {
                    check_expiry(signature.trusted_comment(), now)?;
                    return Ok(name);
                }
                // Another one may have this number.
                Err(Invalid::UnexpectedKeyId) => {}
                Err(Invalid::InvalidSignature) => return Err(SignatureError::Invalid),
                Err(_) => return Err(SignatureError::Malformed),
            }
        }
        Err(SignatureError::UnknownKey {
            known: self.0.keys().cloned().collect(),
        })
    }
}

/// What the signer signed of the time. An end that cannot be read is one that has come.
fn check_expiry(comment: &str, now: SystemTime) -> Result<(), SignatureError> {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let ends = comment
        .split_ascii_whitespace()
        .filter_map(|word| word.strip_prefix(EXPIRES));
    for end in ends {
        let end = end.parse().map(Duration::from_secs);
        let end = end.map_err(|_| SignatureError::Malformed)?;
        if end <= now {
            return Err(SignatureError::Expired { by: now - end });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a key that was made for these tests and thrown away; so are the signatures, of the bytes `component`.
    const ADA: &str = "RWTkOxSkUyjUGKf6YaL7wyGgwk90tPce+RbibJufbHch/EeXzxJRY4BX";
    const GOOD: &str = "\
untrusted comment: signature from minisign secret key
RUTkOxSkUyjUGK9LbTBzDr148cNaxTz2YRMR650E19bw2qaWWFEQYIXLPncRA2fY6oOgnC3N8DdIC0bW+vlsHgVZHMx99vUFuwg=
trusted comment: file:a.wasm
babdz75UWS/tCS6xLsLs17BUBoVRswDJvH+yKwephuHlXwEwUKXsPC4QbUJltNxQR7jmjyTQNvLI60Jgk9E0Ag==";
    const LATER: &str = "\
untrusted comment: signature from minisign secret key
RUTkOxSkUyjUGK9LbTBzDr148cNaxTz2YRMR650E19bw2qaWWFEQYIXLPncRA2fY6oOgnC3N8DdIC0bW+vlsHgVZHMx99vUFuwg=
trusted comment: expires:1800000001
6m8nll5YVZU6+ktBcfC0CXBHflRM9E7HFlnFaeIQjqB8qVJ5NmYlMjvnAReYzpqjjULBb/NV6epM/vTINRYCAw==";
    const EXPIRED: &str = "\
untrusted comment: signature from minisign secret key
RUTkOxSkUyjUGK9LbTBzDr148cNaxTz2YRMR650E19bw2qaWWFEQYIXLPncRA2fY6oOgnC3N8DdIC0bW+vlsHgVZHMx99vUFuwg=
trusted comment: a expires:1799999940 b
BmR4SwRo+w9SGEFHVrnX+cOkMAmrw9Vv29xfeACoU7eABtODxb4xP6U7TRGIbEetFCu3JXQjC9ODTz+x3BGgCA==";
    const UNREADABLE: &str = "\
untrusted comment: signature from minisign secret key
RUTkOxSkUyjUGK9LbTBzDr148cNaxTz2YRMR650E19bw2qaWWFEQYIXLPncRA2fY6oOgnC3N8DdIC0bW+vlsHgVZHMx99vUFuwg=
trusted comment: expires:soon
t6B/gjPpateago7EzMV4o11We4jlp5jJCRjgP56maALU5c+E2oIjwLzdSJeLxKFtZR2TTf4Shk+AWJU+O3f+Ag==";
    const EVE: &str = "\
untrusted comment: signature from minisign secret key
RUROCAUGa3aaL5TlTiFRmED3BnmdUe6u0szDhyZymDa5HI67MnObPshhTvgJCIkbXouNR2yNKE6eG2WLH2b2xYEIEQF9buo1SwQ=
trusted comment: file:a.wasm
1czypWOO/8MyS9JOFCx874tki6jsy6jlg8UdoLj4q6aDZpwVZTU6Vy/ZgOUVsq8CuIuSi0N1XCMnoUKek1ViDw==";
    const LEGACY: &str = "\
untrusted comment: signature from minisign secret key
RWTkOxSkUyjUGDzCaQkV7WsszLFVS0ZokqrnGbh9ka7ruMQqe16KY5EzLrZGTsKAwPiKDc2fx+89420KWp4u2/6F5Y8zZvynyQ8=
trusted comment: x
QnpUh8Q1hGiFXO6ylU9igEJBoo8O6JSbrBMikyorw6dTQ+t48CBH0sNQd/fVw8+aO0h21V20FLFNpLOwBtfGAw==";

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    #[test]
    fn only_a_trusted_signature_of_these_bytes_counts_and_only_in_its_time() {
        let keys = TrustedKeys::from_iter([("ada".to_owned(), ADA.parse().unwrap())]);
        let now = UNIX_EPOCH + NOW;
        let verify = |bytes: &[u8], signature: Option<&str>| {
            keys.verify(bytes, signature, now).map(str::to_owned)
        };
        for good in [GOOD, LATER] {
            assert_eq!(verify(b"component", Some(good)), Ok("ada".into()));
        }
        let expired = SignatureError::Expired {
            by: Duration::from_secs(60),
        };
        let unknown = SignatureError::UnknownKey {
            known: vec!["ada".into()],
        };
        // Who changes the comment has no signature any more.
        let forged = EXPIRED.replace("1799999940", "1900000000");
        let long = "x".repeat(MAX_SIGNATURE_BYTES + 1);
        for (bytes, signature, wrong) in [
            ("component", None, SignatureError::Missing),
            ("another", Some(GOOD), SignatureError::Invalid),
            ("component", Some(&*forged), SignatureError::Invalid),
            ("component", Some(EXPIRED), expired),
            ("component", Some(EVE), unknown),
            ("component", Some(UNREADABLE), SignatureError::Malformed),
            // It signs the bytes as they are, which invites to sign what one has not seen.
            ("component", Some(LEGACY), SignatureError::Malformed),
            ("component", Some(""), SignatureError::Malformed),
            ("component", Some("RW"), SignatureError::Malformed),
            ("component", Some(&*long), SignatureError::Malformed),
        ] {
            assert_eq!(verify(bytes.as_bytes(), signature), Err(wrong));
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for bad in ["", "RW", "untrusted comment: x"] {
            assert_eq!(bad.parse::<TrustedKey>(), Err(SignatureError::BadKey));
        }
    }
}
