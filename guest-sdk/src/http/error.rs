//! Why there is no response, or none that can be used.

use crate::{Error, ErrorKind, Operation, lend::Failure};

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpError {
    /// The grant has no such host, port or method, or the address is private.
    Denied(String),
    /// The request is malformed.
    Invalid(String),
    /// No connection, or it broke.
    Unreachable(String),
    /// The request's time limit passed.
    TimedOut,
    /// The call that the request belongs to is over. A moment is left to end what goes on at the other side, and to
    /// fetch what came of it: requests are sent as before.
    Stopped,
    /// The body is over the limit.
    TooLarge,
    /// The response is not what it should be.
    BadResponse(String),
}

impl std::fmt::Display for HttpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Denied(message) => write!(f, "the request is not granted: {message}"),
            Self::Invalid(message) => write!(f, "the request is malformed: {message}"),
            Self::Unreachable(message) => write!(f, "the other side is not reached: {message}"),
            Self::TimedOut => f.write_str("the other side did not answer in time"),
            Self::Stopped => f.write_str("the call is over"),
            Self::TooLarge => f.write_str("the body is over the limit"),
            Self::BadResponse(message) => {
                write!(f, "the response is not what it should be: {message}")
            }
        }
    }
}

impl std::error::Error for HttpError {}

impl HttpError {
    /// The contract's kind for it.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Unreachable(_) | Self::TimedOut => ErrorKind::BackendUnavailable,
            Self::Stopped => ErrorKind::Cancelled,
            Self::TooLarge => ErrorKind::TooLarge,
            Self::Denied(_) | Self::Invalid(_) | Self::BadResponse(_) => ErrorKind::BackendFailed,
        }
    }

    /// The contract's error for it.
    #[must_use]
    pub fn during(self, operation: Operation) -> Error {
        Error::new(self.kind(), operation, self.to_string())
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Unreachable(_) | HttpError::TimedOut => Self::Unavailable(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}
