//! The token that a request must carry.

use std::path::PathBuf;

use axum::http::{HeaderMap, header::AUTHORIZATION};
use clap::Args;

use crate::{ambient, failure::Failure};

/// The shortest token: 128 bits, were each byte as random as it can be.
const MIN_BYTES: usize = 16;
/// The longest token: with its header's name it fits into what a server reads of headers.
const MAX_BYTES: usize = 4096;

/// Says where the token is. It is never an argument: other users can read argument vectors.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TokenArguments {
    /// The file with the token that requests must carry: 16 bytes or more
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The variable of this command's environment with that token
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
}

impl TokenArguments {
    /// Reads the token.
    pub(crate) fn read(&self) -> Result<Token, Failure> {
        let (text, from) = match (&self.token_file, &self.token_env) {
            (Some(file), _) => {
                let from = format!("the token file {}", file.display());
                let read = ambient::read_file(file);
                (
                    read.map_err(|error| Failure::from(error).during(from.clone()))?,
                    from,
                )
            }
            (None, Some(name)) => {
                if name.contains('=') {
                    // The value may be the token: it is not repeated.
                    return Err(Failure::usage(
                        "--token-env takes a variable's name, not its value",
                    ));
                }
                let from = format!("the variable {name}");
                let value = ambient::variable(name)
                    .ok_or_else(|| Failure::usage(format!("{from} is not set")))?;
                (value.into_encoded_bytes(), from)
            }
            (None, None) => return Err(Failure::usage("there is no token")),
        };
        let text = text.trim_ascii();
        Token::new(text).map_err(|reason| {
            Failure::usage(format!("{from} has no usable token: {reason}")).hint(
                "make one: head -c 32 /dev/urandom | base64 > FILE, in a file that only you can read",
            )
        })
    }
}

/// A token, as its digest: what is kept cannot leak it, and digests compare in constant time.
#[derive(Clone)]
pub(crate) struct Token(blake3::Hash);

impl Token {
    fn new(text: &[u8]) -> Result<Self, String> {
        if text.len() < MIN_BYTES {
            return Err(format!("it is shorter than {MIN_BYTES} bytes"));
        }
        if text.len() > MAX_BYTES {
            return Err(format!("it is longer than {MAX_BYTES} bytes"));
        }
        if !text.iter().all(u8::is_ascii_graphic) {
            return Err("it has characters that a header cannot carry".into());
        }
        Ok(Self(blake3::hash(text)))
    }

    /// Whether a request carries it: `Authorization: Bearer TOKEN`.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return false;
        };
        let Some((scheme, token)) = value.as_bytes().split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && blake3::hash(token) == self.0
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn the_token_alone_is_let_in() {
        let token = Token::new(b"0123456789abcdef").unwrap();
        let with = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_static(value));
            }
            token.is_in(&headers)
        };
        assert!(with(&["Bearer 0123456789abcdef"]));
        assert!(with(&["bearer 0123456789abcdef"]));
        for wrong in [
            &[][..],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["0123456789abcdef"],
            &["Basic 0123456789abcdef"],
            &["Bearer 0123456789abcdeF"],
            &["Bearer 0123456789abcdef0"],
            &["Bearer 0123456789abcde"],
            &["Bearer 0123456789abcdef", "Bearer 0123456789abcdef"],
        ] {
            assert!(!with(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused() {
        for text in [
            &b""[..],
            b"0123456789abcde",
            b"0123456789 abcdef",
            &[b'a'; 5000],
        ] {
            assert!(Token::new(text).is_err());
        }
    }
}
