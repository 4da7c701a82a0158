//! The functions of `processes` in a case's directory.

use std::time::Duration;

use belljar_contract::{
    Result, RunOptions,
    processes::{Command, Ended, Execution, Outcome, Output, OutputStream, ProcessId},
};

use crate::{
    check::{self, Failure},
    fixture::Fixture,
};

/// A command from its parts.
pub(crate) fn argv(parts: &[&str]) -> Command {
    Command::Argv(parts.iter().map(ToString::to_string).collect())
}

/// A command from shell text.
pub(crate) fn shell(text: &str) -> Command {
    Command::Shell(text.to_owned())
}

/// Options with a time limit.
pub(crate) fn limited(milliseconds: u64) -> RunOptions {
    RunOptions {
        timeout: Some(milliseconds),
        ..RunOptions::default()
    }
}

/// Options with an input.
pub(crate) fn fed(stdin: impl Into<Vec<u8>>) -> RunOptions {
    RunOptions {
        stdin: stdin.into(),
        ..RunOptions::default()
    }
}

/// All that is kept of an output.
pub(crate) fn kept(output: &Output) -> Vec<u8> {
    [output.head.as_slice(), &output.tail].concat()
}

/// A program's shell text that adds a line to `beat` ten times a second, for ever.
pub(crate) const HEARTBEAT: &str = "while :; do echo beat >> beat; sleep 0.1 || sleep 1; done";

#[expect(
    clippy::missing_errors_doc,
    reason = "each has the errors of the contract's function of its name"
)]
impl Fixture {
    /// `processes.run`; without a directory, in the case's.
    pub async fn run(&self, command: Command, options: RunOptions) -> Result<Execution> {
        self.sandbox.run(command, self.placed(options)).await
    }

    /// `processes.run` of shell text with the default options.
    pub async fn sh(&self, text: &str) -> Result<Execution> {
        self.run(shell(text), RunOptions::default()).await
    }

    /// What shell text prints; it must exit with 0.
    pub async fn printed(&self, text: &str) -> Result<Vec<u8>, Failure> {
        let execution = self.sh(text).await?;
        check::eq(text, execution.outcome, Outcome::Exited(0))?;
        check::eq("bytes dropped", execution.stdout.dropped, 0)?;
        Ok(kept(&execution.stdout))
    }

    /// `processes.start`; without a directory, in the case's.
    pub async fn start(&self, command: Command, options: RunOptions) -> Result<ProcessId> {
        self.sandbox.start(command, self.placed(options)).await
    }

    /// `processes.start` of shell text with the default options.
    pub async fn start_sh(&self, text: &str) -> Result<ProcessId> {
        self.start(shell(text), RunOptions::default()).await
    }

    /// `processes.wait`, up to 20 seconds; a process that has not ended is a failure.
    pub async fn ended(&self, process: ProcessId) -> Result<Ended, Failure> {
        let wait = Duration::from_secs(20);
        match self.sandbox.wait(process, wait).await? {
            Some(ended) => Ok(ended),
            None => Err(Failure::wrong("the process has not ended within 20 s")),
        }
    }

    /// Everything that a started process prints on a stream until its end.
    pub async fn all_output(
        &self,
        process: ProcessId,
        stream: OutputStream,
    ) -> Result<Vec<u8>, Failure> {
        let (mut bytes, mut cursor) = (Vec::new(), 0);
        loop {
            let wait = Duration::from_secs(20);
            let chunk = self
                .sandbox
                .read_output(process, stream, cursor, 65_536, wait)
                .await?;
            check::eq("bytes dropped", chunk.dropped, 0)?;
            bytes.extend_from_slice(&chunk.bytes);
            if chunk.ended {
                return Ok(bytes);
            }
            check::that(
                !chunk.bytes.is_empty(),
                "nothing was printed within 20 s, and the output has not ended",
            )?;
            cursor = chunk.cursor;
        }
    }

    /// Waits until a started process has printed this much on standard output.
    pub async fn prints(&self, process: ProcessId, expected: &[u8]) -> Result<(), Failure> {
        let (mut bytes, mut cursor) = (Vec::new(), 0);
        while bytes.len() < expected.len() {
            let wait = Duration::from_secs(20);
            let chunk = self
                .sandbox
                .read_output(process, OutputStream::Stdout, cursor, 65_536, wait)
                .await?;
            check::that(
                !chunk.bytes.is_empty(),
                "the expected output did not come within 20 s",
            )?;
            bytes.extend_from_slice(&chunk.bytes);
            cursor = chunk.cursor;
        }
        check::same_bytes("the output", &bytes, expected)
    }

    /// Waits until the program that writes the file `beat` runs.
    pub async fn beats(&self, path: &str) -> Result<(), Failure> {
        for _ in 0..400 {
            if self.stat(path).await.is_ok_and(|info| info.size > 0) {
                return Ok(());
            }
            self.delay(25).await?;
        }
        Err(Failure::wrong(format!("nothing wrote {path} within 10 s")))
    }

    /// Requires that nothing writes to a file any more: a heartbeat is ten times a second.
    pub async fn still(&self, path: &str) -> Result<(), Failure> {
        let before = self.stat(path).await?.size;
        check::that(before > 0, "the program never ran, so nothing is known")?;
        self.delay(700).await?;
        let after = self.stat(path).await?.size;
        check::eq("the size of a dead program's heartbeat file", after, before)
    }

    fn placed(&self, mut options: RunOptions) -> RunOptions {
        if let Some(directory) = &options.directory {
            options.directory = Some(self.path(directory));
        } else if !self.prefix.is_empty() {
            options.directory = Some(self.path("."));
        }
        options
    }
}
