//! Writes a recording.

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{
    Backend, Context, Error, Request, Response, Result, Sandbox, async_trait, session::Description,
};

use super::{
    format::{Answered, Begun, Ending, Exchange, Header, Line},
    redact::Secrets,
};

/// Writes what tools ask and are answered. Cheap to clone; every clone writes to the same place.
///
/// A tool gets it by [`Tool::with_recorder`](crate::Tool::with_recorder). Its calls must come one after the other: a recording is a
/// sequence.
///
/// ```
/// use std::io::{Read, Seek};
///
/// use belljar::recording::{Recorder, Recording, Secrets};
///
/// let mut file = tempfile::tempfile()?;
/// let recorder = Recorder::new(file.try_clone()?, Secrets::default());
/// // tool.with_recorder(recorder.clone()).call(&sandbox, …)
/// recorder.finish()?;
///
/// file.rewind()?;
/// assert_eq!(Recording::read(std::io::BufReader::new(file))?.calls(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Recorder(Arc<Writer>);

struct Writer {
    secrets: Secrets,
    state: Mutex<State>,
}

struct State {
    to: Box<dyn Write + Send>,
    /// The first failure. What comes after it would be a recording with a hole.
    failed: Option<io::Error>,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a recording. A line is written at once, so what was recorded is there whatever ends the program.
    #[must_use]
    pub fn new(to: impl Write + Send + 'static, secrets: Secrets) -> Self {
        let state = Mutex::new(State {
            to: Box::new(to),
            failed: None,
        });
        let recorder = Self(Arc::new(Writer { secrets, state }));
        recorder.0.write(&Line::Recording(Header::ours()));
        recorder
    }

    /// Says whether all of it was written. A call is never failed by its recording.
    ///
    /// # Errors
    /// The first failure; what was to come after it is not in the recording.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.0.state();
        match state.failed.take() {
            Some(error) => Err(error),
            None => state.to.flush(),
        }
    }

    /// The sandbox of a call that begins.
    pub(crate) fn begin(&self, sandbox: &Sandbox, tool: &str, arguments: &str) -> Sandbox {
        let mut begun = Begun {
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            sandbox: Description::clone(&sandbox.describe()),
        };
        self.0.secrets.begun(&mut begun);
        self.0.write(&Line::Call(begun));
        sandbox.layered(|below| {
            Arc::new(Recorded {
                below,
                writer: Arc::clone(&self.0),
            })
        })
    }

    /// The call has ended.
    pub(crate) fn end(&self, ending: impl Into<Ending>) {
        let mut ending = ending.into();
        self.0.secrets.ending(&mut ending);
        self.0.write(&Line::End(ending));
    }
}

impl Writer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, line: &Line) {
        let mut state = self.state();
        if state.failed.is_some() {
            return;
        }
        let written = serde_json::to_vec(line)
            .map_err(io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                state.to.write_all(&text)
            });
        state.failed = written.err();
    }
}

/// The outermost layer: it sees what the tool sees.
struct Recorded {
    below: Arc<dyn Backend>,
    writer: Arc<Writer>,
}

#[async_trait]
impl Backend for Recorded {
    fn describe(&self) -> Arc<Description> {
        self.below.describe()
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let mut asked = request.clone();
        let result = self.below.call(context, request).await;
        let mut answer = Answered::from(result.clone());
        self.writer.secrets.request(&mut asked);
        self.writer.secrets.answered(&mut answer);
        self.writer.write(&Line::Exchange(Exchange {
            request: asked,
            answer,
        }));
        result
    }

    async fn close(&self) -> Result<(), Error> {
        self.below.close().await
    }
}
