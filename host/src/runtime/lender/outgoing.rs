//! What a component may ask of the network, as whoever grants it gives it.

use belljar_contract::Context;

/// A request, as the component makes it; nothing in it has been looked at.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    /// In milliseconds.
    pub(crate) timeout: u64,
}

/// A response.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no response; the same as in the contract.
pub(crate) enum HttpError {
    Denied(String),
    Invalid(String),
    Unreachable(String),
    TimedOut,
    Stopped,
    TooLarge,
}

/// Sends what is granted.
pub(crate) trait Outgoing: Send + Sync {
    /// Sends a request and waits on this thread; at once at an end when the context is.
    ///
    /// # Errors
    /// [`HttpError::Stopped`] when the context was over first.
    fn send(&self, context: &Context, request: HttpRequest) -> Result<HttpResponse, HttpError>;
}
