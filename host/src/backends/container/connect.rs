//! Has an engine start a container, and opens a session with its resident.

use std::{
    sync::mpsc::{TryRecvError, channel},
    time::Duration,
};

use belljar_contract::Context;
use belljar_protocol::{Client, Patience, Stream, message::Open};

use super::{
    attached::Attached, meeting::Meeting, not_started::Failed, running::Running, start::Starter,
};

/// How long after its start a container's resident may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// After this long it is looked whether the container still runs.
const LOOK_AFTER: Duration = Duration::from_secs(1);
/// How long a program whose stream has ended may take to end and say why.
const SAY_WHY: Duration = Duration::from_secs(2);

impl Starter {
    /// Has the engine's program start a container, and opens a session with who comes.
    pub(super) fn met(
        &self,
        context: &Context,
        meeting: Meeting,
        arguments: &[String],
        container: &str,
    ) -> Result<Running, Failed> {
        let stream = self.meet(context, meeting, arguments, container)?;
        let client = self.open(context, stream)?;
        Ok(Running::new(client, container, None))
    }

    /// Has the engine's program start a container, and opens a session over what it carries.
    pub(super) fn attached(
        &self,
        context: &Context,
        arguments: &[String],
        container: &str,
    ) -> Result<Running, Failed> {
        let (attached, stream) = Attached::start(&self.cli, arguments)?;
        match self.open(context, stream) {
            Ok(client) => Ok(Running::new(client, container, Some(attached))),
            // The program knows more of it than that its output has ended.
            Err(failed) => Err(match attached.end(SAY_WHY) {
                Err(said) if !failed.is_stop() => Failed::Cli(said),
                _ => failed,
            }),
        }
    }

    /// Runs the engine's program, and waits for whom it starts.
    fn meet(
        &self,
        context: &Context,
        meeting: Meeting,
        arguments: &[String],
        container: &str,
    ) -> Result<Stream, Failed> {
        std::thread::scope(|scope| {
            let (tell, told) = channel();
            let cancelled = context.child();
            let cancellation = cancelled.cancellation().clone();
            scope.spawn(move || {
                let limit = self.options.start_timeout;
                // When nobody listens, the answer is no longer wanted.
                let _ = tell.send(self.cli.ask(&cancelled, arguments, limit));
            });
            let (mut started, mut looked) = (None, false);
            let stream = meeting.wait(context, || match told.try_recv() {
                Ok(Ok(_)) => {
                    started = Some(context.now());
                    Ok(())
                }
                Ok(Err(error)) => Err(Failed::Cli(error)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => match started {
                    Some(at) if context.now() - at > CONNECT_TIMEOUT => Err(Failed::Silent),
                    Some(at) if !looked && context.now() - at > LOOK_AFTER => {
                        looked = true;
                        match self.cli.state(context, container) {
                            Ok(Some(state)) if state.may_work() => Ok(()),
                            Ok(_) => Err(Failed::Silent),
                            Err(error) => Err(Failed::Cli(error)),
                        }
                    }
                    _ => Ok(()),
                },
            });
            // Where the resident is there, the program has nothing more to say that is waited for; it
            // ends by itself. Where it is not, it is ended.
            if stream.is_err() {
                cancellation.cancel();
            }
            Ok(Stream::try_from(stream?)?)
        })
    }

    fn open(&self, context: &Context, stream: Stream) -> Result<Client, Failed> {
        let variables = self.options.environment.clone();
        let open = Open {
            root: self.options.cwd.clone(),
            variables: variables.into_iter().collect(),
            limits: self.options.limits,
            silence: None,
        };
        // A third of it until it is asked whether it lives: a question costs next to nothing.
        let quiet = self.options.patience / 3;
        let patience = Patience {
            quiet,
            silent: self.options.patience - quiet,
        };
        let (client, _) = Client::open_with(context, stream, &open, patience)?;
        Ok(client)
    }
}
