//! A program in a container by its engine's `exec`: what is left where no resident runs.

use std::{
    io::{Read, Write as _},
    process::{Child, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use belljar_contract::{
    Context, async_trait,
    processes::{Execution, Outcome, Output},
};
use belljar_workspace::processes::HeadAndTail;

use super::{
    super::program::{Event, closed, kill, watch},
    ContainerEngine, ContainerFate,
    arguments::{self, Exec as ExecArguments},
    cli::Cli,
    start::Starter,
};
use crate::backends::posix::{Exec, ExecCall, ExecError};

/// How long what was printed may take to come after the program's end.
const DRAIN: Duration = Duration::from_millis(500);
/// How long the engine's program may take to end when its call has.
const GRACE: Duration = Duration::from_millis(60);

/// Takes what a program leaves of its input. Of one that ends before its input was taken, podman 4.3 shows nothing
/// that it printed, more often than not, and tells success.
const TO_THE_END: &str = r#""$@"; code=$?; cat >/dev/null; exit "$code""#;

/// Runs programs in a container.
pub(super) struct EngineExec {
    pub(super) starter: Arc<Starter>,
    pub(super) container: String,
}

#[async_trait]
impl Exec for EngineExec {
    async fn exec(&self, context: &Context, call: ExecCall) -> Result<Execution, ExecError> {
        let (starter, container) = (Arc::clone(&self.starter), self.container.clone());
        let context = context.child();
        // When this future is dropped, the program is not wanted any more.
        let _cancel = OnDrop(context.clone());
        let bounded = context.clone();
        // Always on another thread: whoever waits for a program must be able to run one that ends it.
        let (answer, answered) = tokio::sync::oneshot::channel();
        thread::Builder::new()
            .name("belljar-exec".into())
            // Nobody waits any more when it is not received.
            .spawn(move || drop(answer.send(run(&starter, &container, &bounded, call))))
            .map_err(|error| ExecError::Busy {
                message: error.to_string(),
            })?;
        answered
            .await
            .unwrap_or_else(|_| Err(failed("the thread that waited for it is gone")))
    }
}

struct OnDrop(Context);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.cancellation().cancel();
    }
}

fn failed(error: impl ToString) -> ExecError {
    ExecError::Failed {
        message: error.to_string(),
    }
}

fn run(
    starter: &Starter,
    container: &str,
    context: &Context,
    call: ExecCall,
) -> Result<Execution, ExecError> {
    let loses = starter.cli.engine() == ContainerEngine::Podman && !call.stdin.is_empty();
    let before: &[&str] = match loses {
        true => &["sh", "-c", TO_THE_END, "sh"],
        false => &[],
    };
    let program = call.argv.iter().map(String::as_str);
    let command: Vec<&str> = before.iter().copied().chain(program).collect();
    let arguments = arguments::exec(&ExecArguments {
        container,
        directory: "/",
        user: None,
        variables: &[],
        command: &command,
    });
    let patience = starter.options.patience;
    let unavailable = |fate: ContainerFate, said: &Output| ExecError::Unavailable {
        message: format!("{fate}: {}", said.to_text().trim()),
    };
    let ended = Program::start(&starter.cli, &arguments, call.stdin, call.output_limit)
        .map_err(failed)?
        .end(context, patience, || starter.cli.ended(container));
    let execution = match ended {
        Ended::Program(execution) => execution,
        Ended::Container(fate, said) => return Err(unavailable(fate, &said)),
    };
    // The engine's program fails with the codes that others have too. Whoever says nothing may not have run.
    let silent = execution.stdout.head.is_empty() && !execution.outcome.success();
    let stopped = matches!(execution.outcome, Outcome::TimedOut | Outcome::Cancelled);
    if silent
        && !stopped
        && let Some(fate) = starter.cli.ended(container)
    {
        return Err(unavailable(fate, &execution.stderr));
    }
    Ok(execution)
}

/// What a call of the engine's program ended with.
enum Ended {
    Program(Execution),
    /// Nobody answers any more; and what was said on standard error.
    Container(ContainerFate, Output),
}

