//! Requests of a backend component to the hosts that its operator granted.
//!
//! ```
//! use belljar_guest::{http::{Request, Response}, testing};
//!
//! let answer = |request: &Request| {
//!     assert_eq!((request.method.as_str(), request.header("authorization")), ("POST", Some("Bearer t")));
//!     Ok(Response { status: 200, headers: Vec::new(), body: b"{\"id\":7}".to_vec() })
//! };
//! testing::with_http(answer, || {
//!     let response = Request::post("https://sandboxes.example/v1")
//!         .bearer("t")
//!         .json(&serde_json::json!({ "image": "debian" }))
//!         .send()?;
//!     assert_eq!(response.json::<serde_json::Value>()?["id"], 7);
//!     Ok::<(), belljar_guest::http::HttpError>(())
//! })?;
//! # Ok::<(), belljar_guest::http::HttpError>(())
//! ```

mod error;

use std::{borrow::Cow, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

pub use self::error::HttpError;
use crate::imports;

/// A request; [`send`](Self::send) sends it.
#[derive(Clone, PartialEq, Eq)]
#[must_use = "a request does nothing until it is sent"]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Absolute.
    pub url: String,
    /// In the order in which they go.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Empty where there is none.
    pub body: Vec<u8>,
    /// None: as long as the call lasts that the request belongs to.
    pub timeout: Option<Duration>,
}

impl std::fmt::Debug for Request {
    /// Leaves out what may be secret: the headers' values and the body.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &names)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// Begins a request.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: None,
        }
    }

    /// Begins a `GET`.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// Begins a `POST`.
    pub fn post(url: impl Into<String>) -> Self {
        Self::new("POST", url)
    }

    /// Begins a `PUT`.
    pub fn put(url: impl Into<String>) -> Self {
        Self::new("PUT", url)
    }

    /// Begins a `DELETE`.
    pub fn delete(url: impl Into<String>) -> Self {
        Self::new("DELETE", url)
    }

    /// Adds a header.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds a bearer's token.
    pub fn bearer(self, token: &str) -> Self {
        self.with_header("authorization", format!("Bearer {token}"))
    }

    /// Sends these bytes.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = bytes.into();
        self
    }

    /// Sends a value as JSON.
    ///
    /// # Panics
    /// The value has no form in JSON: a map whose keys are no texts.
    pub fn json(self, value: &impl Serialize) -> Self {
        let bytes = match serde_json::to_vec(value) {
            Ok(bytes) => bytes,
            Err(error) => panic!("the value has no form in JSON: {error}"),
        };
        self.with_header("content-type", "application/json")
            .body(bytes)
    }

    /// Gives it up after this long.
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// The first header of a name, where it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }

    /// Sends it, and reads the whole response. That the status tells of a failure is no error here.
    ///
    /// # Errors
    /// [`HttpError`] when there is no response.
    pub fn send(self) -> Result<Response, HttpError> {
        imports::send(self)
    }
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// 200 where all is well.
    pub status: u16,
    /// In the order in which they came; names in lower case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// All of it.
    pub body: Vec<u8>,
}

impl Response {
    /// Whether the status is between 200 and 299.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// The first header of a name, where it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }

    /// The body as text, with U+FFFD for what is not UTF-8.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The body, read as JSON.
    ///
    /// # Errors
    /// [`HttpError::BadResponse`] when it is no such value.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, HttpError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| HttpError::BadResponse(error.to_string()))
    }
}

fn first<'a>(headers: &'a [(String, Vec<u8>)], name: &str) -> Option<&'a str> {
    let found = headers
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(name));
    found.and_then(|(_, value)| std::str::from_utf8(value).ok())
}
