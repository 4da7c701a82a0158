//! A request as a component gave it, checked: it can frame no message, and reach no connection but its own.

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};

use super::client::{Failure, Request};

/// The longest URL; servers take some 8 KiB.
const URL_BYTES: usize = 16 << 10;
/// The most headers, and bytes of all of them: what servers take, and some.
const HEADERS: usize = 100;
const HEADER_BYTES: usize = 64 << 10;

/// Headers that frame a message or belong to a connection: what they say is the host's to say.
const OURS: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// The beginning of those that a proxy reads.
const OF_PROXIES: &str = "proxy-";

/// Headers that go along to another host: every other one could be a secret of the first.
pub(super) const ANYBODYS: [&str; 5] = [
    "accept",
    "accept-language",
    "content-language",
    "content-type",
    "user-agent",
];

/// A request that can be sent.
pub(super) struct Checked {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// Checks a request.
pub(super) fn check(request: Request, most: u64) -> Result<Checked, Failure> {
    let invalid = |message: &str| Err(Failure::Invalid(message.to_owned()));
    if request.body.len() as u64 > most {
        return Err(Failure::TooLarge);
    }
    let Ok(method) = Method::from_bytes(request.method.as_bytes()) else {
        return invalid("the method is none");
    };
    Ok(Checked {
        method,
        url: url(&request.url)?,
        headers: headers(request.headers)?,
        body: request.body,
    })
}

/// Reads an absolute URL.
pub(super) fn url(text: &str) -> Result<Url, Failure> {
    let invalid = |message: &str| Err(Failure::Invalid(message.to_owned()));
    if text.len() > URL_BYTES {
        return invalid("the URL is over 16 KiB");
    }
    let Ok(mut url) = Url::parse(text) else {
        return invalid("the URL is not absolute");
    };
    if !matches!(url.scheme(), "https" | "http") {
        return invalid("the URL is neither https nor http");
    }
    if !url.has_host() {
        return invalid("the URL has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return invalid("the URL has a user or a password; send a header");
    }
    // It is no part of a request.
    url.set_fragment(None);
    Ok(url)
}

fn headers(given: Vec<(String, Vec<u8>)>) -> Result<HeaderMap, Failure> {
    let bytes: usize = given
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    if given.len() > HEADERS || bytes > HEADER_BYTES {
        return Err(Failure::Invalid(
            "there are over 100 headers, or 64 KiB of them".to_owned(),
        ));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        // Neither name nor value can have a line end then.
        let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
            return Err(Failure::Invalid("a header's name is none".to_owned()));
        };
        if OURS.contains(&name.as_str()) || name.as_str().starts_with(OF_PROXIES) {
            let message = format!("the header {name} is the host's to send");
            return Err(Failure::Invalid(message));
        }
        let Ok(mut value) = HeaderValue::from_bytes(&value) else {
            let message =
                format!("the value of the header {name} has a line end, or another control");
            return Err(Failure::Invalid(message));
        };
        // Nothing shows it, and nothing keeps it.
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn request(url: &str, headers: &[(&str, &[u8])]) -> Request {
        let headers = headers.iter();
        Request {
            method: "GET".into(),
            url: url.into(),
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
                .collect(),
            body: b"1234".to_vec(),
            timeout: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_request_is_read() {
        let checked = check(request("https://a.example/x?y#z", &[("X-Key", b"k")]), 4);
        let Ok(checked) = checked else {
            panic!("it is one");
        };
        assert_eq!(checked.url.as_str(), "https://a.example/x?y");
        assert_eq!(checked.headers["x-key"], "k");
        assert!(checked.headers["x-key"].is_sensitive());
    }

    #[test]
    fn nothing_smuggles_a_header_or_a_message() {
        for name in [
            "Host",
            "content-length",
            "Transfer-Encoding",
            "CONNECTION",
            "te",
            "Proxy-Authorization",
            "proxy-connection",
            "upgrade",
            "a b",
            "a:b",
            "a\r\nHost",
            "",
        ] {
            let refused = check(request("https://a", &[(name, b"x")]), 9);
            assert!(matches!(refused, Err(Failure::Invalid(_))), "{name:?}");
        }
        for value in [&b"a\r\nHost: b"[..], b"a\nb", b"a\0b", b"\x7f"] {
            let refused = check(request("https://a", &[("x", value)]), 9);
            assert!(matches!(refused, Err(Failure::Invalid(_))), "{value:?}");
        }
        let many: Vec<(&str, &[u8])> = vec![("x", b"y"); HEADERS + 1];
        assert!(check(request("https://a", &many), 9).is_err());
    }

    #[test]
    fn a_url_is_absolute_and_without_a_password() {
        for bad in [
            "",
            "/x",
            "ftp://a/",
            "file:///etc/passwd",
            "https://u@a/",
            "https://u:p@a/",
            "https://",
            "data:,x",
        ] {
            assert!(url(bad).is_err(), "{bad:?}");
        }
        // Every spelling of an address is that address.
        for (text, host) in [
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
            ("https://EXAMPLE.com/", "example.com"),
        ] {
            let Ok(url) = url(text) else {
                panic!("{text}");
            };
            assert_eq!(url.host_str(), Some(host));
        }
    }

    #[test]
    fn a_body_has_a_limit() {
        let refused = check(request("https://a", &[]), 3);
        assert!(matches!(refused, Err(Failure::TooLarge)));
    }
}
