//! `run`: a program with its whole tree, through one script that starts it and one that ends it.

use std::{pin::pin, time::Duration};

use belljar_contract::{
    Context, GuestPath, KILL_GRACE, Launch,
    processes::{Command, Execution, Outcome},
};
use belljar_workspace::processes::marker;

use super::{
    PosixBackend,
    exec::{ExecCall, ExecError},
    fault::Fault,
    place::Witness,
    shell::{self, Question, flags, nonce, whole, words},
    told::{Told, trim},
};

/// What is kept of each output beyond what was asked for: room for what the scripts say.
const SAID: u64 = 2048;
/// How much later than its limit a program is given up whose place does not end it.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How long a program that is being ended may take.
const ENDING: Duration = Duration::from_millis(1500);

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
        let mut argv = match self.witness {
            Witness::Bash => words(&["bash", "--posix"]),
            Witness::Time | Witness::None => words(&["sh"]),
        };
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
            self.witness.as_str(),
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
