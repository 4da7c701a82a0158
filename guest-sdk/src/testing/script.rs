//! Processes that a test plays: a function takes what is to be run and says what came of it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::{
    Error, ErrorKind, Launch, Operation, Result,
    processes::{Ended, Execution, Outcome, Output, OutputChunk, OutputStream, ProcessId},
};

/// What plays the programs.
pub(super) type Play = dyn Fn(&Launch) -> Result<Execution> + Send + Sync;

/// The end of a program that a script plays; [`exited`] makes one.
///
/// ```
/// use belljar_guest::{processes::Execution, testing::exited};
///
/// let execution = Execution::from(exited(1).with_stderr("no such branch\n"));
/// assert!(!execution.outcome.success());
/// ```
#[derive(Clone, Debug)]
pub struct Scripted(Execution);

/// Begins the end of a program that exited with this code, having printed nothing.
#[must_use]
pub fn exited(code: i32) -> Scripted {
    Scripted(Execution {
        outcome: Outcome::Exited(code),
        stdout: Output::default(),
        stderr: Output::default(),
        duration: Duration::ZERO,
    })
}

impl Scripted {
    /// What it printed on standard output.
    #[must_use]
    pub fn with_stdout(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.stdout.head = bytes.into();
        self
    }

    /// What it printed on standard error.
    #[must_use]
    pub fn with_stderr(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.stderr.head = bytes.into();
        self
    }

    /// How it ended instead.
    #[must_use]
    pub const fn with_outcome(mut self, outcome: Outcome) -> Self {
        self.0.outcome = outcome;
        self
    }
}

impl From<Scripted> for Execution {
    fn from(scripted: Scripted) -> Self {
        scripted.0
    }
}

/// The script, and the programs that were started by it: each has ended as soon as it is started.
#[derive(Clone, Default)]
pub(super) struct Script {
    play: Option<Arc<Play>>,
    started: Arc<Mutex<BTreeMap<u64, Execution>>>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script")
            .field("plays", &self.play.is_some())
            .field("started", &self.started().len())
            .finish()
    }
}

impl Script {
    pub(super) fn new(play: Arc<Play>) -> Self {
        Self {
            play: Some(play),
            started: Arc::default(),
        }
    }

    fn started(&self) -> MutexGuard<'_, BTreeMap<u64, Execution>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn play(&self, operation: Operation, launch: &Launch) -> Result<Execution> {
        let Some(play) = &self.play else {
            let message = "this sandbox in memory has no processes; give it a script with on_run";
            return Err(Error::new(ErrorKind::Unsupported, operation, message));
        };
        play(launch)
    }

    pub(super) fn run(&self, launch: &Launch) -> Result<Execution> {
        let mut execution = self.play(Operation::Run, launch)?;
        for output in [&mut execution.stdout, &mut execution.stderr] {
            let limit = usize::try_from(launch.output_limit).unwrap_or(usize::MAX);
            cut(output, limit.div_ceil(2), limit / 2);
        }
        Ok(execution)
    }

    pub(super) fn start(&self, launch: &Launch) -> Result<ProcessId> {
        let mut execution = self.play(Operation::Start, launch)?;
        for output in [&mut execution.stdout, &mut execution.stderr] {
            // What a started process printed last is kept.
            let limit = usize::try_from(launch.output_limit).unwrap_or(usize::MAX);
            cut(output, 0, limit);
        }
        let mut started = self.started();
        let id = started.len() as u64 + 1;
        started.insert(id, execution);
        Ok(ProcessId(id))
    }

    fn of(&self, operation: Operation, process: ProcessId) -> Result<Execution> {
        let found = self.started().get(&process.0).cloned();
        found.ok_or_else(|| {
            let message = format!("there is no process {}", process.0);
            Error::new(ErrorKind::NotFound, operation, message)
        })
    }

    pub(super) fn read_output(
        &self,
        process: ProcessId,
        output: OutputStream,
        cursor: u64,
        limit: u64,
    ) -> Result<OutputChunk> {
        let operation = Operation::ReadOutput;
        let execution = self.of(operation, process)?;
        let output = match output {
            OutputStream::Stdout => execution.stdout,
            OutputStream::Stderr => execution.stderr,
        };
        // A started process keeps what it printed last; what came before is gone.
        let held = if output.dropped == 0 {
            [output.head.as_slice(), &output.tail].concat()
        } else {
            output.tail
        };
        let gone = match output.dropped {
            0 => 0,
            dropped => dropped + output.head.len() as u64,
        };
        let end = gone + held.len() as u64;
        if cursor > end {
            let message = "the cursor is past what was printed";
            return Err(Error::new(ErrorKind::InvalidArgument, operation, message));
        }
        let from = cursor.max(gone);
        let position = |at: u64| usize::try_from(at - gone).unwrap_or(held.len());
        let to = end.min(from.saturating_add(limit));
        Ok(OutputChunk {
            bytes: held[position(from)..position(to)].to_vec(),
            cursor: to,
            dropped: from - cursor,
            ended: to == end,
        })
    }

    /// Nothing reads it any more.
    pub(super) fn write_input(&self, process: ProcessId) -> Result<()> {
        self.of(Operation::WriteInput, process)?;
        let message = "the program has ended";
        Err(Error::new(
            ErrorKind::Closed,
            Operation::WriteInput,
            message,
        ))
    }

    pub(super) fn signal(&self, process: ProcessId) -> Result<()> {
        self.of(Operation::Signal, process).map(|_| ())
    }

    pub(super) fn wait(&self, process: ProcessId) -> Result<Ended> {
        let execution = self.of(Operation::Wait, process)?;
        Ok(Ended {
            outcome: execution.outcome,
            duration: execution.duration,
        })
    }
}

/// Keeps the `first` and the `last` bytes of what is longer than both.
fn cut(output: &mut Output, first: usize, last: usize) {
    if output.dropped > 0 || output.head.len() + output.tail.len() <= first.saturating_add(last) {
        return;
    }
    let mut whole = std::mem::take(&mut output.head);
    whole.append(&mut output.tail);
    output.tail = whole.split_off(whole.len() - last);
    output.dropped = (whole.len() - first) as u64;
    whole.truncate(first);
    output.head = whole;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ends_of_a_long_output_are_kept() {
        let mut output = Execution::from(exited(0).with_stdout("0123456789")).stdout;
        cut(&mut output, 3, 2);
        let right = Output {
            head: b"012".to_vec(),
            tail: b"89".to_vec(),
            dropped: 5,
        };
        assert_eq!(output, right);
        cut(&mut output, 0, 0);
        assert_eq!(output, right);
        let mut short = Execution::from(exited(0).with_stdout("01234")).stdout;
        cut(&mut short, 3, 2);
        assert_eq!((short.head.len(), short.dropped), (5, 0));
    }
}