/// The engine's program, with the threads that move its bytes.
struct Program {
    child: Child,
    outputs: [Arc<Mutex<HeadAndTail>>; 2],
    events: Receiver<Event>,
    sender: Sender<Event>,
}

impl Program {
    fn start(
        cli: &Cli,
        arguments: &[String],
        input: Vec<u8>,
        output_limit: u64,
    ) -> std::io::Result<Self> {
        let mut command = cli.command(arguments);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (sender, events) = channel();
        let limit = usize::try_from(output_limit).unwrap_or(usize::MAX);
        let outputs = [(); 2].map(|()| Arc::new(Mutex::new(HeadAndTail::new(limit))));
        if let Some(mut pipe) = child.stdin.take() {
            // A program that does not read its input is no error.
            thread::spawn(move || drop(pipe.write_all(&input)));
        }
        let [stdout, stderr] = &outputs;
        if let Some(pipe) = child.stdout.take() {
            fill(Arc::clone(stdout), pipe, closed(&sender));
        }
        if let Some(pipe) = child.stderr.take() {
            fill(Arc::clone(stderr), pipe, closed(&sender));
        }
        watch(&mut child, sender.clone());
        Ok(Self {
            child,
            outputs,
            events,
            sender,
        })
    }

    /// Waits until it has ended, or its call has; each time that nothing has happened for as long as `patience`,
    /// it is asked whether there is still something to wait for.
    fn end(
        mut self,
        context: &Context,
        patience: Duration,
        lost: impl Fn() -> Option<ContainerFate>,
    ) -> Ended {
        let began = context.now();
        let cancelled = Mutex::new(self.sender.clone());
        let _registration = context.cancellation().on_cancel(move || {
            let sender = cancelled.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(Event::Cancelled);
        });
        let (mut open, mut exited, mut stopped) = (2, false, None);
        let mut until: Option<Duration> = None;
        let mut fate = None;
        while open > 0 || !exited {
            let left = match until {
                Some(until) => Some(until.saturating_sub(context.now())),
                None => context.remaining(),
            };
            let asks = until.is_none() && left.is_none_or(|left| left > patience);
            let wait = left.filter(|_| !asks).unwrap_or(patience);
            match self.events.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) if asks => {
                    fate = lost();
                    if fate.is_some() {
                        break;
                    }
                }
                event @ (Ok(Event::Cancelled) | Err(RecvTimeoutError::Timeout))
                    if until.is_none() =>
                {
                    stopped = Some(match event {
                        Ok(_) => Outcome::Cancelled,
                        Err(_) => Outcome::TimedOut,
                    });
                    terminate(&self.child);
                    until = Some(context.now().saturating_add(GRACE));
                }
                Ok(Event::Closed) => open -= 1,
                Ok(Event::Exited) => {
                    exited = true;
                    until = Some(context.now().saturating_add(DRAIN));
                }
                Ok(Event::Cancelled) => {}
                Err(_) => break,
            }
        }
        if !exited || open > 0 {
            kill(&mut self.child);
        }
        let status = self.child.wait();
        let code = status.ok().and_then(|status| status.code());
        let [stdout, stderr] = self.outputs.map(|output| taken(&output));
        if let Some(fate) = fate {
            return Ended::Container(fate, stderr);
        }
        Ended::Program(Execution {
            outcome: stopped.unwrap_or(Outcome::Exited(code.unwrap_or(255))),
            stdout,
            stderr,
            duration: context.now().saturating_sub(began),
        })
    }
}

/// Asks the engine's program to end: it passes on the end of its input.
fn terminate(child: &Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = child;
}

fn fill(
    output: Arc<Mutex<HeadAndTail>>,
    mut from: impl Read + Send + 'static,
    then: impl FnOnce() + Send + 'static,
) {
    thread::spawn(move || {
        let mut piece = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            output.push(&piece[..count]);
        }
        then();
    });
}

/// What was kept until now.
fn taken(output: &Mutex<HeadAndTail>) -> Output {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *output, HeadAndTail::new(0)).into_output()
}
