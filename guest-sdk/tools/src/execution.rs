//! A program's run, as `run` and `shell` answer with it: how it ended first, then its outputs.

use std::{borrow::Cow, collections::BTreeMap, fmt::Write as _, time::Duration};

use belljar_guest::{
    ToolError,
    processes::{Execution, Outcome, Output, Program},
};

use crate::{advice::advise, shown};

/// Bytes kept of each output when the call does not say: what a model can use of one answer.
const DEFAULT_OUTPUT_BYTES: u64 = 30_000;

/// What `run` and `shell` have in common.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) directory: Option<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) stdin: Option<String>,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) output_bytes: Option<u64>,
}

/// Runs a program and shows what became of it. A program that fails is an answer, not an error.
pub(crate) fn execute(mut program: Program, options: Options) -> Result<String, ToolError> {
    program = program.output_limit(options.output_bytes.unwrap_or(DEFAULT_OUTPUT_BYTES));
    if let Some(directory) = options.directory {
        program = program.directory(directory);
    }
    for (name, value) in options.environment {
        program = program.env(name, value);
    }
    if let Some(stdin) = options.stdin {
        program = program.stdin(stdin);
    }
    if let Some(seconds) = options.timeout_seconds {
        program = program.timeout(Duration::from_secs(seconds));
    }
    program
        .run()
        .map(|execution| show(&execution))
        .map_err(advise)
}

fn show(execution: &Execution) -> String {
    let time = format!("{:.1} s", execution.duration.as_secs_f64());
    let mut text = match execution.outcome {
        Outcome::Exited(code) => format!("exit code {code} ({time})"),
        Outcome::Signalled(signal) => format!("ended by signal {signal} ({time})"),
        Outcome::TimedOut => {
            format!("timed out and was ended after {time}; below is what it printed until then")
        }
        Outcome::Cancelled => {
            format!("cancelled after {time}; below is what it printed until then")
        }
        Outcome::OutOfMemory => format!("ended because memory ran out ({time})"),
    };
    show_output(&mut text, "stdout", &execution.stdout);
    show_output(&mut text, "stderr", &execution.stderr);
    if text.lines().count() == 1 {
        text.push_str("\n[no output]");
    }
    text
}

fn show_output(text: &mut String, name: &str, output: &Output) {
    if output.head.is_empty() && output.tail.is_empty() && output.dropped == 0 {
        return;
    }
    let kept = [output.head.as_slice(), &output.tail].concat();
    // Where bytes are gone a character may be cut, which says nothing about the program's output.
    let lossy = output.dropped == 0 && matches!(String::from_utf8_lossy(&kept), Cow::Owned(_));
    let mut notes = String::new();
    if output.dropped > 0 {
        let dropped = shown::count(output.dropped, "byte");
        // Writing to a string does not fail.
        let _ = write!(notes, " ({dropped} left out in the middle)");
    }
    if lossy {
        notes.push_str(" (not all of it is UTF-8; \u{fffd} stands for what is not)");
    }
    let _ = write!(
        text,
        "\n{name}{notes}:\n{}",
        output.to_text().trim_end_matches('\n')
    );
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::exited;

    use super::*;

    #[test]
    fn the_outcome_comes_first() {
        let done = exited(2).with_stdout("out\n").with_stderr("err");
        assert_eq!(
            show(&done.into()),
            "exit code 2 (0.0 s)\nstdout:\nout\nstderr:\nerr"
        );
        assert_eq!(show(&exited(0).into()), "exit code 0 (0.0 s)\n[no output]");
        for (outcome, said) in [
            (Outcome::Signalled(9), "ended by signal 9"),
            (Outcome::TimedOut, "timed out"),
            (Outcome::Cancelled, "cancelled"),
            (Outcome::OutOfMemory, "ended because memory ran out"),
        ] {
            let ended = exited(0).with_stdout("tick").with_outcome(outcome);
            let execution = Execution::from(ended);
            assert!(show(&execution).starts_with(said));
            assert!(show(&execution).ends_with("stdout:\ntick"));
        }
    }

    #[test]
    fn what_is_missing_from_an_output_is_said() {
        let mut execution = Execution::from(exited(0));
        execution.stdout = Output {
            head: b"a".to_vec(),
            tail: b"z".to_vec(),
            dropped: 24,
        };
        assert!(show(&execution).contains("stdout (24 bytes left out in the middle):\na\n"));
        execution.stdout = Output {
            head: b"\xfe".to_vec(),
            ..Output::default()
        };
        assert!(show(&execution).contains("UTF-8"));
    }
}
