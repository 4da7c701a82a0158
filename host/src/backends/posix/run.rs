//! `run`: a program with its whole tree, through one script that starts it and one that ends it.

use std::{pin::pin, time::Duration};

use belljar_contract::{
    Context, GuestPath, KILL_GRACE, Launch,
    processes::{Command, Execution, Outcome, Output},
};
use belljar_workspace::processes::{MARKER_VARIABLE, environment, marker};

use super::{
    PosixBackend,
    exec::{ExecCall, ExecError},
    fault::{Fault, Word},
    shell::{self, Question, flags, nonce, whole, words},
};

/// What is kept of each output beyond what was asked for: room for what the scripts say.
const SAID: u64 = 2048;
/// How much later than its limit a program is given up whose place does not end it.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How long a program that is being ended may take.
const ENDING: Duration = Duration::from_millis(1500);

/// Variables that shells keep for themselves.
const SHELLS_OWN: [&str; 13] = [
    "BASHOPTS",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "ENV",
    "EUID",
    "IFS",
    "LINENO",
    "OPTIND",
    "PPID",
    "SECONDS",
    "SHELLOPTS",
    "UID",
    "_",
];

impl PosixBackend {
    pub(super) async fn run(&self, context: &Context, launch: Launch) -> Result<Execution, Fault> {
        let most = self.description.limits.processes;
        let _running = match self.running.try_acquire() {
            Ok(running) => running,
            Err(tokio::sync::TryAcquireError::Closed) => return Err(Fault::Closed),
            Err(tokio::sync::TryAcquireError::NoPermits) => {
                return Err(Fault::TooManyProcesses(most));
            }
        };
        self.execute(context, launch, KILL_GRACE).await
    }

    /// Runs a program; after a cancellation it has `grace` before it is killed.
    pub(super) async fn execute(
        &self,
        context: &Context,
        launch: Launch,
        grace: Duration,
    ) -> Result<Execution, Fault> {
        context.check()?;
        let (word, marker) = (nonce(), marker());
        let stdin = self.header(&launch, &marker)?;
        let asked = launch
            .timeout
            .unwrap_or(self.description.limits.timeout_maximum);
        let limit = context
            .remaining()
            .map_or(asked, |remaining| remaining.min(asked));
        let wait = self.seconds(limit);
        let input = if launch.stdin.is_empty() {
            "null"
        } else {
            "pipe"
        };
        let shell = if self.witness == "bash" { "bash" } else { "sh" };
        let mut argv = words(&[shell]);
        if shell == "bash" {
            argv.push("--posix".into());
        }
        let directory = flags(&launch.directory, &[]);
        argv.extend(words(&[
            "-c",
            shell::RUN,
            "sh",
            &self.shell.base,
            launch.directory.as_str(),
            &directory,
            &word,
            &marker,
            &wait,
            self.witness,
            shell::LEADER,
            input,
        ]));
        argv.extend(match launch.command {
            Command::Argv(argv) => argv,
            Command::Shell(text) => vec!["/bin/sh".into(), "-c".into(), text],
        });
        let call = ExecCall {
            argv,
            stdin,
            user: launch.user,
            output_limit: launch.output_limit.saturating_add(SAID * 2),
        };
        let began = context.now();
        let own = Context::new().with_timeout(limit.saturating_add(GIVE_UP));
        let (execution, was_cancelled) = self
            .until_ended(context, &own, call, &marker, grace)
            .await?;
        let told = Told::parse(&execution, &word)?;
        let outcome = match (told.outcome, execution.outcome) {
            _ if was_cancelled => Outcome::Cancelled,
            (Some(outcome), _) => outcome,
            (None, Outcome::TimedOut) => Outcome::TimedOut,
            (None, other) => {
                let said = whole(&execution.stderr);
                let said = String::from_utf8_lossy(&said).trim().to_owned();
                let said: String = said.chars().take(1000).collect();
                return Err(Fault::Nonsense(format!("{other:?}, {said}")));
            }
        };
        let kept = usize::try_from(launch.output_limit).unwrap_or(usize::MAX);
        Ok(Execution {
            outcome,
            stdout: trim(execution.stdout, kept),
            stderr: trim(told.stderr, kept),
            duration: context.now().saturating_sub(began),
        })
    }

