//! How a session is opened: both ends say which protocol they speak, then the host says what it wants.

use std::sync::{Arc, Mutex};

use belljar_contract::{Context, Stop};

use super::{
    Client, Patience, io,
    state::{Ended, State},
    wait::Wait,
};
use crate::{
    budget::decode,
    encoded::Encoded,
    frame::Malformed,
    message::{Answer, Ask, OPEN_CALL, Open, Opened, VERSION},
    size::{OPEN_BYTES, OPENING, bounds},
    stream::Stream,
    wake::Waker,
};

/// Why a stream is no session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// What answers is no resident.
    #[error("what answers does not speak the sandbox protocol; it began with {0:?}")]
    NotOurs(String),
    /// A resident of another version answers.
    #[error(
        "the resident speaks version {0} of the sandbox protocol, and this host version {VERSION}; \
         use the resident that belongs to the host"
    )]
    OtherVersion(u8),
    /// The resident says why.
    #[error("the resident cannot open the session: {0}")]
    Refused(String),
    /// What the resident is told is too much.
    #[error("the session's variables are over the {OPEN_BYTES} bytes that the opening may have")]
    TooLarge,
    /// Nothing came in time.
    #[error("the resident did not answer in time")]
    TimedOut,
    /// The call that opens was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The stream ended or broke.
    #[error("the stream to the resident ended: {0}")]
    Lost(String),
}

impl Client {
    /// Opens a session over a stream.
    ///
    /// # Errors
    /// [`OpenError`], at the latest at the context's deadline.
    pub fn open(
        context: &Context,
        stream: Stream,
        open: &Open,
    ) -> Result<(Self, Opened), OpenError> {
        Self::open_with(context, stream, open, Patience::default())
    }

    /// The same with another patience.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        context: &Context,
        stream: Stream,
        open: &Open,
        patience: Patience,
    ) -> Result<(Self, Opened), OpenError> {
        let (outgoing, mut incoming) = io::split(stream, patience)?;
        let waker = Arc::new(Waker::new()?);
        let woken = Arc::clone(&waker);
        let _registration = context.cancellation().on_cancel(move || woken.wake());
        let wait = Wait {
            waker: &waker,
            context,
        };
        let lost = |malformed: Malformed| OpenError::Lost(malformed.to_string());
        let asked = Encoded::new(&Ask::Open(open.clone())).map_err(lost)?;
        if asked.bytes() > OPEN_BYTES {
            return Err(OpenError::TooLarge);
        }
        // What has ended already may have said why.
        let sent = outgoing.preamble(&wait);
        incoming.preamble(&wait)?;
        sent?;
        outgoing.message(OPEN_CALL, asked, &wait)?;
        let bytes = incoming.first_message(&wait)?;
        let opened = match decode(&bytes, OPENING.memory).map_err(lost)? {
            Answer::Opened(opened) => opened,
            Answer::Refused(reason) => return Err(OpenError::Refused(reason)),
            Answer::Call(_) | Answer::Probed(_) => {
                let reason = "it answered a call that was not made";
                return Err(OpenError::Lost(reason.to_owned()));
            }
        };
        incoming.set_bounds(bounds(&open.limits));
        let client = Self {
            outgoing,
            waker,
            limits: open.limits,
            state: Mutex::new(State::new(incoming)),
        };
        Ok((client, opened))
    }
}

impl From<Ended> for OpenError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped(Stop::TimedOut) => Self::TimedOut,
            Ended::Stopped(Stop::Cancelled) => Self::Cancelled,
            other => Self::Lost(other.to_string()),
        }
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}