    /// Waits for a program; when its caller, or the session, wants it no more, ends it.
    async fn until_ended(
        &self,
        context: &Context,
        own: &Context,
        call: ExecCall,
        marker: &str,
        grace: Duration,
    ) -> Result<(Execution, bool), ExecError> {
        let mut running = pin!(self.shell.exec.exec(own, call));
        tokio::select! {
            execution = &mut running => return Ok((execution?, false)),
            () = context.cancellation().cancelled() => {}
            () = self.ending.cancelled() => {}
        }
        // From here on the same program goes on, and others look for it until it has gone.
        let by = own.now() + ENDING;
        while own.now() < by {
            let stop = self.stop(marker, grace);
            tokio::select! {
                execution = &mut running => return Ok((execution?, true)),
                () = stop => {}
            }
        }
        own.cancellation().cancel();
        Ok((running.await?, true))
    }

    async fn stop(&self, marker: &str, grace: Duration) {
        let context = Context::new().with_timeout(ENDING);
        let grace = (grace.as_millis() / 10).to_string();
        let arguments = [marker, grace.as_str()];
        let asked = self.shell.ask(
            &context,
            Question {
                script: shell::STOP,
                path: "",
                flags: "",
                arguments: &arguments,
                stdin: Vec::new(),
                limit: 1024,
            },
        );
        // What could not be ended this way is given up by who waits for it.
        let _ = asked.await;
    }

    /// The variables as the script reads them, and then the program's input.
    fn header(&self, launch: &Launch, marker: &str) -> Result<Vec<u8>, Fault> {
        use std::io::Write as _;

        for (name, _) in &launch.environment {
            if !is_shell_name(name) {
                return Err(Fault::VariableName(name.clone()));
            }
        }
        let added = self.environment.clone().into_iter();
        let added = added.chain(launch.environment.iter().cloned()).collect();
        let root = self.process_root();
        let mut variables = environment(root, launch.directory.as_str(), added, marker);
        variables.insert(MARKER_VARIABLE.into(), marker.into());
        let mut header = Vec::with_capacity(launch.stdin.len() + 1024);
        // Writing to memory does not fail.
        let _ = writeln!(header, "{}", variables.len());
        for (name, value) in variables {
            let lines = value.matches('\n').count();
            let _ = writeln!(header, "{name}\n{lines}\n{value}");
        }
        header.extend_from_slice(&launch.stdin);
        Ok(header)
    }

    fn seconds(&self, limit: Duration) -> String {
        if self.has_fractions {
            format!("{:.3}", limit.as_secs_f64().max(0.001))
        } else {
            limit.as_secs().saturating_add(1).to_string()
        }
    }

    /// The root as processes see it.
    pub(super) fn process_root(&self) -> &str {
        match self.shell.base.as_str() {
            "" => "/",
            base => base,
        }
    }

    /// A launch with nothing but a program.
    pub(super) fn plain_launch(argv: Vec<String>, timeout: Duration, output_limit: u64) -> Launch {
        Launch {
            command: Command::Argv(argv),
            directory: GuestPath::root(),
            environment: Vec::new(),
            stdin: Vec::new(),
            user: None,
            timeout: Some(timeout),
            output_limit,
        }
    }
}

/// Whether a shell can hand a variable of this name on.
fn is_shell_name(name: &str) -> bool {
    let mut characters = name.chars();
    let begins = characters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    begins
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
        && !SHELLS_OWN.contains(&name)
        && !name.starts_with("_b_")
}

/// What the scripts say on standard error, between line ends and after a word that no program can guess.
struct Told {
    outcome: Option<Outcome>,
    /// What the program itself said.
    stderr: Output,
}

impl Told {
    fn parse(execution: &Execution, word: &str) -> Result<Self, Fault> {
        let mut told = Self {
            outcome: None,
            stderr: execution.stderr.clone(),
        };
        let mut fault = None;
        let border = format!("\n{word} ");
        let output = &mut told.stderr;
        if output.dropped == 0 {
            output.head.append(&mut output.tail);
        }
        for part in [&mut output.head, &mut output.tail] {
            while let Some(from) = find_last(part, border.as_bytes()) {
                let begins = from + border.len();
                let Some(length) = part[begins..].iter().position(|byte| *byte == b'\n') else {
                    break;
                };
                let said = String::from_utf8_lossy(&part[begins..begins + length]).into_owned();
                part.drain(from..=begins + length);
                match said.split_once(' ') {
                    Some(("fault", word)) => fault = Word::parse(word),
                    Some((how, code)) => {
                        let code = code.parse().map_err(|_| Fault::Nonsense(said.clone()))?;
                        told.outcome = match how {
                            "exited" => Some(Outcome::Exited(code)),
                            "signalled" => Some(Outcome::Signalled(code.unsigned_abs())),
                            "timed-out" => Some(Outcome::TimedOut),
                            _ => return Err(Fault::Nonsense(said)),
                        };
                    }
                    None => return Err(Fault::Nonsense(said)),
                }
            }
        }
        match fault {
            Some(word) => Err(Fault::Told {
                word,
                said: told.stderr.to_text().trim().to_owned(),
                second: false,
            }),
            None => Ok(told),
        }
    }
}

fn find_last(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(word.len())?;
    (0..=last).rev().find(|at| bytes[*at..].starts_with(word))
}

/// Cuts an output of which more was kept than was asked for.
fn trim(mut output: Output, limit: usize) -> Output {
    if output.dropped == 0 {
        output.head.append(&mut output.tail);
        if output.head.len() <= limit {
            return output;
        }
        output.tail = output.head.clone();
    }
    let (head, tail) = (limit / 2, limit - limit / 2);
    let all = if output.dropped == 0 {
        output.head.len() as u64
    } else {
        (output.head.len() + output.tail.len()) as u64 + output.dropped
    };
    output.head.truncate(head);
    let cut = output.tail.len().saturating_sub(tail);
    output.tail.drain(..cut);
    output.dropped = all - (output.head.len() + output.tail.len()) as u64;
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(head: &[u8], tail: &[u8], dropped: u64) -> Output {
        Output {
            head: head.to_vec(),
            tail: tail.to_vec(),
            dropped,
        }
    }

    #[test]
    fn what_was_kept_too_much_is_cut_and_counted() {
        assert_eq!(
            trim(output(b"abcdef", b"", 0), 6),
            output(b"abcdef", b"", 0)
        );
        assert_eq!(trim(output(b"abcdef", b"", 0), 4), output(b"ab", b"ef", 2));
        assert_eq!(trim(output(b"abc", b"xyz", 10), 2), output(b"a", b"z", 14));
        assert_eq!(trim(output(b"ab", b"", 0), 0), output(b"", b"", 2));
    }

    fn execution(stderr: Output) -> Execution {
        Execution {
            outcome: Outcome::Exited(0),
            stdout: Output::default(),
            stderr,
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn what_a_script_says_is_taken_out() {
        let said = execution(output(b"a\n\nW exited 3\n", b"", 0));
        let told = Told::parse(&said, "W").unwrap();
        assert_eq!(told.outcome, Some(Outcome::Exited(3)));
        assert_eq!(told.stderr.head, b"a\n");
        // A child that still prints does not hide it.
        let said = execution(output(b"a", b"z\nW signalled 9\nlate", 5));
        let told = Told::parse(&said, "W").unwrap();
        assert_eq!(told.outcome, Some(Outcome::Signalled(9)));
        assert_eq!(told.stderr.tail, b"zlate");
        let said = execution(output(b"\nW fault missing\n", b"", 0));
        let fault = Told::parse(&said, "W").err().unwrap();
        assert!(fault.is(Word::Missing));
    }

    #[test]
    fn names_that_a_shell_keeps_are_none_of_a_call() {
        for name in ["A", "_x", "a1_B"] {
            assert!(is_shell_name(name), "{name}");
        }
        for name in ["", "1a", "a-b", "a.b", "IFS", "UID", "_b_x", "ä"] {
            assert!(!is_shell_name(name), "{name}");
        }
    }
}
